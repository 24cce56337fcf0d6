"""Files of results: where one is to be written, looked at before anything is measured for it; and one read."""

from __future__ import annotations

import os
from pathlib import Path


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
