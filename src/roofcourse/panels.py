"""The live panel: the main explorer with a button that measures the chosen product on the reader's machine.

Needs ipywidgets and anywidget; measuring needs torch, which is loaded at the first press. A thread measures, so the
kernel stays free; the thread hands its news to the kernel's event loop, and only that touches widgets.
"""

from __future__ import annotations

import asyncio
import html
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

import ipywidgets

from . import explore, words
from .explore.own import own_device
from .measure import plan, support
from .measure.device import Device, open_device
from .measure.session import Session
from .measure.spec import Spec
from .measure.stopping import FULL, QUICK, StopRule
from .precision import PRECISIONS
from .records import Measurement, Run

NO_TORCH = "Measuring needs torch, which is not installed here: pip install 'roofcourse[live]'."
WITHOUT_KERNEL = (
    "In Jupyter there are buttons here that measure the chosen product on your own machine. Without a kernel you can "
    "look at what has been measured, and add a run file of your own."
)


class Stopped(Exception):
    """The reader pressed Stop."""


@dataclass(frozen=True)
class Stoppable(StopRule):
    """A rule that also ends, with :class:`Stopped`, between two samples once ``stop`` is set."""

    stop: threading.Event = field(default_factory=threading.Event)

    def verdict(self, samples, noise, timed, elapsed):
        if self.stop.is_set():
            raise Stopped
        return super().verdict(samples, noise, timed, elapsed)


