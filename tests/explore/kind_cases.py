"""What the tests of all kinds of explorer ask of each: states, ways through the controls, links."""

from __future__ import annotations

import random
from itertools import combinations, product

import roofcourse as rc
from roofcourse.explore import kinds
from roofcourse.explore.kinds import bounds, decode, intensity, levers, measurement, ridge

DEVICES = [d.key for d in rc.devices()]
PRECISIONS = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4"]


# ---- states whose values a browser and Python have to agree on: several hundred a kind


def sweep_states() -> list[dict]:
    """Every device and precision (measured or not) at measured, unmeasured and odd M."""
    dice = random.Random(1)
    return [
        {"device": d, "precision": p, "m": m}
        for d in DEVICES
        for p in PRECISIONS
        for m in [1, 2, 16, 64, 512, 2048, 4096, 8192, dice.randint(1, 8192)]
    ]


def bounds_states() -> list[dict]:
    dice = random.Random(2)
    states = []
    for _ in range(300):
        flop, moved = 10 ** dice.uniform(6, 15), 10 ** dice.uniform(3, 12)
        states.append(
            {"flop": flop, "bytes": moved, "device": dice.choice(DEVICES), "precision": dice.choice(PRECISIONS)}
        )
    for d in rc.devices():  # at the ridge point and just beside it
        for p in d.precisions:
            flop = d.roofline(p).ridge_point * 1e9
            states += [{"flop": flop * f, "bytes": 1e9, "device": d.key, "precision": p} for f in (1, 1.02, 0.98)]
    return states


def intensity_states() -> list[dict]:
    dice = random.Random(4)
    states = []
    for d, p, _ in product(DEVICES, PRECISIONS, range(5)):
        m, n, k = (round(2 ** dice.uniform(0, 14)) for _ in range(3))
        states.append({"device": d, "precision": p, "m": m, "n": n, "k": k})
    states += [{"precision": p, "m": size, "n": size, "k": size} for size in (1, 128, 16384) for p in PRECISIONS]
    # Around the ridge point of an H100 in FP16, at M = 272: equal within 1 %, and just beside it.
    return states + [{"m": m} for m in range(262, 283)]


def ridge_states() -> list[dict]:
    dice = random.Random(3)
    names = [ridge.name_of(r) for d in rc.devices() for r in d.ceilings()]
    states = [
        {"roofs": p["roofs"], "intensity": at} for p in ridge.presets() for at in (0.1, 1.0, 10.0, 50.0, 255.0, 1e4)
    ]
    for _ in range(320):
        roofs = dice.sample(names, dice.randint(1, 12))
        states.append({"roofs": roofs, "intensity": float(f"{10 ** dice.uniform(-1, 4):.3g}")})
    for name in names:  # at the ridge point itself, against another card
        at = kinds.get("ridge").compute(kinds.complete("ridge", {"roofs": name}))["ridge_point"]
        if 0.1 <= at <= 1e4:
            states.append({"roofs": list(dict.fromkeys([name, "h100.fp16"])), "intensity": at})
    return states


def measurement_states() -> list[dict]:
    return [
        {"kernel": kernel, "device": d, "point": point}
        for d in DEVICES
        for kernel, _, _ in measurement.KERNELS
        for point in range(1, 13)
    ]


def decode_states() -> list[dict]:
    dice = random.Random(6)
    states = [
        {"device": d, "batch": b, "prompt_length": p}
        for d, found in decode.measured()["steps"].items()
        for b, p, _ in found
    ]
    for model, weights, _ in product([m["key"] for m in decode.spec()["models"]], decode.WEIGHTS, range(5)):
        states.append({
            "model": model, "weight_precision": weights, "device": dice.choice(DEVICES),
            "batch": round(2 ** dice.uniform(0, 12)), "prompt_length": round(2 ** dice.uniform(0, 17)),
            "kv_precision": dice.choice(list(decode.CACHES)),
        })  # fmt: skip
    return states


def padding_states() -> list[dict]:
    dice = random.Random(7)
    return [
        {"m": m, "tile": dice.choice(kinds.get("padding").TILES), "precision": p, "device": d}
        for d in DEVICES
        for p in PRECISIONS
        for m in (1, 2, 16, 32, 64, 128, 1024, dice.randint(1, 1024))
    ]


def levers_states() -> list[dict]:
    dice = random.Random(8)
    return [
        {"device": d, "kernel": start.name, "levers": list(chosen), "reaches": dice.choice(levers.REACHES)}
        for d in DEVICES
        for start in levers.KERNELS
        for size in (0, 1, 2, len(start.levers))
        for chosen in combinations(start.levers, size)
    ]


