"""Device figures in the prose that carry no marker, and why each may stand: tests/test_prose.py finds every other one.

A figure that the data or a count do give, but that stands where a marker cannot, has its expression here.
"""

from __future__ import annotations

GIVEN = "the exercise gives it"
ASKED = "one of the answers to choose from"
CHOSEN = "the text chooses it for an example, of no device"
SIMULATED = "of the simulated device, whose figures are its definition"
CLAIM = "quoted from the text under examination"
ROUNDED = "the maker's bandwidth, rounded as the text under examination rounds it"
LEFT = "what is left of what the exercise gives"
COUNTED = "counted"
SWEEP = "a size of the study's sweep"
WHOLE = "no figure: the whole, or by definition"

#: (notebook and cell, or page) -> the figure as it is written -> why it has no marker
ALLOWED: dict[str, dict[str, str]] = {
    "02_arithmetic_intensity.ipynb, cell table-figure-read": {"1 FLOP/byte": "a round bound of many kernels"},
    "02_arithmetic_intensity.ipynb, cell layer-figure-read": {"10 %": "chosen, and the rows are worked out for it"},
    "02_arithmetic_intensity.ipynb, cell critical-half": {"0.5 FLOP/byte": CLAIM},
    "02_arithmetic_intensity.ipynb, cell loops-read": {"4096 times": COUNTED, "64 times": COUNTED},
    "02_arithmetic_intensity.ipynb, cell live-wide": {"32 times": COUNTED},
    "02_arithmetic_intensity.ipynb, cell fusion-attention-read": {"8 times": "no figure: chapter 8 times something"},
    "02_arithmetic_intensity.ipynb, cell critical-numbers": {"0.2 TFLOP/s": CLAIM, "2 TB/s": CLAIM},
    "03_ridge_point.ipynb, cell nominal": {"2.0 TB/s": ROUNDED},
    "03_ridge_point.ipynb, cell nominal-read": {"2.0 TB/s": ROUNDED},
    "03_ridge_point.ipynb, cell precision": {"2.0 TB/s": ROUNDED},
    "03_ridge_point.ipynb, cell critical": {"100 percent": WHOLE},
    "03_ridge_point.ipynb, cell critical-read": {"100 percent": WHOLE},
    "04_measurement.ipynb, cell opening": {"3 TB/s": SIMULATED, "0.54 GB": SIMULATED},
    "04_measurement.ipynb, cell batch": {"0.04 µs": SIMULATED},
    "04_measurement.ipynb, cell batch-read": {"2 µs": SIMULATED},
    "04_measurement.ipynb, cell spread-read": {
        "20 %": CHOSEN,
        "10 %": "where the protocol draws the line, and an example beside it",
    },
    "04_measurement.ipynb, cell critical-b-read": {"4 GiB": CHOSEN},
    "04_measurement.ipynb, cell fma-slopes-read": {"90 %": "a line that the text draws between the cards"},
    "04_measurement.ipynb, cell live-read": {"100 %": WHOLE},
    "05_m_sweep.ipynb, cell percent-read": {"100 %": WHOLE},
    "05_m_sweep.ipynb, cell live-text": {"50 times": ASKED},
    "05_m_sweep.ipynb, cell critical-hundred": {"100 %": "an example of wording"},
    "05_m_sweep.ipynb, cell ex2": {"97 %": GIVEN},
    "05_m_sweep.ipynb, cell ex2-solution": {"3 %": LEFT},
    "05_m_sweep.ipynb, cell ex7": {"12 ms": GIVEN, "8 ms": GIVEN, "4 ms": GIVEN},
    "05_m_sweep.ipynb, cell ex7-solution": {"3.3 µs": "4 ms over 1,200 kernels, both given"},
    "06_prefill_decode.ipynb, cell cache": {
        "4 MB": ASKED,
        "40 MB": ASKED,
        "400 MB": ASKED,
        "4 GB": ASKED,
    },
    "06_prefill_decode.ipynb, cell critical-launch-read": {"32 times": "the prompts are 128 and 4096 tokens"},
    "06_prefill_decode.ipynb, cell ex6-solution": {"4096 times": "no figure: a product"},
    "06_prefill_decode.ipynb, cell ex8": {"11.2 ms": GIVEN},
    "07_limits.ipynb, cell executed-read": {"16 times": "32 rows for two"},
    "07_limits.ipynb, cell outside": {"5 µs": CHOSEN, "20 µs": CHOSEN, "2 µs": CHOSEN},
    "07_limits.ipynb, cell outside-calls-read": {"5 µs": CHOSEN},
    "07_limits.ipynb, cell little-why": {"100 ns": CHOSEN},
    "07_limits.ipynb, cell live-chains-text": {"32 times": ASKED},
    "07_limits.ipynb, cell live-chains-read": {"600 ns": "said there to be a round number, not measured"},
    "07_limits.ipynb, cell percentages": {"88 %": CHOSEN, "6 %": CHOSEN},
    "07_limits.ipynb, cell percentages-read": {"6 %": CHOSEN, "80 %": "said there to be a custom"},
    "07_limits.ipynb, cell ex5": {"3 µs": GIVEN, "5 µs": GIVEN},
    "07_limits.ipynb, cell ex5-solution": {"2 ms": "400 calls of 5 µs, both given"},
    "07_limits.ipynb, cell ex6": {"38 %": GIVEN, "12 %": GIVEN},
    "07_limits.ipynb, cell ex6-solution": {"38 %": GIVEN},
    "07_limits.ipynb, cell ex7": {"600 ns": GIVEN},
    "07_limits.ipynb, cell ex8": {"60 %": GIVEN},
    "07_limits.ipynb, cell ex8-solution": {"40 %": LEFT},
    "08_going_faster.ipynb, cell critical-sector": {"8 times": "32 over 4, as it says"},
    "08_going_faster.ipynb, cell graph": {"1 MiB": CHOSEN},
    "08_going_faster.ipynb, cell ex2": {"95 %": GIVEN},
    "08_going_faster.ipynb, cell ex7": {"2.25 times": GIVEN},
    "09_your_kernel.ipynb, cell ex3": {"30 %": GIVEN},
    "09_your_kernel.ipynb, cell ex3-solution": {
        "70 %": LEFT,
        "30 %": GIVEN,
        "7.5 %": "a quarter of the 30 that are given",
    },
    "09_your_kernel.ipynb, cell ex4": {"6 %": GIVEN, "85 %": GIVEN},
    "09_your_kernel.ipynb, cell ex5": {"45 %": GIVEN},
    "09_your_kernel.ipynb, cell ex7": {"64 %": GIVEN},
    "measure.md": {"30 s": "how long a quick run may take, no measurement"},
}

