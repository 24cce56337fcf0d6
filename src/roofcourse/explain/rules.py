"""The rules: each looks at a case for one reason and gives it with its evidence, or ``None``.

A rule claims no more than its evidence: *shown* needs data that only this reason explains, *likely* needs an account
that comes out right in numbers, all else is *possible*.
"""

from __future__ import annotations

from ..measure.statistics import drift
from . import evidence as look
from . import wording as say
from .case import ABOVE_ROOF, AT_ROOF, Case
from .explanation import STANDINGS, Reason

#: Traffic by the counters this much above the formula's is another traffic.
MORE_TRAFFIC, LESS_TRAFFIC = 1.25, 0.90
#: A working set up to this multiple of a cache can still be held by it in large part.
NEAR_CACHE = 1.25
#: The shortest time of a kernel with arguments and tiles to set up, as a multiple of that of a small copy.
START = 4.0
#: An account "comes out right" if it gives this much of the time.
ACCOUNTS, PADDED = 0.90, 0.70


def at_roof(case: Case) -> Reason | None:
    """From 90 to 105 % of the roof no reason is needed."""
    if not AT_ROOF <= case.share <= ABOVE_ROOF:
        return None
    sure = "the roof itself is known no better than to a few percent"
    return Reason(
        "none",
        f"It reaches {say.percent(case.share)} of the {say.roof_name(case)}; {sure}.",
        "",
        "shown",
    )


def cache(case: Case) -> Reason | None:
    """Above the memory roof with data that nearly fit a cache, or with less traffic counted than the formula says."""
    counted = case.counted_bytes
    if counted is not None and counted < LESS_TRAFFIC * case.point.work.bytes:
        seen = f"Counters saw {say.size(counted)} from memory, the formula says {say.size(case.point.work.bytes)}"
        # Kernel replay: from the second pass on the caches hold what the same kernel's last run left.
        replay = "A profiler that repeats a kernel finds there what its last run left, unless it empties the caches."
        return Reason("cache", f"{seen}: the rest came from a cache. {replay}", "a cold measurement.", "shown")
    if case.share <= ABOVE_ROOF or case.bound != "memory":
        return None
    above = f"Its rate is {case.share:.2f} times what memory allows"
    test = "time it cold, or double its working set; or count its memory traffic with a profiler."
    if case.cache_bytes is None:
        return Reason("cache", f"{above}, and the size of the cache is not known.", test, "possible")
    sets = f"its working set of {say.binary(case.working_set)} and the cache of {say.binary(case.cache_bytes)}"
    if case.working_set <= NEAR_CACHE * case.cache_bytes:
        return Reason("cache", f"{above}, with {sets}: part of the data never left the cache.", test, "likely")
    return None


def ceiling(case: Case) -> Reason | None:
    """Above the compute roof: no cache explains that, so F is too low or the time too short."""
    if case.share <= ABOVE_ROOF or case.bound != "compute":
        return None
    evidence = f"It is {case.share:.2f} times as high as F, and no cache lifts a kernel that arithmetic bounds"
    if not case.point.stable:
        evidence += ": F, which only stable points set, is too low, or this point, whose samples scatter, too fast"
    test = "measure this shape again until it is stable, and see whether F rises."
    return Reason("ceiling", evidence + ".", test, "possible" if case.point.stable else "likely")


def path(case: Case) -> Reason | None:
    """Under the roof of another precision or other units than its own."""
    own = look.own_roof(case)
    if own is not None:
        reached = own.time(case.point.work) / case.seconds
        evidence = (
            f"It does {say.path_name(own)}, and the roof is that of {say.path_name(case.roof)}: "
            f"of its own roof, {say.throughput(own.peak)}, it reaches {say.percent(reached)}."
        )
        test = "look at the name of the kernel in a profiler, or at the error of the result."
        return Reason("path", evidence, test, "shown" if reached >= 0.75 else "possible")
    if case.own_path or case.bound != "compute" or case.share > AT_ROOF:
        return None
    near = [r for r in case.roofs if r.peak < 0.9 * case.roof.peak and abs(case.point.flop_per_s / r.peak - 1) <= 0.05]
    if not near:
        return None
    evidence = f"Its {say.throughput(case.point.flop_per_s)} are just what {say.path_name(near[0])} reach."
    return Reason("path", evidence, "look at the name of the kernel in a profiler.", "possible")


