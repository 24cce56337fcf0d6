"""Reports of Nsight Compute: every form that the profiler writes, placed by hand; what cannot be read is refused."""

import shlex

import pytest

import roofcourse as rc
from roofcourse import counters
from roofcourse.cli import main

HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum","lts__t_bytes.sum",'
    '"sm__inst_executed_pipe_tensor.sum","sm__ops_path_tensor_src_bf16_dst_fp32.sum",'
    '"sm__sass_thread_inst_executed_op_fadd_pred_on.sum","sm__sass_thread_inst_executed_op_ffma_pred_on.sum"'
)
FIXED = '"4242","python3","127.0.0.1"'
GEMM = '"void gemm<128, 64>(float *, int)"'


def line(number: int, name: str, *values) -> str:
    cells = ",".join(f'"{v}"' for v in values)
    return f'"{number}",{FIXED},{name},"1","7","(128, 1, 1)","(80, 1, 1)","0","9.0",{cells}'


def units(*names) -> str:
    return ",".join(['""'] * 11 + [f'"{n}"' for n in names])


BASE = "\n".join(
    [
        HEADER,
        units("byte", "byte", "ns", "byte", "inst", "", "inst", "inst"),
        line(0, GEMM, "134217728", "524288", "48000", "140000000", "1024", "2147483648", "0", "131072"),
        line(1, '"void add(float *)"', "8000000", "4000000", "6000", "13000000", "0", "0", "1000000", "0"),
        line(2, '"void copy(float *)"', "4000000", "4000000", "4000", "9000000", "0", "0", "0", "0"),
    ]
)
SCALED = "\n".join(
    [
        HEADER,
        units("Mbyte", "Kbyte", "usecond", "Mbyte", "inst", "", "inst", "inst"),
        line(0, GEMM, "134.217728", "524.288", "48.00", "140.00", "1,024", "2,147,483,648", "0", "131,072"),
    ]
)
TALK = "\n".join(
    [
        "==PROF== Connected to process 4242 (/usr/bin/python3.11)",
        '==PROF== Profiling "gemm" - 0: 0%....50%....100% - 8 passes',
        "step 1, loss 2.3",
        "==PROF== Disconnected from process 4242",
        BASE,
        "==WARNING== Some metrics are not available on this device",
        "bye",
    ]
)


@pytest.mark.parametrize("text", [BASE, SCALED, TALK, BASE.replace("\n", "\r\n"), "\ufeff" + BASE])
def test_one_kernel_in_every_form(text, tmp_path):
    path = tmp_path / "report.csv"
    path.write_text(text, encoding="utf-8")
    x = counters.read_report(path)[0]
    assert x.name == "void gemm<128, 64>(float *, int)"
    assert counters.short(x.name) == "gemm"
    assert x.dram_bytes == pytest.approx(134_217_728 + 524_288, rel=1e-12)
    assert x.seconds == pytest.approx(48e-6, rel=1e-12)
    assert x.l2_bytes == pytest.approx(140e6, rel=1e-12)
    assert x.flop == 2_147_483_648 + 2 * 131_072  # matrix units, and an FMA is two
    assert (x.precision, x.path, x.flop_source) == ("bf16", "gemm", "instructions")


def test_every_kernel_of_a_report():
    gemm, add, copy = counters.parse_report(TALK)
    assert (add.flop, add.precision, add.path) == (1_000_000, "fp32", "vector")
    assert add.intensity == pytest.approx(1 / 12)
    assert (copy.flop, copy.precision) == (0, None)  # counted, and none
    assert copy.bytes_per_s == pytest.approx(2e12)
    assert gemm.intensity == pytest.approx((2_147_483_648 + 262_144) / 134_742_016)


def test_traffic_and_time_under_their_other_names():
    text = '"ID","Kernel Name","dram__bytes.sum","gpu__time_duration.avg"\n"","","Gbyte","ms"\n"0","k","1.5","1"'
    (x,) = counters.parse_report(text)
    assert (x.dram_bytes, x.seconds, x.flop) == (1.5e9, 1e-3, None)
    assert "FLOP not in this report" in x.note


