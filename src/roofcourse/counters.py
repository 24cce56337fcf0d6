"""Traffic that a card counted itself: reading what Nsight Compute prints, and the course's bundled counters.

``ncu --csv --page raw`` writes a header, a line of units, and one line for each kernel that ran. From it come the bytes
that crossed the memory (and the L2), the time, and the FLOP of the instructions that ran. ``roofcourse ncu --how``
prints the command. Bytes are measured here where a formula would only give the least that must move.

Units as the profiler prints them: *base* units (``--print-units base``) or scaled ones (Mbyte, usecond), with a comma
between groups of three digits or without. A report with decimal commas is refused: ``1,234`` could then be either. FLOP
of the vector units in FP16 are not counted, since one instruction can be one or two: where there are enough of them to
move the point, the note says so and the FLOP are ``None``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .files import read_text
from .inference import layer_counters
from .records import html_table
from .texttable import table
from .work import Counted

#: What one executed thread instruction of the vector units counts, by metric: (precision, FLOP).
_VECTOR = {
    "op_fadd_pred_on": ("fp32", 1),
    "op_fmul_pred_on": ("fp32", 1),
    "op_ffma_pred_on": ("fp32", 2),
    "op_dadd_pred_on": ("fp64", 1),
    "op_dmul_pred_on": ("fp64", 1),
    "op_dfma_pred_on": ("fp64", 2),
}
#: Instructions of the vector units in half precision, and the most FLOP that one can be (two numbers at once).
_HALF = {"op_hadd_pred_on": 2, "op_hmul_pred_on": 2, "op_hfma_pred_on": 4}
#: At most this part of the FLOP counted may be left out without a word.
_NEGLIGIBLE = 0.01
#: The first of these that a report has; the second form is the sum of its parts.
_SECONDS = ("gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max")
_DRAM = (("dram__bytes.sum",), ("dram__bytes_read.sum", "dram__bytes_write.sum"))
_L2 = (("lts__t_bytes.sum",),)
#: FLOP of the matrix units by what is multiplied, what is added up in, and whether half the numbers are left out.
_TENSOR = re.compile(
    r"sm__ops_path_tensor_src_((?:fp64|tf32|bf16|fp16|fp8|int8|fp4)(?:_fp6)?(?:_fp8)?)"
    r"(_dst_[a-z0-9]+)?(_sparsity_(?:on|off))?\.sum$"
)
_TENSOR_RAN = re.compile(r"sm__inst_executed_pipe_tensor\w*\.sum$")
_SASS = re.compile(r"(sm|smsp)__sass_thread_inst_executed_(op_\w+_pred_on)\.sum$")
#: (A column of several kinds of number is taken for the widest of them; six bits run no faster than eight.)
_PRECISION = {"fp8": "fp8_e4m3", "fp4_fp6": "fp8_e4m3", "fp4_fp6_fp8": "fp8_e4m3", "fp4": "nvfp4"}

_PREFIX = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_UNIT = re.compile(r"(|[numkKMGTP])(byte|second|s|inst|op|ops)$")
#: 1234, 1234.5, 1,234.5, 1.2e+09
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][-+]?\d+)?$")
#: 1234,5  1.234,5  1.234.567: a comma where the point belongs, or points between groups of digits.
_DECIMAL_COMMA = re.compile(r"[-+]?(0,\d+|\d+,(\d{1,2}|\d{4,})|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,})$")
#: 12.345: a fraction, or points between groups, where the unit has no fractions.
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}$")

#: What ``ncu`` is asked for: FLOP of the vector units and of the matrix units, traffic, time. The names of the last
#: differ between cards (FP16 in one column, or in two by what is added up in); those that a card does not have are n/a.
METRICS = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    *(f"sm__sass_thread_inst_executed_{name}.sum" for name in (*_VECTOR, *_HALF)),
    "sm__inst_executed_pipe_tensor.sum",
    *(f"sm__ops_path_tensor_src_{name}.sum" for name in ("fp64", "tf32_dst_fp32", "bf16_dst_fp32")),
    *(f"sm__ops_path_tensor_src_{name}{to}.sum" for name in ("fp16", "fp8") for to in ("", "_dst_fp16", "_dst_fp32")),
)


@dataclass(frozen=True)
class KernelCounter(Counted):
    """One kernel, or some of the same name together: bytes and time read from the card.

    ``dram_bytes``, ``l2_bytes``: traffic by hardware counters (the first 0 where caches served all of it, which leaves
    no intensity; the latter ``None`` where it was not read). ``seconds``: under the profiler, which runs kernels one at
    a time. ``flop``: counted by instructions, or by formula (``flop_source``); ``None`` where neither is known.
    ``precision`` and ``path``: of most of those FLOP (``"gemm"``: matrix units, ``"vector"``: the vector units),
    ``None`` where the counters do not show all of them. ``note``: what the counters do not show.
    """

    name: str
    seconds: float
    dram_bytes: float
    l2_bytes: float | None = None
    flop: float | None = None
    flop_source: str | None = None
    precision: str | None = None
    path: str | None = None
    launches: int = 1
    source: str = ""
    note: str | None = None

    def _uncounted(self) -> str:
        return f"{self.name}: its FLOP were not counted; give them by formula"

    def with_flop(self, flop: float) -> KernelCounter:
        """The same kernel with its FLOP by formula (for each of its launches alike). Its precision and path stay those
        that the instructions showed; no formula knows them."""
        return replace(self, flop=flop * self.launches, flop_source="formula", note=None)


class KernelCounters(tuple):
    """Several kernels, shown as a table."""

    HEAD = ("kernel", "launches", "time (µs)", "DRAM (MB)", "GB/s", "GFLOP", "I (FLOP/byte)", "TFLOP/s", "note")

    def rows(self) -> list[list[str]]:
        return [
            [
                short(x.name),
                f"{x.launches}",
                f"{x.seconds * 1e6:,.4g}",
                f"{x.dram_bytes / 1e6:,.4g}",
                f"{x.bytes_per_s / 1e9:,.4g}",
                "" if x.flop is None else f"{x.flop / 1e9:,.4g}",
                "" if x.flop is None or not x.dram_bytes else f"{x.intensity:,.4g}",
                "" if x.flop is None else f"{x.flop / x.seconds / 1e12:,.4g}",
                x.note or "",
            ]
            for x in self
        ]

    def __repr__(self) -> str:
        return table([self.HEAD, *self.rows()], left=1)

    def _repr_html_(self) -> str:
        return html_table(self.HEAD, self.rows())

    def by_name(self) -> KernelCounters:
        """Launches of the same kernel together, the longest total first."""
        groups: dict[str, list[KernelCounter]] = {}
        for x in self:
            groups.setdefault(x.name, []).append(x)
        return KernelCounters(sorted((_together(g) for g in groups.values()), key=lambda x: -x.seconds))


def _together(group: list[KernelCounter]) -> KernelCounter:
    most = max(group, key=lambda x: x.flop or 0)  # whose precision and units are those of the whole
    flop = None if any(x.flop is None for x in group) else sum(x.flop for x in group)
    l2 = None if any(x.l2_bytes is None for x in group) else sum(x.l2_bytes for x in group)
    seconds, moved, launches = (sum(getattr(x, f) for x in group) for f in ("seconds", "dram_bytes", "launches"))
    notes = dict.fromkeys(x.note for x in group if x.note)
    return replace(
        most,
        precision=None if notes else most.precision,
        path=None if notes else most.path,
        seconds=seconds,
        dram_bytes=moved,
        l2_bytes=l2,
        flop=flop,
        launches=launches,
        note="; ".join(notes) or None,
    )


def of_one_call(kernels: Iterable[KernelCounter], kernel: str | None = None, calls: int = 1) -> KernelCounter:
    """All kernels of a report together, for one of the ``calls`` that were profiled.

    ``kernel``: only those whose name contains it. Bytes, seconds and FLOP are sums divided by ``calls``; the FLOP are
    ``None``, and the note says why, where one kernel's are not known. Raises ``ValueError`` or ``LookupError`` in one
    line for a count of calls that cannot be, and where no kernel has such a name.
    """
    every = list(kernels)
    found = [x for x in every if kernel is None or kernel in x.name]
    if not found:
        there = ", ".join(dict.fromkeys(short(x.name) for x in every)) or "none"
        raise LookupError(f"no kernel of the report has {kernel!r} in its name; there are: {there:.200}")
    launches = sum(x.launches for x in found)
    if not isinstance(calls, int) or calls < 1 or launches % calls:
        raise ValueError(
            f"the report has {launches} launches, which is no whole number for each of {calls!r} calls: say how many "
            "calls were profiled, or name the kernel"
        )
    whole = _together(found)
    return replace(
        whole,
        name=kernel or "all kernels",
        seconds=whole.seconds / calls,
        dram_bytes=whole.dram_bytes / calls,
        l2_bytes=None if whole.l2_bytes is None else whole.l2_bytes / calls,
        flop=None if whole.flop is None else whole.flop / calls,
        launches=launches // calls,
    )


def short(name: str, width: int = 48) -> str:
    """A kernel's name without its template and parameters."""
    plain = re.sub(r"<.*|\(.*", "", name.removeprefix("void ")).strip() or name
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def bundled(device) -> KernelCounters:
    """The bundled counters of one layer of Qwen2.5-7B on a card, one record for each module, batch and prompt.

    Raises ``LookupError`` in one line for a card without them.
    """
    from .catalogue import device as card

    return KernelCounters(
        KernelCounter(
            name=f"{x.phase} {x.module}, batch {x.batch}, prompt {x.prompt_length}",
            seconds=x.seconds,
            dram_bytes=x.dram_bytes,
            l2_bytes=x.l2_bytes,
            flop=x.flop,
            flop_source=None if x.flop is None else "formula",
            precision=x.precision,
            path="gemm",
            launches=x.kernel_count,
            source=x.source,
        )
        for x in layer_counters(card(device).key)
    )