def traffic(case: Case) -> Reason | None:
    """More traffic counted than the formula says, or too high a point that no cache explains."""
    counted, formula = case.counted_bytes, case.point.work.bytes
    if counted is not None and counted >= MORE_TRAFFIC * formula:
        would = max(case.compute_time, counted / case.roof.bandwidth) / case.seconds
        evidence = (
            f"Counters saw {say.size(counted)} move, {counted / formula:.3g} times the {say.size(formula)} of the "
            f"formula; with them it is at {say.percent(would)} of the roof."
        )
        return Reason("bytes", evidence, "find the copies: list the kernels with the bytes of each.", "shown")
    too_high = case.share > ABOVE_ROOF and case.bound == "memory"
    if too_high and case.cache_bytes is not None and case.working_set > NEAR_CACHE * case.cache_bytes:
        evidence = f"Its rate is {case.share:.2f} times what memory allows, and its working set is past the cache."
        return Reason(
            "bytes", evidence, "count the memory traffic; check that the clock waits for the end.", "possible"
        )
    return None


def launch(case: Case) -> Reason | None:
    """The cost of starting: a time that does not see the size, or a fixed part by a line through others."""
    if case.share >= AT_ROOF:
        return None
    one = look.batched(case)
    if one is not None:
        evidence = (
            f"The same {case.point.batch} products in one batched call take {say.time(one.seconds)}, "
            f"these calls {say.time(case.seconds)}: what differs is the number of calls."
        )
        return Reason("launch", evidence, "batch them, and time again.", "shown")
    flat = look.flat_floor(case)
    if flat is not None:
        evidence = (
            f"{say.shape(flat.other)} takes {say.time(flat.other.seconds)}, this {say.time(case.seconds)}: "
            "the time does not see the size, so it is a fixed cost: the start, and what else is paid at any size."
        )
        return Reason("launch", evidence, "make it twice as large: the time should not change.", "shown")
    floors = [f for f in (look.sweep_floor(case), look.fixed_cost(case)) if f]
    if case.launch:  # what is several times as long as a small copy is more than the start of a kernel
        floors = [f for f in floors if f.seconds <= START * case.launch]
    if case.launch:
        floors.append(look.Floor(case.launch * (case.kernels or 1), "copies"))
    if not floors:
        return None
    floor = max(floors, key=lambda f: f.seconds)
    part, together = floor.seconds / case.seconds, floor.seconds + case.roof_time
    most = floor.seconds >= 0.6 * (case.seconds - case.roof_time)  # close to the roof the sum alone shows nothing
    accounts = part >= 0.5 or (most and together >= ACCOUNTS * case.seconds)
    if not accounts and part < 0.1:
        return None
    source = {
        "flat": "by the smallest sizes of the sweep",
        "line": "by T = a + V/b through its neighbours",
        "copies": "by T = a + V/b through small copies",
    }[floor.kind]
    started = f"Starting {case.kernels} kernels" if (case.kernels or 1) > 1 else "Starting"
    evidence = (
        f"{started} costs {say.time(floor.seconds)} ({source}), the roof asks for {say.time(case.roof_time)}; "
        f"it took {say.time(case.seconds)}."
    )
    test = "put several into one launch (a batch, a graph, a fused kernel), and time again."
    return Reason("launch", evidence, test, "likely" if accounts else "possible")


def operators(case: Case) -> Reason | None:
    """Operators one after the other, each with its inputs from memory and its output to it."""
    apart = case.operator_seconds
    if apart is None or case.share >= AT_ROOF or apart < MORE_TRAFFIC * case.roof_time:
        return None
    evidence = (
        f"As {case.kernels or 'several'} operators one after the other it needs {say.time(apart)} at least, "
        f"in one kernel {say.time(case.roof_time)}; it took {say.time(case.seconds)}."
    )
    fits = PADDED <= apart / case.seconds <= ABOVE_ROOF
    return Reason("operators", evidence, "fuse them (torch.compile), and time again.", "likely" if fits else "possible")


