"""A line of progress on a terminal; nothing where the output goes to a file or a pipe."""

from __future__ import annotations

import shutil
import sys


class Progress:
    """Rewrites one line of a terminal. ``say`` prints a line that stays, above it. Elsewhere neither shows anything."""

    def __init__(self, stream=None) -> None:
        self.stream = stream or sys.stderr
        self.shown = self.stream.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *what) -> None:
        self.clear()

    def clear(self) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def show(self, step) -> None:
        """``step``: a :class:`~.session.Step`."""
        if not self.shown:
            return
        line = f"{step.done:3d}/{step.total}  {left(step.seconds_left):>9}  {step.title}"
        width = shutil.get_terminal_size().columns - 1
        self.stream.write("\r\x1b[K" + line[:width])
        self.stream.flush()

    def say(self, line: str) -> None:
        if self.shown:
            self.clear()
            print(line, file=self.stream, flush=True)


def left(seconds: float) -> str:
    """``"12 s left"``, ``"3 min left"``: an estimate, so never to the second beyond a minute."""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left"
