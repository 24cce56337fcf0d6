"""``rc.explain``: where a measured kernel stands under a roof, why, and what to try next.

It reads records and never measures. ``evidence`` finds what a sweep shows about one of its points, ``rules`` turn that
into reasons, ``advice`` into what to do, ``wording`` into sentences.

A labelled set keeps it honest: 84 points of the bundled data whose reason is known from the documents, written down
before any rule (``tests/explain``). It may say "undetermined", and must not be confidently wrong. Half A, on which the
rules were tried: 40 right, 2 missed, 0 confidently wrong. Half B, run once when they were finished: 40, 2 and 0. Then a
look at the points without a label showed rules that claimed too much (a launch just below the roof or of many times a
small copy, a corner that is a plateau, padding from two points). They were tightened, which cost half B one hit: 39, 3
and 0. Labels and rules have one author, who had the tables open when labelling, and the points are of one study: on
other kernels and cards expect less. New memory came later, with six labelled points of its own (half C), which are the
recorded kernels of chapter 9: all right, and too few to promise anything.
"""

from __future__ import annotations

from .explanation import REASONS, STANDINGS, Explanation, Gain, Reason

__all__ = ["REASONS", "STANDINGS", "Explanation", "Gain", "Reason", "explain"]


def explain(
    point,
    roofline,
    sweep=None,
    launch=None,
    *,
    device=None,
    roofs=None,
    cache_bytes=None,
    multiprocessors=None,
    tile=None,
    counted_bytes=None,
    kernel_seconds=None,
    kernels=None,
    operator_seconds=None,
    clock_hz=None,
    reference_clock_hz=None,
    path=None,
    new_bytes=None,
    new_seconds=None,
    reused_seconds=None,
    byte_source="formula",
) -> Explanation:
    """Why ``point`` is where it is under ``roofline``. The more is known, the more can be said; nothing is guessed.

    ``point``: a :class:`~roofcourse.Measurement` or a placed :class:`~roofcourse.Point`. ``sweep``: measurements
    of its neighbours, the evidence for launch overhead, kernel choice and padding. ``launch``: seconds it takes to
    start a kernel, or the line that ``bench.launch_overhead()`` gives.

    ``device``: a card (default: the catalogue's, if the roofline names one): gives ``roofs`` (the other ceilings of the
    machine), ``cache_bytes`` (last-level cache) and ``multiprocessors``, unless they are given. ``tile``: rows and
    columns of the kernel's tile, if known. ``counted_bytes``: memory traffic by counters. For a whole program:
    ``kernel_seconds``, how long its kernels ran (a timeline), ``kernels``, how many, and
    ``operator_seconds``, the lower bound of its operators one after the other. ``clock_hz`` while it ran and
    ``reference_clock_hz`` while the roof was measured. ``path``: ``"gemm"`` or ``"vector"``, the units it uses.
    ``byte_source``: ``"formula"`` or ``"counters"``, what the bytes of the point are. For new memory, on a processor:
    ``new_bytes`` that each call touches for the first time and ``new_seconds``, what the first touch of as much takes
    (:func:`roofcourse.place` counts and times both), or ``reused_seconds``, how long the same work takes into memory
    that is there.

    Raises ``ValueError`` in one line for what is no point, no roofline, or no positive number.
    """
    from . import advice, rules
    from .wording import percent, roof_name, throughput, time

    point = getattr(point, "measurement", point)  # what rc.place gave holds its record
    sweep = [getattr(x, "measurement", x) for x in sweep or ()]
    case = _case(
        point,
        roofline,
        sweep,
        launch,
        device,
        {
            "roofs": roofs,
            "cache_bytes": cache_bytes,
            "multiprocessors": multiprocessors,
            "tile": tile,
            "counted_bytes": counted_bytes,
            "kernel_seconds": kernel_seconds,
            "kernels": kernels,
            "operator_seconds": operator_seconds,
            "clock_hz": clock_hz,
            "reference_clock_hz": reference_clock_hz,
            "path": path,
            "new_bytes": new_bytes or None,
            "new_seconds": new_seconds or None,
            "reused_seconds": reused_seconds,
        },
    )
    reasons = rules.reasons(case)
    verdict = reasons[0].name if reasons and reasons[0].standing != "possible" else "undetermined"
    title = _title(point)
    roof = roofline.label or "the roof"
    place = f"{title}: {percent(case.share)} of the {roof_name(case)} ({roof})"
    need = f"{time(case.seconds)} against a lower bound of {time(case.roof_time)}"
    reached = f", {throughput(point.work.flop / case.seconds)}" if point.work.flop else ""
    return Explanation(
        title=title,
        verdict=verdict,
        share=case.share,
        bound=case.bound,
        roofline=roofline,
        opening=f"{place}: {need}{reached}.",
        reasons=reasons,
        try_next=advice.try_next(case, reasons, verdict),
        to_roof=advice.to_roof(case),
        to_next_roof=advice.to_next_roof(case),
        caveats=_caveats(point, case, byte_source),
    )