def padding(case: Case) -> Reason | None:
    """A run of row counts that take one time, as if all were padded to the largest of them."""
    tile = look.flat_rows(case)
    if tile is None or case.share >= AT_ROOF or not tile.past_ridge or tile.executed < 0.2:
        return None
    flat = f"{tile.first} to {tile.rows} rows all take {say.time(case.seconds)}"
    test = f"time {tile.rows + 1} rows: the time should jump; a profiler's count of executed FLOP shows it directly."
    done = f"{tile.rows} rows in that time are {say.percent(tile.executed)} of F"
    if tile.executed >= PADDED:
        evidence = f"{flat}: {tile.rows} are executed, {case.point.m} of them useful; {done}."
        sure = "shown" if tile.rows >= 4 * tile.first and tile.after is not None and tile.after >= 1.5 else "likely"
        return Reason("padding", evidence, test, sure)
    evidence = f"{flat}, as if all were padded to {tile.rows}, but {done}: that explains a flat time, not its length."
    return Reason("padding", evidence, test, "possible")


def kernel(case: Case) -> Reason | None:
    """A neighbour that does more in less time, or is much nearer to the roof."""
    if case.share >= AT_ROOF:
        return None
    better = look.more_in_less(case)
    if better is not None:
        more = better.work.flop / case.point.work.flop if case.point.work.flop else None
        times = f"{more:.3g} times the arithmetic" if more else "more"
        evidence = (
            f"{say.shape(better)} does {times} on no fewer bytes in {say.time(better.seconds)}, "
            f"this takes {say.time(case.seconds)}."
        )
        test = "pad to that size, or try another library; the kernels' names in a profiler differ."
        return Reason("kernel", evidence, test, "shown" if case.point.stable else "possible")
    nearer = look.nearer_roof(case)
    if nearer is None:
        return None
    evidence = (
        f"{say.shape(nearer)} reaches {say.percent(case.share_of(nearer))} of the roof, this {say.percent(case.share)}."
    )
    return Reason("kernel", evidence, "compare the kernels' names and tile sizes in a profiler.", "possible")


def corner(case: Case) -> Reason | None:
    """Between two neighbours at their roofs, where the model's corner is sharp and no machine's is."""
    sides = look.clear_sides(case) if case.share < AT_ROOF else None
    if sides is None:
        return None
    left, right = sides
    evidence = (
        f"It lies at {case.intensity / case.roof.ridge_point:.2g} times the ridge point, between neighbours at "
        f"{say.percent(case.share_of(left))} and {say.percent(case.share_of(right))} of their roofs, and it is faster "
        f"than moving first and computing then ({say.time(case.memory_time + case.compute_time)})."
    )
    return Reason("corner", evidence, "points further from the ridge point should lie nearer to the roof.", "likely")


def waves(case: Case) -> Reason | None:
    """Tiles of a product that leave the last round of the multiprocessors partly empty."""
    m, n = getattr(case.point, "m", None), getattr(case.point, "n", None)
    if case.multiprocessors is None or m is None or case.bound != "compute" or case.share >= AT_ROOF:
        return None
    w = look.waves(m, n, case.multiprocessors, case.tile or (128, 128))
    if w.efficiency >= AT_ROOF or abs(w.efficiency - case.share) > 0.1:
        return None
    known = "tiles" if case.tile else "tiles, if they are that large,"
    evidence = (
        f"{w.tiles} {known} of {w.tile[0]} x {w.tile[1]} on {case.multiprocessors} multiprocessors make {w.waves:.3g} "
        f"rounds: the last one leaves {say.percent(w.efficiency)} of the time used."
    )
    test = "read the tile size from the kernel's name; a size that fills whole rounds should be nearer to the roof."
    return Reason("waves", evidence, test, "likely" if case.tile else "possible")


