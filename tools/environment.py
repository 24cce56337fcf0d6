"""Create .venv and install the project with the extras named, unless that has been done.

    python3 tools/environment.py book live
    python3 tools/environment.py test --chromium

Started by the system's own Python on a machine with nothing else on it, so this file uses the standard library alone.
What is installed is written to .venv/roofcourse.json together with a hash of constraints.txt and of the project's
metadata: the content decides, not a time stamp.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (3, 11)
# as in pyproject.toml: an extra that brings another
IMPLIED = {"test": {"book", "pdf"}, "pdf": {"book"}, "llm": {"live"}}
CHROMIUM = "chromium"


def digest(root: Path = ROOT) -> str:
    """What an installation depends on: pins, metadata, and where the checkout lies (its scripts hold the path)."""
    import tomllib  # not at the top: a Python too old to have it shall get main()'s message

    metadata = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [str(root), (root / "constraints.txt").read_text(encoding="utf-8")]
    parts += [json.dumps(metadata.get(table), sort_keys=True) for table in ("build-system", "project")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def wanted(extras: list[str]) -> set[str]:
    return set(extras).union(*(IMPLIED.get(e, set()) for e in extras))


def installed(venv: Path) -> dict:
    """The record of the last complete installation; empty when there is none, or when .venv itself is broken."""
    record = venv / "roofcourse.json"
    if not record.exists() or not (venv / "bin" / "python").exists():
        return {}
    return json.loads(record.read_text())


def create(venv: Path) -> None:
    print(f"creating {venv.name} with Python {sys.version.split()[0]}", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], capture_output=True, text=True)
    if made.returncode:
        shutil.rmtree(venv, ignore_errors=True)  # or the next run would find half an environment
        raise SystemExit(
            f"'{sys.executable} -m venv' failed. On Debian and Ubuntu, python3-venv brings what is missing:\n"
            "    sudo apt-get install python3-venv\n"
            f"It said: {(made.stdout + made.stderr).strip().splitlines()[-1]}"
        )


def pip(venv: Path, *arguments: str) -> None:
    """Run pip with its output in a log, and a line now and then so that a wait of a minute explains itself."""
    log = venv / "install.log"
    command = [str(venv / "bin" / "python"), "-m", "pip", "install", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--no-input", "-c", str(ROOT / "constraints.txt"), *arguments]
    found = 0
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, cwd=ROOT
        )
        for line in process.stdout:
            out.write(line)
            found += line.startswith(("Collecting ", "Processing /"))
            if found and found % 40 == 0 and line.startswith(("Collecting ", "Processing /")):
                print(f"  {found} packages found", flush=True)
            if line.startswith("Installing collected packages:") and "," in line:
                print(f"  installing {line.count(',') + 1} packages", flush=True)
    if process.wait():
        said = [line for line in log.read_text().splitlines() if line.startswith("ERROR")] or ["no reason given"]
        raise SystemExit(f"pip could not install the project (all it said: {log}):\n" + "\n".join(said[:5]))


def install(extras: list[str], venv: Path) -> None:
    record, now = installed(venv), digest()
    have = set(record.get("extras", []))
    if record.get("digest") == now and wanted(extras) <= have:
        return
    if not (venv / "bin" / "python").exists() or record.get("root", str(ROOT)) != str(ROOT):
        create(venv)
        have = set()
    everything = sorted(wanted(extras) | have)  # a changed pin must not leave an extra behind at its old version
    (venv / "roofcourse.json").unlink(missing_ok=True)
    print(f"installing what is needed for: {', '.join(everything)} (the first time takes minutes)", flush=True)
    pip(venv, "hatchling", "editables")  # the build backend first: the project then builds with no download of its own
    pip(venv, "-e", f".[{','.join(everything)}]")
    (venv / "roofcourse.json").write_text(json.dumps({"digest": now, "root": str(ROOT), "extras": everything}))


def chromium() -> None:
    """Have Debian's chromium for the browser tests and the PDF: installed through apt when root, else asked for."""
    if shutil.which(CHROMIUM):
        return
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        raise SystemExit(
            "the browser tests and the PDF need Debian's chromium, and only root can install it:\n"
            "    sudo apt-get install chromium"
        )
    print("installing Debian's chromium", flush=True)
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdin": subprocess.DEVNULL}
    for command in ([apt, "update"], [apt, "install", "-y", "--no-install-recommends", CHROMIUM]):
        done = subprocess.run(command, capture_output=True, text=True, **quiet)
        if done.returncode:
            raise SystemExit(f"'{' '.join(command)}' failed: {done.stderr.strip() or done.stdout.strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", default=["book"], help="extras of pyproject.toml")
    parser.add_argument("--chromium", action="store_true", help="also have a browser, for the tests and the PDF")
    arguments = parser.parse_args()
    if sys.version_info < NEEDED:
        raise SystemExit(
            f"Python {'.'.join(map(str, NEEDED))} or later is needed, this is {sys.version.split()[0]}: "
            "name another with 'make PYTHON=/path/to/python3.11 ...'"
        )
    install(arguments.extras, ROOT / ".venv")
    if arguments.chromium:
        chromium()


if __name__ == "__main__":
    main()