def read_report(path) -> KernelCounters:
    """The kernels of a report of ``ncu --csv --page raw``, in the order in which they ran.

    Raises ``ValueError`` in one line (file, line, what is wrong, what to do) for a file that is no such report, has
    decimal commas or an unknown unit, or lacks the time or the traffic.
    """
    try:
        text = read_text(path, "a report", "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; a .ncu-rep becomes one with: {_EXPORT}") from None
    return parse_report(text, str(path))


_EXPORT = "ncu --import report.ncu-rep --csv --page raw --print-units base > report.csv"


def parse_report(text: str, where: str = "report") -> KernelCounters:
    """The same for the text of a report."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.lstrip().startswith(('"ID"', "ID,", "ID;", '"ID";'))), None)
    if start is None:
        raise ValueError(f"{where}: {_no_header(text)}")
    if re.match(r'\s*"?ID"?;', lines[start]):
        raise ValueError(f"{where}, line {start + 1}: semicolons between columns, so commas in numbers: {_LOCALE}")
    header = _cells(lines[start])
    if "Metric Name" in header:
        raise ValueError(f"{where}: this is the page 'details'; write the page 'raw': {_EXPORT}")
    body = [(i + 1, line) for i, line in enumerate(lines[start + 1 :], start + 1) if line.lstrip().startswith('"')]
    body = body or [(i + 1, x) for i, x in enumerate(lines[start + 1 :], start + 1) if x and not x.startswith("==")]
    rows = [(number, _cells(line)) for number, line in body]
    for number, cells in rows:
        if len(cells) != len(header):
            raise ValueError(
                f"{where}, line {number}: {len(cells)} cells where the header has {len(header)}: the report is cut "
                "short or was edited; profile again"
            )
    if not rows or rows[0][1][0]:
        raise ValueError(f"{where}: the line of units below the header is missing; write the report with: {_EXPORT}")
    units = dict(zip(header, rows[0][1], strict=True))
    if len(rows) == 1:
        raise ValueError(f"{where}: no kernel in this report; did the filter (--kernel-name) match any?")
    kernels = [(number, dict(zip(header, cells, strict=True))) for number, cells in rows[1:]]
    _refuse_decimal_commas(kernels, units, where)
    return KernelCounters(_kernel(row, units, f"{where}, line {number}", where) for number, row in kernels)


_LOCALE = "profile again with a decimal point: put LC_ALL=C before ncu"


def _no_header(text: str) -> str:
    if "ERR_NVGPUCTRPERM" in text:
        return "the profiler was not allowed to read counters (ERR_NVGPUCTRPERM): roofcourse ncu --how says what to do"
    if "==PROF==" in text or "==WARNING==" in text or "==ERROR==" in text:
        error = next((line for line in text.splitlines() if line.startswith("==ERROR==")), "")
        return f"the profiler's messages, but no table{': ' + error if error else ''}; add --csv --page raw to ncu"
    return f'not a report of ncu --csv --page raw: no line starts with "ID"; write one with: {_EXPORT}'


def _cells(line: str) -> list[str]:
    return next(csv.reader(io.StringIO(line), skipinitialspace=True))


def _measured(units: dict[str, str]) -> list[str]:
    """The columns that hold a quantity."""
    return [name for name, unit in units.items() if "__" in name and (unit or "." in name)]


def _refuse_decimal_commas(kernels, units, where) -> None:
    for number, row in kernels:
        for name in _measured(units):
            cell = row[name].strip()
            whole = name.endswith(".sum") and units[name].strip() in ("byte", "inst")
            if _DECIMAL_COMMA.match(cell) or (whole and _GROUPED.match(cell)):
                raise ValueError(
                    f"{where}, line {number}, column {name}: {row[name]!r} has a decimal comma "
                    f"(or points between groups of digits): {_LOCALE}"
                )


def _kernel(row: dict, units: dict, here: str, source: str) -> KernelCounter:
    def quantity(name: str) -> float | None:
        if name not in row:
            return None
        cell = row[name].strip()
        if cell.lower() in ("", "n/a", "nan", "-"):
            return None
        if not _NUMBER.match(cell):
            raise ValueError(f"{here}, column {name}: {cell!r} is not a number")
        return float(cell.replace(",", "")) * _factor(units[name], f"{here}, column {name}")

    def total(choices) -> float | None:
        for names in choices:
            parts = [quantity(n) for n in names]
            if None not in parts:
                return sum(parts)
        return None

    seconds = next((s for s in map(quantity, _SECONDS) if s is not None), None)
    moved = total(_DRAM)
    for value, what, metric in (
        (seconds, "time", _SECONDS[0]),
        (moved, "DRAM traffic", "dram__bytes_read.sum and _write"),
    ):
        if value is None:
            raise ValueError(f"{here}: no {what} ({metric}): `roofcourse ncu --how` prints a command that asks for it")
    if seconds <= 0 or moved < 0:
        raise ValueError(
            f"{here}: time must be positive and DRAM traffic not negative, not {seconds:g} s and {moved:g} bytes"
        )
    flop, note = _flop(row, quantity)
    counted = sum(flop.values())
    main = max(flop, key=flop.get) if counted and note is None else (None, None)
    return KernelCounter(
        name=row.get("Kernel Name", "kernel"),
        seconds=seconds,
        dram_bytes=moved,
        l2_bytes=total(_L2),
        flop=counted if note is None else None,
        flop_source="instructions" if note is None else None,
        precision=main[0],
        path=main[1],
        source=source,
        note=note,
    )


def _factor(unit: str, here: str) -> float:
    """What one of this unit is in bytes, seconds or instructions."""
    found = _UNIT.match(unit.strip())
    if unit.strip() == "":
        return 1.0
    if not found:
        raise ValueError(f"{here}: unknown unit {unit!r}; write the report with --print-units base")
    return _PREFIX[found[1]]


def _flop(row: dict, quantity) -> tuple[dict[tuple[str, str], float], str | None]:
    """FLOP by (precision, path), and what keeps them from being all."""
    ran, matrix, vector = _of(_TENSOR_RAN, row, quantity), _of(_TENSOR, row, quantity), _of(_SASS, row, quantity)
    out: dict[tuple[str, str], float] = {}

    def add(precision: str, path: str, flop: float) -> None:
        if flop:
            out[precision, path] = out.get((precision, path), 0.0) + flop

    for kind, flop in matrix.items():
        if not any(_contains(other, kind) for other in matrix):
            add(_PRECISION.get(kind[0], kind[0]), "gemm", flop)
    executed = {op: n for (_, op), n in sorted(vector.items(), reverse=True)}  # of the two forms sm__ is taken
    for op, (precision, each) in _VECTOR.items():
        add(precision, "vector", each * executed.get(op, 0.0))
    half = sum(most * executed.get(op, 0.0) for op, most in _HALF.items())
    gemm = any(path == "gemm" for _, path in out)
    if any(ran.values()) and not gemm:
        return out, "matrix units ran, and this report does not count their FLOP: give them with --flop"
    if not ran and not matrix and any(_TENSOR_RAN.match(name) or _TENSOR.match(name) for name in row):
        return out, "this report does not tell whether matrix units ran (n/a): give the FLOP with --flop"
    if not gemm and not _VECTOR.keys() & executed:
        return out, "FLOP not in this report: give them with --flop"
    if half > _NEGLIGIBLE * sum(out.values()):
        return out, "half-precision instructions ran, and one can be one FLOP or several: give them with --flop"
    return out, None


def _of(pattern: re.Pattern, row: dict, quantity) -> dict[tuple, float]:
    """The columns of this form that hold a number, by the parts of their names."""
    found = {m.groups() or m[0]: quantity(name) for name in row if (m := pattern.match(name))}
    return {parts: value for parts, value in found.items() if value is not None}


def _contains(whole: tuple, part: tuple) -> bool:
    """Whether a column of the matrix units counts what another one does: it says less of what it counts."""
    return whole != part and all(w in (None, p) for w, p in zip(whole, part, strict=True))


def place(kernels: Iterable[KernelCounter], machine, precision: str | None = None) -> list[tuple]:
    """Each kernel with the roofline it belongs under, and the share of that roof it reaches.

    The roof: the precision and path of most of its FLOP, or ``precision`` (matrix products). Where the FLOP or their
    precision are not known, no byte crossed the memory, or the machine has no such roof, the roof is ``None`` and the
    share that of the bandwidth B. Returns tuples ``(kernel, roof, share)``.
    """
    out = []
    for x in kernels:
        fits = x.flop and x.dram_bytes
        roof = _roof(machine, precision or x.precision, "gemm" if precision else x.path) if fits else None
        share = x.flop_per_s / roof.attainable(x.intensity) if roof else x.bytes_per_s / machine.bandwidth
        out.append((x, roof, share))
    return out


def _roof(machine, precision: str | None, path: str | None):
    if precision is None:
        return None
    try:
        return machine.roofline(precision, path or "gemm")
    except LookupError:
        return None


def how(script: str = "python script.py") -> str:
    """The exact command for the profiler, and what to do when it may not read counters."""
    # No blanks before a line of the list: the shell would end it there.
    metrics = ",\\\n".join(",".join(METRICS[i : i + 2]) for i in range(0, len(METRICS), 2))
    return _HOW.format(metrics=metrics, script=script)


_HOW = """\
Nsight Compute runs the program, repeats every kernel as often as it has counters to read, and writes one line a kernel.

  LC_ALL=C ncu --csv --page raw --print-units base \\
    --target-processes all --clock-control none --cache-control none \\
    --launch-skip 0 --launch-count 200 --log-file report.csv \\
    --metrics \\
{metrics} \\
    {script}

  roofcourse ncu report.csv --device h100