SASS = "sm__sass_thread_inst_executed_op_"
MATRIX = "sm__ops_path_tensor_src_"
RAN = "sm__inst_executed_pipe_tensor.sum"


def report(*rows, **columns):
    """A report of one kernel and of more ``rows``: 1000 bytes in 10 ns, and these columns."""
    head = ["ID", "Kernel Name", "dram__bytes.sum", "gpu__time_duration.sum", *columns]
    first = ["0", "kernel", "1000", "10", *columns.values()]
    lines = [head, ["", "", "byte", "ns", *[""] * len(columns)], first, *rows]
    return "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)


def kernel(**columns):
    (x,) = counters.parse_report(report(**columns))
    return x


def test_matrix_units_whose_flop_were_not_counted():
    x = kernel(**{"sm__inst_executed_pipe_tensor_op_hmma.sum": 64, f"smsp{SASS[2:]}ffma_pred_on.sum": 8})
    assert x.flop is None  # 16 FLOP of the ordinary units would be a wrong point
    assert x.note.startswith("matrix units ran")
    assert x.with_flop(4000.0).intensity == 4


@pytest.mark.parametrize(
    ("instruction", "precision", "each"),
    [
        ("fadd", "fp32", 1),
        ("fmul", "fp32", 1),
        ("ffma", "fp32", 2),
        ("dadd", "fp64", 1),
        ("dmul", "fp64", 1),
        ("dfma", "fp64", 2),
    ],
)
def test_what_an_instruction_of_the_vector_units_counts(instruction, precision, each):
    x = kernel(**{f"{SASS}{instruction}_pred_on.sum": 1000})
    assert (x.flop, x.precision, x.path, x.note) == (1000 * each, precision, "vector", None)


def test_flop_by_formula_have_the_precision_that_the_instructions_showed_or_none():
    # Two FLOP of the vector units beside a product on the matrix units tell nothing of the product.
    hidden = kernel(**{RAN: 64, f"{SASS}ffma_pred_on.sum": 1})
    assert (hidden.precision, hidden.path) == (None, None)
    given = hidden.with_flop(1e6)
    assert (given.flop, given.note, given.precision, given.path) == (1e6, None, None, None)
    h100 = rc.device("h100")
    assert counters.place([given], h100)[0][1:] == (None, 1e11 / h100.bandwidth)
    assert counters.place([given], h100, "bf16")[0][1].precision == "bf16"
    seen = kernel(**{f"{MATRIX}bf16_dst_fp32.sum": 1000}).with_flop(2000)
    assert (seen.flop, seen.precision, seen.path) == (2000, "bf16", "gemm")
    both = counters.of_one_call([hidden, kernel(**{f"{SASS}ffma_pred_on.sum": 1000})])
    assert (both.flop, both.precision, both.path) == (None, None, None)


def test_flop_are_counted_once():
    whole, off, on = (f"{MATRIX}bf16_dst_fp32{part}.sum" for part in ("", "_sparsity_off", "_sparsity_on"))
    assert kernel(**{off: 600, on: 400, whole: 1000}).flop == 1000
    assert kernel(**{whole: "n/a", off: 600, on: 400}).flop == 1000
    assert (
        kernel(**{f"{MATRIX}fp16.sum": 900, f"{MATRIX}fp16_dst_fp16.sum": 0, f"{MATRIX}fp16_dst_fp32.sum": 900}).flop
        == 900
    )
    assert kernel(**{f"{MATRIX}fp16_dst_fp16.sum": 300, f"{MATRIX}fp16_dst_fp32.sum": 500}).flop == 800
    sm, smsp = f"{SASS}ffma_pred_on.sum", f"smsp{SASS[2:]}ffma_pred_on.sum"  # two counts of the same instructions
    assert kernel(**{sm: 1000, smsp: 999}).flop == kernel(**{smsp: 999, sm: 1000}).flop == 2000
    assert kernel(**{sm: "n/a", smsp: 1000}).flop == 2000