#: (notebook and cell, or page) -> the figure -> (why it has no marker, the expression that gives it)
RECOMPUTED: dict[str, dict[str, tuple[str, str]]] = {
    "01_bounds.ipynb, cell ex4": {
        "280 µs": ("given in the question", 'us(h100.working_set_sweep("triad")[-1].seconds)'),
    },
    "02_arithmetic_intensity.ipynb, cell opening": {
        "16,384 times": ("in a heading", 'rc.gemm(8192, 8192, 8192, "fp32").flop / rc.add(8192**2, "fp32").flop')
    },
    "02_arithmetic_intensity.ipynb, cell opening-read": {
        "805 MB": (COUNTED, "3 * 4 * 8192**2 / 1e6"),
        "16,384 times": (COUNTED, 'rc.gemm(8192, 8192, 8192, "fp32").flop / rc.add(8192**2, "fp32").flop'),
    },
    "04_measurement.ipynb, cell warm-read": {
        "4.5 µs": ("an example of wording", 'us(h100.matmul_sweep("fp16").at(m=512).seconds)')
    },
    "04_measurement.ipynb, cell sweep": {
        "64 MiB": ("stated by the maker", "rtx4080.l2_bytes / 2**20"),
        "512 MiB": (SWEEP, 'rtx4080.working_set_sweep("copy")[-1].work.bytes / 2**20'),
    },
    "04_measurement.ipynb, cell sweep-read": {
        "32 MiB": (SWEEP, 'rtx4080.working_set_sweep("copy")[4].work.bytes / 2**20'),
        "128 MiB": (SWEEP, 'rtx4080.working_set_sweep("copy")[5].work.bytes / 2**20'),
    },
    "04_measurement.ipynb, cell critical-l2-read": {
        "8 MiB": (SWEEP, 'h200.working_set_sweep("copy")[3].work.bytes / 2**20'),
        "32 MiB": (SWEEP, 'h200.working_set_sweep("copy")[4].work.bytes / 2**20'),
    },
    "04_measurement.ipynb, cell critical-b": {
        "512 MiB": (SWEEP, '4 * h100.working_set_sweep("read_reduce")[-1].elements / 2**20'),
        "256 MiB": (SWEEP, '4 * h100.working_set_sweep("read_reduce")[-2].elements / 2**20'),
    },
    "04_measurement.ipynb, cell critical-b-read": {
        "268 MB": ("a difference of two sizes", "256 * 2**20 / 1e6"),
        "5 %": ("about: the upper end for most cards", "100 * (read_slope(h200) / h200.bandwidth - 1)"),
    },
    "04_measurement.ipynb, cell critical-ratio-read": {
        "100 %": (
            "by the makers' figures",
            '100 * mi210.nominal("fp64", path="vector").peak / mi210.nominal("fp32", path="vector").peak',
        ),
        "73 %": (
            "quoted from the text under examination, where it has a marker",
            '100 * mi100.roofline("fp64", path="vector").peak / mi100.roofline("fp32", path="vector").peak',
        ),
    },
    "06_prefill_decode.ipynb, cell opening": {
        "31 ms": ("the time before it, once more", "ms(h100.decode_step(1, 1024).prefill_seconds)"),
    },
    "06_prefill_decode.ipynb, cell cache": {
        "14 GB": ("counted earlier on the page", 'model("qwen2.5-7b").bytes_read_per_step(1, "bf16") / 1e9'),
    },
    "06_prefill_decode.ipynb, cell gap-read": {"12 ms": ("about", "ms(h100.decode_step(1, 128).seconds)")},
    "07_limits.ipynb, cell above-edge": {"64 MiB": (COUNTED, "8192**2 / 2**20")},
    "07_limits.ipynb, cell little-why": {
        "1.4 times": (
            "the upper end of a range over the cards",
            '64 / 4 / a100.roofline("fp32", path="vector").ridge_point',
        )
    },
    "08_going_faster.ipynb, cell attention-live-read": {"256 MiB": (COUNTED, "2 * 4 * 8 * 2048**2 / 2**20")},
    "08_going_faster.ipynb, cell block-read": {"1 MiB": (COUNTED, "4 * 512**2 / 2**20")},
    "09_your_kernel.ipynb, cell opening-predict": {"64 MiB": (COUNTED, "4 * 4096**2 / 2**20")},
    "09_your_kernel.ipynb, cell place-softmax-read": {"64 MiB": (COUNTED, "4 * 4096**2 / 2**20")},
    "09_your_kernel.ipynb, cell improve-memory": {"64 MiB": (COUNTED, "4 * 4096**2 / 2**20")},
    "09_your_kernel.ipynb, cell improve-read": {"64 MiB": (COUNTED, "4 * 4096**2 / 2**20")},
    "README.md": {"49.1 µs": ("alternative text of a picture", 'us(h100.m_sweep("fp16").at(m=16).seconds)')},
}
