"""Debian's chromium, for the browser tests and for printing the book: where it is, and how it is started."""

from __future__ import annotations

import shutil

#: As root, with nothing it does on its own account: the network belongs to the page.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def executable() -> str | None:
    """Path of the browser, None where there is none."""
    return shutil.which("chromium")