@pytest.mark.parametrize(
    ("column", "precision"),
    [
        ("fp64", "fp64"),
        ("fp16", "fp16"),
        ("int8", "int8"),
        ("fp8_dst_fp32", "fp8_e4m3"),
        ("fp8_sparsity_off", "fp8_e4m3"),
        ("fp4_fp6_fp8_dst_fp32", "fp8_e4m3"),
        ("fp4_fp6_dst_fp16", "fp8_e4m3"),
        ("fp4_dst_fp32", "nvfp4"),
    ],
)
def test_columns_of_the_matrix_units(column, precision):
    x = kernel(**{f"{MATRIX}{column}.sum": 1000, RAN: 1})
    assert (x.flop, x.precision, x.path) == (1000, precision, "gemm")


@pytest.mark.parametrize("instruction", ["hadd", "hmul", "hfma"])
def test_half_precision_on_the_vector_units_is_not_taken_for_none(instruction):
    fma, half = f"{SASS}ffma_pred_on.sum", f"{SASS}{instruction}_pred_on.sum"
    assert {fma, half} <= set(counters.METRICS)
    x = kernel(**{fma: 0, half: 1000})
    assert (x.flop, x.precision) == (None, None)
    assert x.note.startswith("half-precision instructions ran")
    assert kernel(**{fma: 0, half: 0}).flop == 0
    # 1000 of them are 4000 FLOP at the most: nothing beside a million, as in a product that rounds its result.
    assert kernel(**{fma: 500_000, half: 1000}).flop == 1_000_000
    assert kernel(**{fma: 50_000, half: 1000}).flop is None


def test_a_report_that_does_not_tell_whether_matrix_units_ran():
    fma = {f"{SASS}ffma_pred_on.sum": 8}
    for columns in ({RAN: "n/a"}, {f"{MATRIX}bf16_dst_fp32.sum": "n/a"}):
        x = kernel(**columns, **fma)
        assert (x.flop, x.precision) == (None, None)
        assert x.note.startswith("this report does not tell whether matrix units ran")
    # Where one column has a number, what the card does not have is nothing to worry about.
    assert kernel(**{RAN: 0, f"{MATRIX}fp8.sum": "n/a"}, **fma).flop == 16
    assert kernel(**{RAN: "n/a", f"{MATRIX}bf16_dst_fp32.sum": 0, f"{MATRIX}fp8.sum": "n/a"}, **fma).flop == 16
    assert kernel(**{RAN: 0}).note.startswith("FLOP not in this report")