class Panel(ipywidgets.VBox):
    """See :func:`panel`. ``explorer``: the explorer; ``run``: what has been measured so far, as a run to write."""

    def __init__(self, explorer, *, quick: bool, opener: Callable[[str | None], Device], ready: bool) -> None:
        self.explorer = explorer
        self._quick, self._opener = quick, opener
        self._sessions: dict[str | None, Session] = {}  # by what was asked for, and by kind of device
        self._session: Session | None = None  # the latest
        self._keys: dict[int, str] = {}  # of the devices that the explorer shows, by session
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        #: What went wrong, besides what the panel says in one sentence.
        self.error: BaseException | None = None
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:  # a script or a test: nobody waits, so widgets may be touched at once
            self._loop = None

        wide = ipywidgets.Layout(width="auto", min_width="9rem")
        self.where = ipywidgets.Dropdown(
            options=[("a GPU, else the CPU", None), *((k.upper(), k) for k in support.KINDS)],
            description="Measure on",
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="17rem"),
        )
        self.measure_button = ipywidgets.Button(button_style="primary", layout=wide, disabled=not ready)
        self.rows_button = ipywidgets.Button(description="Measure all rows", layout=wide, disabled=not ready)
        self.stop_button = ipywidgets.Button(description="Stop", disabled=True, layout=ipywidgets.Layout(width="5rem"))
        self.progress = ipywidgets.IntProgress(0, 0, 1, layout=ipywidgets.Layout(width="12rem", display="none"))
        self.message = ipywidgets.HTML()
        self.measure_button.on_click(lambda _: self.measure())
        self.rows_button.on_click(lambda _: self.measure(rows=True))
        self.stop_button.on_click(lambda _: self.stop())
        explorer.observe(lambda _: self._name_button(), ["m", "precision"])
        self._name_button()
        self._say("Choose M and a precision below, then measure that product here." if ready else NO_TORCH)
        bar = ipywidgets.HBox(
            [self.where, self.measure_button, self.rows_button, self.stop_button],
            layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"),
        )
        super().__init__([bar, ipywidgets.HBox([self.progress, self.message]), explorer])

    # ---- what a reader does

    def measure(self, *, rows: bool = False, wait: bool = False) -> None:
        """Measure the chosen product, or with ``rows`` the whole M sweep of the chosen precision; first what its roof
        needs. Returns at once unless ``wait``."""
        if self.busy:
            return
        self._stop.clear()
        self._busy(True)
        ask = (self.where.value, self.explorer.m, self.explorer.precision, rows)
        self._thread = threading.Thread(target=self._work, args=ask, name="roofcourse panel", daemon=True)
        self._thread.start()
        if wait:
            self._thread.join()

    def stop(self) -> None:
        """End after the sample that is being taken. The points measured so far stay."""
        if self.busy:
            self._stop.set()
            self._say("Stopping …")

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def run(self) -> Run | None:
        """What has been measured so far; write it with :func:`roofcourse.records.write_run`."""
        return self._session.run() if self._session else None

    # ---- the thread

    def _work(self, kind: str | None, m: int, precision: str, rows: bool) -> None:
        try:
            session = self._open(kind)
            said = self._measure(session, m, precision, rows)
        except Stopped:
            said = f"Stopped; {_points(len(self._session.points) if self._session else 0)} kept."
        except (LookupError, ValueError) as refusal:
            said = _sentence(str(refusal))
        except Exception as error:  # whatever it is, a reader gets one sentence, and the error itself stays at hand
            self.error = error
            said = _sentence(f"{type(error).__name__}: {support.one_line(error)}")
        self._later(lambda: self._done(said))

    def _open(self, kind: str | None) -> Session:
        """The session of this kind of device. Raises ``Unavailable`` in one line."""
        if kind not in self._sessions:
            self._tell("Loading torch …")
            device = self._opener(kind)
            rule = QUICK if self._quick else FULL
            fields = {name: getattr(rule, name) for name in StopRule.__dataclass_fields__}
            new = Session(device, Stoppable(**fields, stop=self._stop), device.manifest())
            self._sessions[kind] = self._sessions.setdefault(device.kind, new)
        self._session = self._sessions[kind]
        return self._session

    def _measure(self, session: Session, m: int, precision: str, rows: bool) -> str:
        """Measure what was asked for, and say what came of it. Raises ``Unavailable`` in one line."""
        device, label = session.device, PRECISIONS[precision].label
        reason = support.refusal(device.kind, precision, device.name, getattr(device, "capability", None))
        if reason:
            raise support.Unavailable(reason)
        n = plan.sweep_size(device, precision)
        asked = plan.rows(device, precision, self._quick) if rows else (Spec("gemm", precision, m=m, n=n, k=n),)
        # Small products first: they tell what a large one would cost. Then what was asked for, then the memory's part.
        work = [
            *((s, False) for s in session.missing(plan.squares(device, precision, self._quick))),
            *((s, False) for s in asked),
            *((s, True) for s in session.missing(plan.bandwidth(device, "fp32", self._quick))),
        ]
        refused: dict[Spec, str] = {}
        for done, (spec, ceiling) in enumerate(work):
            self._tell(f"{device.name}: {spec.title} …", done, len(work))
            reason = self._take(session, spec, ceiling)
            if reason:
                refused[spec] = reason
            self._show(session)
        missing = [s for s in asked if s in refused]
        if len(missing) == len(asked):
            raise support.Unavailable(refused[missing[0]])
        self._later(lambda: self._choose(session, precision))
        points = {(x.m, x.n): x for x in session.points if x.precision == precision and x.kernel == "gemm"}
        found = [points[s.m, s.n] for s in asked if s not in refused]
        left = f" Not measured: {refused[missing[0]]}." if missing else ""
        if rows:
            return f"{device.name}, {label}: {_points(len(found))} of the M sweep measured.{left}"
        return _result(device.name, label, found[0])

    def _take(self, session: Session, spec: Spec, ceiling: bool) -> str | None:
        """Measure one spec, anew if it is there already. Returns why not, or ``None``."""
        if self._stop.is_set():
            raise Stopped
        noted, session.refusals = session.refusals, {}
        before = len(session.points)
        point = session.take(spec, ceiling=ceiling)
        reasons = list(session.refusals.values())
        session.refusals = {**noted, **session.refusals}
        if point is None:
            return reasons[0]
        session.points[:before] = [x for x in session.points[:before] if not _same(x, point)]
        return None

    def _show(self, session: Session) -> None:
        """Put what is there so far into the chart, as soon as it makes a roof."""
        shown = self._keys.get(id(session))
        others = {k: d for k, d in self.explorer.own.items() if k != shown}
        try:
            own = own_device(session.run(), session.device.name, others)
        except LookupError:  # no bandwidth yet
            return
        if shown in self.explorer.own:
            own = replace(own, colour=self.explorer.own[shown].colour)
        self._keys[id(session)] = own.key
        self._later(lambda: self.explorer.show_own(own))

    # ---- the widgets, touched by the kernel's event loop only

    def _later(self, act: Callable[[], object]) -> None:
        if self._loop is None:
            act()
        else:
            self._loop.call_soon_threadsafe(act)

    def _tell(self, text: str, done: int = 0, total: int = 1) -> None:
        def act() -> None:
            if not self._stop.is_set():
                self._say(text)
            self.progress.max, self.progress.value = total, done

        self._later(act)

    def _choose(self, session: Session, precision: str) -> None:
        own = self.explorer.own.get(self._keys.get(id(session)))
        if own is not None and precision in own.precisions:
            self.explorer.choose(own)

    def _done(self, said: str) -> None:
        self._say(said)
        self._busy(False)

    def _busy(self, busy: bool) -> None:
        self.measure_button.disabled = self.rows_button.disabled = self.where.disabled = busy
        self.stop_button.disabled = not busy
        self.progress.layout.display = None if busy else "none"

    def _say(self, text: str) -> None:
        self.message.value = f'<span role="status">{html.escape(text)}</span>'

    def _name_button(self) -> None:
        label = PRECISIONS[self.explorer.precision].label
        self.measure_button.description = f"Measure M = {self.explorer.m} in {label}"

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        static = f'<p class="rc-notice">{html.escape(WITHOUT_KERNEL)}</p>{self.explorer.static_html()}'
        return {**data, "text/plain": self.explorer.values["sentence"], "text/html": static}, metadata