STATES = {
    "bounds": bounds_states,
    "decode": decode_states,
    "intensity": intensity_states,
    "levers": levers_states,
    "m_sweep": sweep_states,
    "measurement": measurement_states,
    "padding": padding_states,
    "ridge": ridge_states,
}


# ---- ways through the controls: what each is set to, one after the other


def grid(**controls) -> list[dict]:
    """All combinations, the last control changing fastest."""
    return [dict(zip(controls, values, strict=True)) for values in product(*controls.values())]


def levers_moves() -> list[dict]:
    moves = []
    for device, start in product(("h100", "b300", "rtx4080", "mi210"), levers.KERNELS):
        moves.append({"device": device, "kernel": start.name})
        moves += [{f"lever{i}": True} for i in range(1, len(start.levers) + 1)]
    return moves


MOVES = {
    "bounds": [
        {**one, **other}
        for one in ({"device": "h100", "precision": "fp16"}, {"device": "rtx4080", "precision": "fp64"},
                    {"device": "mi210", "precision": "fp8_e4m3"})
        for other in [*({"kernel": str(i)} for i in range(len(bounds.kernels()))),
                      *grid(flop=(0, 50, 100, 150, 450, 400), bytes=(0, 50, 100, 150, 450, 400))]
    ],
    "decode": [
        *grid(model=("gpt2", "qwen2.5-7b", "deepseek-v3"), device=("h100", "rtx4080", "b300"),
              batch_exact=(1, 16, 300, 4096), prompt_length_exact=(1, 1024, 131072)),
        {"weight_precision": "mxfp4"},
        {"model": "qwen2.5-7b"},
    ],
    "intensity": [
        {"device": device, "precision": precision, "shape": str(i)}
        for device, precision in (("h100", "fp16"), ("v100-32-pcie", "fp64"), ("b300", "nvfp4"), ("b300", "fp64"),
                                  ("mi210", "nvfp4"))
        for i in range(len(intensity.SHAPES))
    ],
    "levers": levers_moves(),
    "m_sweep": grid(device=DEVICES, precision=("fp64", "fp32", "fp16", "fp8_e4m3", "nvfp4"),
                    m_exact=(1, 16, 256, 4096, 8192)),
    "measurement": grid(device=DEVICES, kernel=("copy", "fma_fp32", "fma_fp64"), point=(0, 4, 23)),
    "padding": grid(device=DEVICES, precision=("fp64", "fp32", "fp16", "nvfp4"), tile=(1, 32, 256)),
    "ridge": grid(preset=[str(i) for i in range(len(ridge.presets()))], intensity=(0, 125, 250)),
}  # fmt: skip


# ---- a link to a state, and one of which a part is wrong

LINKS = {
    "bounds": ("flop=1000000000&bytes=3000000&precision=bf16&device=a100", "flop", "-3"),
    "decode": (
        "model=llama-3.1-8b&device=a100&batch=3&prompt_length=77&weight_precision=int8&kv_precision=fp8_e4m3",
        "batch",
        "9999",
    ),
    "intensity": ("m=3&n=500&k=16384&precision=bf16&device=a100", "m", "0"),
    "levers": ("kernel=layer&device=h200&reaches=100&levers=rows16~fp8", "levers", "luck"),
    "m_sweep": ("m=64&precision=bf16&device=h200", "m", "8193"),
    "measurement": ("kernel=fma_fp64&device=a100&point=11", "kernel", "swap"),
    "padding": ("m=48&tile=128&precision=fp32&device=h100", "tile", "7"),
    "ridge": ("intensity=50&roofs=a100.fp32.vector~a100.tf32~a100.fp16", "intensity", "-5"),
}

# ---- states to look at closely, with everything unfolded

CLOSE = [
    ("m_sweep", {}),
    ("m_sweep", {"device": "b300", "precision": "nvfp4", "m": 8192}),
    ("m_sweep", {"device": "mi210", "precision": "fp8"}),
    ("bounds", {}),
    ("bounds", {"flop": 1e15, "bytes": 1e6}),
    ("intensity", {"m": 8192, "precision": "nvfp4", "device": "b300"}),
    ("ridge", {"roofs": ridge.presets()[2]["roofs"]}),
    ("measurement", {"kernel": "copy", "point": 4}),
    ("measurement", {"kernel": "fma_fp32", "point": 4}),
    ("decode", {}),
    ("padding", {}),
    ("levers", {"levers": "deep~half~matrix~better"}),
]