REFUSED = {
    "decimal comma": (SCALED.replace("134.217728", "134,21"), "'134,21' has a decimal comma"),
    "points between groups": (BASE.replace("134217728", "134.217.728"), "decimal comma (or points between groups"),
    "comma after points": (BASE.replace("134217728", "1.234,56"), "decimal comma"),
    "points in whole bytes": (BASE.replace("524288", "524.288"), "'524.288' has a decimal comma (or points between"),
    "a fraction with a comma": (SCALED.replace('"48.00"', '"0,048"'), "'0,048' has a decimal comma"),
    "semicolons": (HEADER.replace(",", ";"), "semicolons between columns"),
    "details page": ('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"', "this is the page 'details'"),
    "no units": ("\n".join(BASE.splitlines()[:1] + BASE.splitlines()[2:]), "the line of units below the header"),
    "no kernel": ("\n".join(BASE.splitlines()[:2]), "no kernel in this report"),
    "cut": (BASE[:-20], "cells where the header has 19: the report is cut short"),
    "unknown unit": (BASE.replace('"ns"', '"fortnight"'), "unknown unit 'fortnight'"),
    "no number": (BASE.replace('"48000"', '"fast"'), "'fast' is not a number"),
    "no time": (BASE.replace('"48000"', '"n/a"'), "no time (gpu__time_duration.sum)"),
    "no traffic": (BASE.replace("dram__bytes_write.sum", "dram__else.sum"), "no DRAM traffic"),
    "zero time": (BASE.replace('"48000"', '"0"'), "time must be positive"),
    "not permitted": (
        "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission",
        "roofcourse ncu --how",
    ),
    "messages alone": ("==PROF== Connected\n==ERROR== No kernels were profiled", "==ERROR== No kernels were profiled"),
    "another file": ("a,b\n1,2\n", "not a report of ncu --csv --page raw"),
    "empty": ("", "not a report of ncu --csv --page raw"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_refusals_are_one_line(fault, tmp_path):
    text, message = REFUSED[fault]
    path = tmp_path / "report.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=".+") as caught:
        counters.read_report(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_binary_report_and_none(tmp_path):
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(b"NVR\x00\xff\xfe\x80")
    with pytest.raises(ValueError, match="ncu --import report.ncu-rep --csv --page raw"):
        counters.read_report(path)
    with pytest.raises(ValueError, match="no such file"):
        counters.read_report(tmp_path / "none.csv")


def test_launches_of_one_kernel_together():
    twice = counters.parse_report(BASE + "\n" + BASE.splitlines()[2].replace('"0"', '"3"', 1))
    first = twice.by_name()[0]
    assert (first.launches, first.seconds, first.flop) == (2, 96e-6, 2 * (2_147_483_648 + 262_144))
    assert [x.launches for x in twice.by_name()] == [2, 1, 1]


def test_one_of_several_calls():
    twice = counters.parse_report(BASE + "\n" + BASE.splitlines()[2].replace('"0"', '"3"', 1))
    one = counters.of_one_call(twice, "gemm", calls=2)
    assert (one.launches, one.seconds, one.dram_bytes, one.l2_bytes) == (1, 48e-6, 134_742_016, 140_000_000)
    assert one.flop == 2_147_483_648 + 262_144


def test_one_call_computes_in_what_most_of_its_flop_do():
    gemm, vector, copy = counters.parse_report(BASE)
    for order in ([gemm, vector, copy], [copy, vector, gemm]):
        whole = counters.of_one_call(order)
        assert (whole.precision, whole.path, whole.launches) == ("bf16", "gemm", 3)
        assert whole.dram_bytes == gemm.dram_bytes + vector.dram_bytes + copy.dram_bytes


def test_place_by_hand():
    h100 = rc.device("h100")
    (gemm, roof, share), (_, vector, _), (copy, none, of_b) = counters.place(counters.parse_report(BASE), h100)
    assert (roof.precision, roof.path) == ("bf16", "gemm")
    assert share == pytest.approx(gemm.bytes_per_s / h100.bandwidth)  # far left of the ridge point
    assert (vector.precision, vector.path) == ("fp32", "vector")
    assert none is None
    assert of_b == pytest.approx(2e12 / h100.bandwidth)
    assert copy.flop == 0


def test_a_kernel_that_the_caches_served_is_shown_without_an_intensity(tmp_path, capsys):
    """All of its 12 MB come from the L2; its 1e6 FLOP in 6 µs are 1/6 TFLOP/s."""
    path = tmp_path / "report.csv"
    path.write_text(BASE.replace('"8000000","4000000"', '"0","0"'), encoding="utf-8")
    _, add, copy = counters.read_report(path)
    assert (add.dram_bytes, add.flop, add.l2_bytes) == (0, 1e6, 13e6)
    h100 = rc.device("h100")
    (found, roof, share), (_, _, of_copy) = counters.place([add, copy], h100)
    assert (found, roof, share) == (add, None, 0)
    assert of_copy == pytest.approx(2e12 / h100.bandwidth)
    assert counters.KernelCounters([add]).rows() == [["add", "1", "6", "0", "0", "0.001", "", "0.1667", ""]]
    with pytest.raises(ValueError, match="bytes must be"):
        _ = add.intensity
    for words in ([], ["--sum"], ["--precision", "fp16"]):
        assert main(["ncu", str(path), "--device", "h100", *words]) == 0
        out = capsys.readouterr().out
        assert "Under B alone: no byte of add crossed the memory, which leaves no intensity" in out
        assert "does not show the precision" not in out
        assert "no measured roof" not in out


def test_the_168_bundled_rows():
    found = {d: counters.bundled(d) for d in ("h100", "h200", "rtx4080")}
    assert sum(len(x) for x in found.values()) == 168
    row = next(x for x in found["h200"] if x.name == "decode k_proj, batch 1, prompt 1024")
    assert (row.dram_bytes, row.seconds, row.flop, row.launches) == (3_693_056, 6.848e-6, 3_670_016, 1)
    assert row.flop == 2 * 3584 * 512
    with pytest.raises(LookupError, match="no counters of a language model were read on a100"):
        counters.bundled("a100")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "report.csv"
    path.write_text(TALK, encoding="utf-8")
    assert main(["ncu", str(path), "--device", "h100"]) == 0
    out = capsys.readouterr().out
    assert (
        "gemm    bf16 gemm, memory           1         48      134.7  2,807          15.94    44.74          91%" in out
    )
    assert "All 3 launches: 58 µs in kernels, 154.7 MB; 86% of B" in out
    assert "no measured roof" not in out  # a copy has no FLOP, and needs no roof but B
    assert main(["ncu", "--bundled", "--device", "h200", "--sum"]) == 0
    out = capsys.readouterr().out
    assert "decode k_proj, batch 1, prompt 1024" in out
    assert "All 260 launches: 40,869 µs in kernels, 57,034 MB; 32% of B" in out  # 40.869 ms, 57.034 GB
    for words, message in (
        (["--bundled", "--device", "h200", "--run", "run.json"], "--bundled has the counters of a card: name it with"),
        ([str(path), "--device", "h200", "--run", "run.json"], "--device and --run both name the roofs: leave out one"),
        ([str(tmp_path), "--device", "h200"], f"{tmp_path} is a folder, not a report"),
    ):
        assert main(["ncu", *words]) == 1
        assert capsys.readouterr().err.startswith(f"roofcourse: {message}")


def test_the_command_takes_flop_by_formula(tmp_path, capsys):
    path = tmp_path / "report.csv"
    path.write_text(
        '"ID","Kernel Name","dram__bytes.sum","gpu__time_duration.sum"\n"","","byte","ns"\n"0","g","1000","10"'
    )
    assert main(["ncu", str(path), "--device", "h100"]) == 0
    assert "Under B alone: FLOP not in this report" in capsys.readouterr().out
    assert main(["ncu", str(path), "--device", "h100", "--flop", "g=2*1000", "--precision", "bf16"]) == 0
    assert "bf16 gemm, memory" in capsys.readouterr().out
    assert main(["ncu", str(path), "--device", "h100", "--flop", "g=2*1000"]) == 0
    out = capsys.readouterr().out
    assert "Under B alone: the report does not show the precision of g: give it with --precision" in out
    assert "None" not in out
    assert main(["ncu", str(path), "--device", "h100", "--flop", "g=2*1000", "--precision", "nvfp4"]) == 0
    assert "H100 has no measured roof for nvfp4 gemm; --precision names another" in capsys.readouterr().out
    for words, message in (
        (["--flop", "g"], "--flop takes NAME=FLOP"),
        (["--flop", "g=2*x"], "--flop takes NAME=FLOP"),
        (["--flop", "other=2"], "no kernel of the report has 'other'"),
    ):
        assert main(["ncu", str(path), "--device", "h100", *words]) == 1
        assert message in capsys.readouterr().err
    assert main(["ncu", str(path)]) == 1
    assert "name the card" in capsys.readouterr().err
    assert main(["ncu", "--device", "h100"]) == 1
    assert "name a report" in capsys.readouterr().err


def test_how_prints_a_command_that_a_shell_can_read(capsys):
    assert main(["ncu", "--how", "python", "train.py", "--steps", "3"]) == 0
    out = capsys.readouterr().out
    command = out.split("  LC_ALL=C ncu", 1)[1].split("\n\n", 1)[0]
    words = shlex.split(("ncu" + command).replace("\\\n", ""))  # as a shell joins its lines
    assert words[words.index("--metrics") + 1].split(",") == list(counters.METRICS)  # one word: no blank ends the list
    assert words[-4:] == ["python", "train.py", "--steps", "3"]
    assert {f"{MATRIX}{x}.sum" for x in ("fp16", "fp16_dst_fp16", "fp16_dst_fp32", "fp8")} <= set(counters.METRICS)
    assert "finds what\n                           its own last run left" in out  # several passes: caches are warm
    assert "locks them (to base; from 2026.1 to boost)" in out
    assert "NVreg_RestrictProfilingToAdminUsers=0" in out
    assert "--cap-add SYS_ADMIN" in out