def _title(point) -> str:
    """What ran and its sizes; the name of the roof behind it says on what and in which format."""
    kernel, sizes = getattr(point, "kernel", "This kernel"), getattr(point, "shape", "None")
    return kernel if sizes == "None" else f"{kernel} {sizes.replace('x', ' × ')}"


def _case(point, roofline, sweep, launch, device, facts):
    from ..catalogue import Device
    from ..catalogue import device as of_catalogue
    from ..roofline import Roofline
    from ..work import Work
    from .case import Case

    if not isinstance(getattr(point, "work", None), Work) or not hasattr(point, "seconds"):
        raise ValueError(f"explain needs a point such as rc.device('h100').m_sweep('fp16')[3], not {point!r:.60}")
    if not isinstance(roofline, Roofline):
        raise ValueError(f"explain needs a Roofline, such as rc.device('h100').roofline('fp16'), not {roofline!r:.60}")
    if device is None and roofline.device is not None:
        try:
            device = of_catalogue(roofline.device)
        except LookupError:  # a machine of its own: what it is has to be said
            device = None
    given = {k: v for k, v in facts.items() if v is not None}
    for name, value in given.items():
        if name not in ("roofs", "tile", "path") and not value > 0:
            raise ValueError(f"{name} must be positive, not {value!r}")
    if device is not None:
        found = {
            "cache_bytes": getattr(device, "l2_bytes", None),
            "multiprocessors": getattr(device, "multiprocessors", None),
            # The ceilings of a machine that is measured live would be measured now: it has to hand them in.
            "roofs": device.ceilings() if isinstance(device, Device) else None,
        }
        given = {k: v for k, v in found.items() if v is not None} | given
    if "roofs" in given:
        given["roofs"] = tuple(given["roofs"])
    seconds = getattr(launch, "overhead", launch)
    return Case(point, roofline, tuple(sweep), seconds if seconds and seconds > 0 else None, **given)


def _caveats(point, case, byte_source) -> tuple[str, ...]:
    from .wording import shape

    out = []
    if getattr(point, "suspect", None):
        out.append(f"The point is suspect: {point.suspect}.")
    if not getattr(point, "stable", True):
        why = getattr(point, "note", None) or "its samples scatter"
        out.append(f"The point is not stable ({why}): measure it again.")
    if case.left_out:
        count, every = len(case.left_out), len(case.left_out) + len(case.neighbours)
        named = ", ".join(shape(x) for x in case.left_out[:3]) + (", …" if count > 3 else "")
        many = "is" if count == 1 else "are"
        out.append(f"{count} of {every} neighbours {many} unstable or suspect and left out as evidence ({named}).")
    if case.counted_bytes is None and byte_source == "formula":
        out.append("Bytes by formula, each input and output once: a lower bound of the traffic.")
    return tuple(out)
