"""A whole session: one part after the other, every finished point kept, refusals in one line each.

Whatever ends it (Ctrl-C, no memory, a crash), the points measured so far are returned or in the file already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..records import Measurement, Measurements, Run
from ..roofline import Roofline
from . import checks, statistics
from .checks import Fault
from .clock import METHOD_VERSION
from .plan import Part
from .point import measure
from .spec import MOVING, Spec
from .stopping import StopRule
from .support import Unavailable

#: A kernel is not tried if one call would take longer than this part of the rule's cap: three calls are the least.
LONGEST_CALL = 1 / 5
#: Products with fewer FLOP than this are always tried: nothing takes long over them.
SMALL_PRODUCT = 1e8
#: The device is warm when its throughput changes less than this over the last readings.
WARM, READINGS = 0.01, 5


def key(x: Spec | Measurement) -> tuple:
    """What makes two points the same point. A spec that leaves the implementation open is any of them."""
    return (x.kernel, x.precision, x.cache_state, x.m, x.n, x.k, x.elements, x.fma_per_element, x.batch)


def _topic(spec: Spec) -> str:
    """What a refusal of a spec is noted under, every size of a kernel alike; of a fault with ": " and its name."""
    return f"{spec.kernel} {spec.precision}" + (f" ({spec.implementation})" if spec.implementation else "")


@dataclass
class Session:
    """Points of one device. ``save`` is called with the run so far after every point; ``say`` with one line of news."""

    device: object
    rule: StopRule
    machine: dict
    save: Callable[[Run], object] = lambda run: None
    say: Callable[[str], object] = lambda line: None
    points: list[Measurement] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    placed: tuple[dict, ...] = ()  # what rc.place saved into the file that this session goes on with

    def run(self, *, complete: bool = False) -> Run:
        """What there is so far."""
        machine = {**self.machine, "proof": getattr(self.device, "proof", None)}
        refusals = tuple(self.refusals.items())
        return Run(METHOD_VERSION, machine, Measurements(self.points), refusals, complete, self.placed)

    def resume(self, run: Run) -> None:
        """Take over the points and refusals of an earlier run.

        Raises ``ValueError`` if it is of another machine or method.
        """
        Run(METHOD_VERSION, self.machine, Measurements()).merged(run)
        self.points = list(run.measurements)
        self.refusals = dict(run.refusals)
        self.placed = run.placed

    def missing(self, specs: Iterable[Spec]) -> list[Spec]:
        """The specs that have not been measured yet."""
        done = {(key(x), x.implementation) for x in self.points} | {(key(x), None) for x in self.points}
        return [s for s in dict.fromkeys(specs) if (key(s), s.implementation) not in done]

    def owes(self, specs: Iterable[Spec]) -> list[Spec]:
        """The specs that have been neither measured nor refused."""
        refused = {what.split(": ")[0] for what in self.refusals}
        return [s for s in self.missing(specs) if _topic(s) not in refused]

    def forget(self, specs: Iterable[Spec]) -> None:
        """Drop the refusals of specs that are to be tried again: they find their reasons anew."""
        again = {_topic(s) for s in specs}
        self.refusals = {what: why for what, why in self.refusals.items() if what.split(": ")[0] not in again}

    def take(self, spec: Spec, *, ceiling: bool = False, rule: StopRule | None = None) -> Measurement | None:
        """Measure one spec, or note why not and return ``None``."""
        what = _topic(spec)
        rule = rule or self.rule
        try:
            self._affordable(spec)
            point = measure(self.device, spec, rule, ceiling=ceiling, limits=self.limits(spec))
        except Unavailable as reason:
            self._refuse(what, str(reason))
            return None
        except Fault as fault:
            self._refuse(f"{what}: {fault.name}", str(fault))
            return None
        finally:
            self.device.release()
        self.points.append(point)
        self.save(self.run())
        return point

    def _refuse(self, what: str, reason: str) -> None:
        """Note a reason, once a topic: the same refusal comes back at every size."""
        if what not in self.refusals:
            self.refusals[what] = reason
            self.say(f"not measured: {reason}")

    def _affordable(self, spec: Spec) -> None:
        """Raises ``Unavailable`` if one call would take too long, judged by the fastest point of the same kind."""
        if spec.m is None or spec.work.flop < SMALL_PRODUCT:
            return
        # By the best sample: on a busy machine the median of a short product can be a hundred times too slow.
        fastest = max(
            (
                x.work.flop / min(x.evidence.samples)
                for x in self.points
                if x.m is not None and x.precision == spec.precision and x.evidence
            ),
            default=None,
        )
        if fastest is not None and spec.work.flop / fastest > LONGEST_CALL * self.rule.cap_seconds:
            seconds = spec.work.flop / fastest
            raise Unavailable(
                f"{spec.title}: a call would take about {seconds:.2g} s at the {fastest / 1e9:.2g} GFLOP/s seen so far"
            )

    def limits(self, spec: Spec) -> Roofline | None:
        """The most that this device can do, by its data sheet where known, else by what was measured so far."""
        slope = self.device.nominal_bandwidth or self.bandwidth()
        if slope is None or (spec.kernel in MOVING and self.device.nominal_bandwidth is None):
            return None  # a kernel that sets B is not judged by it
        peak = self.device.nominal_peak(spec.precision)
        return Roofline(peak or 1e30, slope, self.device.kind, spec.precision, kind="nominal" if peak else "measured")

    def bandwidth(self) -> float | None:
        """The best memory bandwidth so far, from arrays past the last-level cache, in bytes/s."""
        cache = checks.CACHE_FACTOR * (self.device.last_level_cache or 0)
        fit = [x for x in self.points if x.kernel in MOVING and not x.suspect and x.working_set_bytes >= cache]
        return max((x.bytes_per_s for x in fit), default=None)

    def warm_up(self, spec: Spec, seconds: float) -> None:
        """Run one kernel until its throughput stays the same (1 %) or ``seconds`` have passed; note first and last.

        A cold GPU clocks higher than it can sustain; the first numbers would be too good.
        """
        try:
            with self.device.settings(spec.precision):
                kernel = self.device.build(spec)
                self.device.span(kernel.call)
                start, times = self.device.now(), []
                while self.device.now() - start < seconds:
                    times.append(self.device.span(lambda: [kernel.call() for _ in range(10)]) / 10)
                    last = times[-READINGS:]
                    if len(times) >= 2 * READINGS and max(last) / min(last) - 1 < WARM:
                        break
        except Unavailable:
            return
        finally:
            self.device.release()
        work = spec.work.flop
        self.machine["warm_up"] = {
            "kernel": spec.title,
            "seconds": round(self.device.now() - start, 3),
            "burst_flop_per_s": work / min(times[:READINGS]),
            "sustained_flop_per_s": work / statistics.median(times[-READINGS:]),
        }


@dataclass(frozen=True)
class Step:
    """News of a session: which spec comes next, how many are done, seconds left by estimate, and the last point."""

    title: str
    done: int
    total: int
    seconds_left: float
    point: Measurement | None = None


def go(session: Session, parts: tuple[Part, ...], *, budget_seconds: float | None = None) -> Iterator[Step]:
    """Measure every spec of ``parts`` that is missing. With a budget the parts take turns, so that each has its share
    when it runs out, and later points get less time when it runs short."""
    wanted: dict[tuple, tuple[Spec, Part]] = {}
    for part in parts:
        for spec in session.missing(part.specs):
            wanted.setdefault((key(spec), spec.implementation), (spec, part))
    work = list(wanted.values()) if budget_seconds is None else _turns(wanted.values())
    start, rule, point = time.monotonic(), session.rule, None
    for done, (spec, part) in enumerate(work):
        passed, left = time.monotonic() - start, len(work) - done
        each = passed / done if done else rule.patience_seconds + 0.2
        yield Step(spec.title, done, len(work), each * left, point)
        share = rule
        if budget_seconds is not None:
            if passed > budget_seconds:
                session.refusals["time"] = (
                    f"{left} points: the {budget_seconds:g} s of a quick run were up; --resume goes on"
                )
                break
            fair = (budget_seconds - passed) / left
            share = replace(
                rule, patience_seconds=min(rule.patience_seconds, fair), cap_seconds=min(rule.cap_seconds, 5 * fair)
            )
        point = session.take(spec, ceiling=part.ceiling, rule=share)
    yield Step("done", len(work), len(work), 0.0, point)


def _turns(work: Iterable[tuple[Spec, Part]]) -> list[tuple[Spec, Part]]:
    """All parts from first to last at the same time: a third of the way down, a third of each part is done."""
    parts: dict[str, list] = {}
    for spec, part in work:
        parts.setdefault(part.name, []).append((spec, part))
    placed = [(i / len(members), x) for members in parts.values() for i, x in enumerate(members)]
    return [x for _, x in sorted(placed, key=lambda pair: pair[0])]