def new_memory(case: Case) -> Reason | None:
    """Pages that the system clears at their first touch: on a processor, each call with a large new result pays it."""
    if case.share >= AT_ROOF or not (case.new_bytes or case.reused_seconds):
        return None
    gap = case.seconds - case.roof_time
    test = "write the result into memory that is there (out=), and time again."
    if case.reused_seconds is not None:  # the experiment itself decides
        saved = case.seconds - case.reused_seconds
        evidence = (
            f"Into memory that is there the same work takes {say.time(case.reused_seconds)}, "
            f"this {say.time(case.seconds)}: what differs is the new memory."
        )
        standing = "shown" if saved >= 0.5 * gap else "possible"
        return Reason("new memory", evidence, test, standing) if saved >= 0.1 * case.seconds else None
    counted = f"Each call touches {say.binary(case.new_bytes)} for the first time"
    if case.new_seconds is None:
        if case.new_bytes < 0.1 * case.point.work.bytes:
            return None
        return Reason("new memory", f"{counted}; what that takes here was not measured.", test, "possible")
    if case.new_seconds < 0.1 * case.seconds:
        return None
    evidence = (
        f"{counted}, which takes {say.time(case.new_seconds)} here; the roof asks for {say.time(case.roof_time)}, and "
        f"it took {say.time(case.seconds)}."
    )
    fits = case.new_seconds >= 0.5 * gap and case.new_seconds + case.roof_time <= ABOVE_ROOF * case.seconds
    return Reason("new memory", evidence, test, "likely" if fits else "possible")


def host(case: Case) -> Reason | None:
    """Time in which no kernel runs, from a timeline; possible for a program of many kernels without one."""
    if case.kernel_seconds is not None:
        outside = case.seconds - case.kernel_seconds
        if outside < 0.1 * case.seconds:
            return None
        evidence = (
            f"Its kernels run for {say.time(case.kernel_seconds)} of {say.time(case.seconds)}: for "
            f"{say.time(outside)} the device waits."
        )
        most = outside >= 0.5 * (case.seconds - case.roof_time)
        return Reason(
            "host", evidence, "a CUDA graph or a compiled step should take the gaps out.", "shown" if most else "likely"
        )
    whole = getattr(case.point, "kernel", None) == "decode_step" or (case.kernels or 1) > 1
    if not whole or case.share >= AT_ROOF or getattr(case.point, "device", None) == "cpu":
        return None  # (on a CPU the operators themselves are what the host does)
    many = f"{case.kernels} kernels" if case.kernels else "many kernels"
    evidence = f"This is a program of {many}; how long the device waits between them was not recorded."
    return Reason("host", evidence, "a timeline, or the same step in a CUDA graph.", "possible")


def throttled(case: Case) -> Reason | None:
    """A clock below that of the roof's measurement, a reported throttle, or samples that get slower."""
    if case.share >= AT_ROOF:
        return None
    proof = getattr(case.point, "evidence", None)
    test = "time it again after a pause, with the clock recorded or locked."
    if proof is not None and proof.throttle:
        return Reason("throttled", f"The device reported {proof.throttle} while it was timed.", test, "likely")
    clock = case.clock_hz or (proof.clock_hz if proof else None)
    if clock and case.reference_clock_hz and clock < AT_ROOF * case.reference_clock_hz and case.bound == "compute":
        part = clock / case.reference_clock_hz
        evidence = f"The clock was {clock / 1e9:.2f} GHz, {say.percent(part)} of the one that the roof was measured at."
        return Reason("throttled", evidence, test, "likely" if part <= case.share + 0.1 else "possible")
    if proof is not None and drift(proof.samples) > 0.15:
        evidence = f"The samples got {say.percent(drift(proof.samples))} slower while it was timed."
        return Reason("throttled", evidence, "time it again on an idle machine, with the clock recorded.", "possible")
    return None


#: In the order in which reasons of the same standing are named.
RULES = (
    at_roof,
    path,
    cache,
    ceiling,
    traffic,
    launch,
    operators,
    new_memory,
    padding,
    kernel,
    host,
    corner,
    throttled,
    waves,
)


def reasons(case: Case) -> tuple[Reason, ...]:
    """Every reason that has evidence, the best supported first."""
    found = [r for r in (rule(case) for rule in RULES) if r is not None]
    found.sort(key=lambda r: STANDINGS.index(r.standing))
    # Beside a reason that is shown, a possible one only distracts.
    shown = bool(found) and found[0].standing == "shown"
    return tuple(r for r in found if not (shown and r.standing == "possible"))
