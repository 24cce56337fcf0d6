"""Files of results: where one is to be written, looked at before anything is measured for it; and one read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without it two writers at the same instant are not kept apart
    fcntl = None


def check_output(path: str | os.PathLike) -> None:
    """Raises ``OSError`` in one line, naming ``path``, unless a file can be made, or replaced, there.

    A file is replaced by renaming a new one, so that the folder decides; of a symbolic link that of its target.
    """
    path = Path(path)
    folder = path.resolve().parent
    shown = folder if path.is_symlink() else path.parent
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {shown}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{path}: the folder {shown} cannot be written to: choose another")


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """One writer of the file at ``path`` at a time, so that two commands that save at once keep what both have."""
    if fcntl is None:
        yield
        return
    folder = os.open(path.resolve().parent, os.O_RDONLY)  # the folder: the file itself is replaced on every write
    try:
        with suppress(OSError):  # a file system without locks, as some that clusters share: as on Windows
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)  # gives the lock back


def read_text(path: str | os.PathLike, what: str, encoding: str = "utf-8") -> str:
    """The text of a file that should be ``what``, such as "a run file".

    Raises ``ValueError`` in one line where there is none or a folder, ``UnicodeDecodeError`` for what is no text.
    """
    try:
        return Path(path).read_text(encoding=encoding)
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not {what}") from None