def _same(x: Measurement, y: Measurement) -> bool:
    fields = ("kernel", "precision", "cache_state", "shape", "implementation")
    return all(getattr(x, f) == getattr(y, f) for f in fields)


def _points(count: int) -> str:
    return f"{count} point" + ("" if count == 1 else "s")


def _sentence(text: str) -> str:
    return text + ("" if text.endswith((".", "?", "!")) else ".")


def _result(name: str, label: str, x: Measurement) -> str:
    note = _sentence(x.note or "unstable")
    doubt = f" Suspect: {x.suspect}." if x.suspect else "" if x.stable else f" {note[0].upper()}{note[1:]}"
    seconds = words.time3(x.seconds)
    return f"{name}, {label}, M = {x.m}, N = K = {x.n}: {seconds}, {words.flop(x.flop_per_s)}/s.{doubt}"


def panel(device="h100", precision=None, m: int = 16, *, run=None, quick: bool = True, hardware=None) -> Panel:
    """The live panel for Jupyter: the main explorer with buttons that measure on this machine.

    Choose M and a precision in the explorer and press *Measure*: this machine becomes a device of the chart, with a
    roof and with this point. ``device``, ``precision``, ``m`` and ``run`` are the explorer's, see
    :func:`roofcourse.explore.m_sweep`. ``quick`` takes fewer samples and sizes. ``hardware``: a
    :class:`~.measure.device.Device` to measure, instead of one of torch's.

    What cannot be measured is said in one sentence in the panel. On a page without a kernel, the explorer stands there.
    """
    explorer = explore.m_sweep(device=device, precision=precision, m=m, run=run)
    opener = open_device if hardware is None else lambda kind: hardware
    return Panel(explorer, quick=quick, opener=opener, ready=hardware is not None or find_spec("torch") is not None)
