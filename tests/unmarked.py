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

#: (notebook and cell, or page) -> the figure as it is written -> why it has no marker
ALLOWED: dict[str, dict[str, str]] = {
    "02_arithmetic_intensity.ipynb, cell table-figure-read": {"1 FLOP/byte": "a round bound of many kernels"},
    "02_arithmetic_intensity.ipynb, cell critical-half": {"0.5 FLOP/byte": CLAIM},
    "02_arithmetic_intensity.ipynb, cell critical-numbers": {"0.2 TFLOP/s": CLAIM, "2 TB/s": CLAIM},
    "03_ridge_point.ipynb, cell nominal": {"2.0 TB/s": ROUNDED},
    "03_ridge_point.ipynb, cell nominal-read": {"2.0 TB/s": ROUNDED},
    "03_ridge_point.ipynb, cell precision": {"2.0 TB/s": ROUNDED},
    "04_measurement.ipynb, cell opening": {"3 TB/s": SIMULATED, "0.54 GB": SIMULATED},
    "04_measurement.ipynb, cell batch": {"0.04 µs": SIMULATED},
    "04_measurement.ipynb, cell batch-read": {"2 µs": SIMULATED},
    "05_m_sweep.ipynb, cell ex7": {"12 ms": GIVEN, "8 ms": GIVEN, "4 ms": GIVEN},
    "05_m_sweep.ipynb, cell ex7-solution": {"3.3 µs": "4 ms over 1,200 kernels, both given"},
    "06_prefill_decode.ipynb, cell cache": {
        "4 MB": ASKED,
        "40 MB": ASKED,
        "400 MB": ASKED,
        "4 GB": ASKED,
    },
    "06_prefill_decode.ipynb, cell ex8": {"11.2 ms": GIVEN},
    "07_limits.ipynb, cell outside": {"5 µs": CHOSEN, "20 µs": CHOSEN, "2 µs": CHOSEN},
    "07_limits.ipynb, cell outside-calls-read": {"5 µs": CHOSEN},
    "07_limits.ipynb, cell little-why": {"100 ns": CHOSEN},
    "07_limits.ipynb, cell live-chains-read": {"600 ns": "said there to be a round number, not measured"},
    "07_limits.ipynb, cell ex5": {"3 µs": GIVEN, "5 µs": GIVEN},
    "07_limits.ipynb, cell ex5-solution": {"2 ms": "400 calls of 5 µs, both given"},
    "07_limits.ipynb, cell ex7": {"600 ns": GIVEN},
    "measure.md": {"30 s": "how long a quick run may take, no measurement"},
}

#: (notebook and cell, or page) -> the figure -> (why it has no marker, the expression that gives it)
RECOMPUTED: dict[str, dict[str, tuple[str, str]]] = {
    "01_bounds.ipynb, cell ex4": {
        "280 µs": ("given in the question", 'us(h100.working_set_sweep("triad")[-1].seconds)'),
    },
    "02_arithmetic_intensity.ipynb, cell opening-read": {"805 MB": ("counted", "3 * 4 * 8192**2 / 1e6")},
    "04_measurement.ipynb, cell warm-read": {
        "4.5 µs": ("an example of wording", 'us(h100.matmul_sweep("fp16").at(m=512).seconds)')
    },
    "04_measurement.ipynb, cell critical-b-read": {"268 MB": ("a difference of two sizes", "256 * 2**20 / 1e6")},
    "06_prefill_decode.ipynb, cell opening": {
        "31 ms": ("the time before it, once more", "ms(h100.decode_step(1, 1024).prefill_seconds)"),
    },
    "06_prefill_decode.ipynb, cell cache": {
        "14 GB": ("counted earlier on the page", 'model("qwen2.5-7b").bytes_read_per_step(1, "bf16") / 1e9'),
    },
    "06_prefill_decode.ipynb, cell gap-read": {"12 ms": ("about", "ms(h100.decode_step(1, 128).seconds)")},
    "README.md": {"49.1 µs": ("alternative text of a picture", 'us(h100.m_sweep("fp16").at(m=16).seconds)')},
}
