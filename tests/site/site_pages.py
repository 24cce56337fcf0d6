"""What the site consists of, read from the book's sources."""

from __future__ import annotations

from pathlib import Path

import yaml

import roofcourse as rc

ROOT = Path(__file__).resolve().parents[2]


def contents() -> list[str]:
    """Pages of the table of contents, in its order, as paths of HTML files."""
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())
    files = [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]
    return [f"{file}.html" for file in files]


PAGES = contents()
OWN = ["search.html"]  # what Sphinx adds

# The explorers of each page and the controls of each: one that vanished, or came unannounced, is a failure.
EXPLORERS = {
    "index.html": ["m_sweep"],
    "notebooks/01_bounds.html": ["bounds"],
    "notebooks/02_arithmetic_intensity.html": ["intensity"],
    "notebooks/03_ridge_point.html": ["ridge"],
    "notebooks/04_measurement.html": ["measurement"],
    "notebooks/05_m_sweep.html": ["m_sweep", "m_sweep"],  # the second one stands in the place of the live panel
    "notebooks/06_prefill_decode.html": ["decode"],
    "notebooks/07_limits.html": ["padding"],
    "notebooks/08_going_faster.html": ["levers"],
    "notebooks/09_your_kernel.html": ["m_sweep"],
}


def roofs() -> list[str]:
    """The boxes of the ridge explorer: one for each measured ceiling."""
    ceilings = [ceiling for device in rc.devices() for ceiling in device.ceilings()]
    return [f"{c.device}.{c.precision}" + (".vector" if c.path == "vector" else "") for c in ceilings]


CONTROLS = {
    "m_sweep": ["m", "m_exact", "precision", "device", "run"],
    "bounds": ["kernel", "precision", "device", "flop", "bytes", "run"],
    "intensity": ["shape", "precision", "device", "m", "m_exact", "n", "n_exact", "k", "k_exact", "run"],
    "ridge": ["preset", "intensity", *roofs(), "run"],
    "measurement": ["kernel", "device", "point", "run"],
    "levers": ["kernel", "device", "reaches", "lever1", "lever2", "lever3", "lever4", "lever5", "run"],
    "decode": [
        "model",
        "device",
        "weight_precision",
        "kv_precision",
        "batch",
        "batch_exact",
        "prompt_length",
        "prompt_length_exact",
        "run",
    ],
    "padding": ["m", "m_exact", "tile", "precision", "device", "run"],
}