Choices in it
  LC_ALL=C                 decimal points; a report with decimal commas is refused
  --launch-skip N          leave out the first N kernels (warm-up, compilation); --launch-count: how many then
  --kernel-name regex:gemm only kernels whose name matches
  --clock-control none     the clocks of real life; without it the profiler locks them (to base; from 2026.1 to boost)
  --cache-control none     caches are not emptied. But a kernel is repeated until all counters are read, and finds what
                           its own last run left: for data that fit in the L2 leave this option out (cold caches), or
                           ask for the time and the two dram metrics alone (the profiler's messages then say 1 pass)
  A metric that a card does not have is left out or n/a: see what it has with ncu --query-metrics. Kernels run one at a
  time, so times are not quite those of the program. A report in a file (.ncu-rep):
  ncu --import report.ncu-rep --csv --page raw --print-units base > report.csv

If it says ERR_NVGPUCTRPERM: reading counters is for administrators only. One of these helps
  run it as root           sudo env "PATH=$PATH" ncu ...
  for everyone, for good   put "options nvidia NVreg_RestrictProfilingToAdminUsers=0" into
                           /etc/modprobe.d/nvidia-profiling.conf, run update-initramfs -u (or dracut -f), restart
  in a container           start it with --cap-add SYS_ADMIN (Kubernetes: securityContext.capabilities.add)
  under WSL or Windows     NVIDIA control panel, Developer, Manage GPU performance counters: allow access to all users
  a rented or shared GPU   often not possible (MIG and virtual GPUs too): ask the administrator
Without counters the bytes of a formula remain: the least that must move (rc.gemm and its like, roofcourse place)."""
