"""The pinned versions, and the tool that installs them."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import environment
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
DEBIAN_12 = "3.11.2"  # the oldest Python that the two commands are promised on
EXTRAS = ("live", "llm", "book", "pdf", "test")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    """Version by name; a line that is no exact pin is a failure."""
    pins = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, version = re.fullmatch(r"([A-Za-z0-9_.-]+)==([0-9][0-9a-z.]*)", line).groups()
            assert normal(name) not in pins, f"{name} is pinned twice"
            pins[normal(name)] = version
    return pins


def direct() -> set[str]:
    """Names of what pyproject.toml asks for, in the package and in the extras that the tests install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(r for e in EXTRAS for r in project["optional-dependencies"][e])]
    return {normal(Requirement(r).name) for r in asked} - {"roofcourse", "triton"}  # torch for CUDA pins triton itself


def closure() -> dict[str, importlib.metadata.Distribution]:
    """Every installed distribution that the project's extras bring, directly or not."""
    found, seen, queue = {}, set(), [("roofcourse", frozenset(EXTRAS))]
    while queue:
        name, extras = queue.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found[name] = importlib.metadata.distribution(name)
        for requirement in map(Requirement, found[name].requires or []):
            marker = requirement.marker
            wanted = marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras))
            # torch for a GPU brings the vendor's libraries, each pinned by torch itself
            if wanted and not requirement.name.startswith(("nvidia-", "cuda-", "triton")):
                queue.append((normal(requirement.name), frozenset(requirement.extras)))
    del found["roofcourse"]
    return found


def test_torch_is_pinned_exactly():
    assert pinned()["torch"] == "2.13.0"


def test_everything_that_the_tests_install_is_pinned_at_the_installed_version():
    pins = pinned()
    installed = {name: d.version.split("+")[0] for name, d in closure().items()}
    assert len(installed) > 100  # the walk really walked
    assert {name: pins.get(name) for name in installed} == installed


def test_every_pin_is_needed():
    assert set(pinned()) <= set(closure())


def test_every_pin_installs_on_debian_12():
    for name, distribution in closure().items():
        supported = distribution.metadata.get("Requires-Python")
        assert not supported or DEBIAN_12 in SpecifierSet(supported), f"{name} {distribution.version} needs {supported}"


def test_conda_environment_names_the_same_versions():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    (lines,) = (entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    assert "-c constraints.txt" in lines  # for everything else
    versions = dict(line.split("==") for line in lines if not line.startswith("-"))
    assert {normal(name): version for name, version in versions.items()} == {n: pinned()[n] for n in direct()}


# --- tools/environment.py ---------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose installations are recorded instead of made."""
    (tmp_path / "constraints.txt").write_text("numpy==2.4.6\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    steps = []

    def create(venv):
        steps.append("create")
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        (venv / "bin" / "python").touch()

    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "create", create)
    monkeypatch.setattr(environment, "pip", lambda venv, *what: steps.append(what[-1]))
    monkeypatch.setattr(environment.digest, "__defaults__", (tmp_path,))

    def install(*extras):
        steps.clear()
        environment.install(list(extras), tmp_path / ".venv")
        return list(steps)

    return tmp_path, install


def test_installs_once(project):
    _, install = project
    assert install("book") == ["create", "editables", ".[book]"]
    assert install("book") == []


def test_test_extra_brings_book_and_what_was_there_stays(project):
    _, install = project
    install("live", "test")
    assert install("book") == []
    assert install("book", "live") == []


def test_another_extra_is_added_to_the_ones_there(project):
    _, install = project
    install("book")
    assert install("live") == ["editables", ".[book,live]"]


@pytest.mark.parametrize(
    ("name", "text"), [("constraints.txt", "numpy==2.4.7\n"), ("pyproject.toml", "[project]\nversion = '2'\n")]
)
def test_changed_pins_install_again_with_all_extras(project, name, text):
    root, install = project
    install("book", "live")
    (root / name).write_text(text)
    assert install("book") == ["editables", ".[book,live]"]
    assert install("book") == []


def test_what_no_installation_depends_on_installs_nothing(project):
    root, install = project
    install("book")
    (root / "constraints.txt").touch()
    (root / "pyproject.toml").write_text("[project]\n[tool.ruff]\nline-length = 100\n")
    assert install("book") == []


def test_checkout_that_moved_gets_a_new_environment(project):
    root, install = project
    install("book")
    record = root / ".venv" / "roofcourse.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "root": "/elsewhere", "digest": "old"}))
    assert install("book") == ["create", "editables", ".[book]"]


def test_interrupted_installation_is_repeated(project, monkeypatch):
    _, install = project

    def fail(venv, *what):
        raise SystemExit("no network")

    with monkeypatch.context() as broken:
        broken.setattr(environment, "pip", fail)
        with pytest.raises(SystemExit):
            install("book")
    assert install("book") == ["editables", ".[book]"]


def test_missing_venv_module_is_explained(tmp_path, monkeypatch):
    """Debian's python3 has no ensurepip until python3-venv is installed."""
    debian = tmp_path / "python3"
    debian.write_text("#!/bin/sh\necho 'Error: ensurepip is not available'\nexit 1\n")
    debian.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(debian))
    with pytest.raises(SystemExit, match="sudo apt-get install python3-venv\nIt said: Error: ensurepip"):
        environment.create(tmp_path / ".venv")
    assert not (tmp_path / ".venv").exists()


def test_missing_browser_is_explained_to_who_is_not_root(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match="sudo apt-get install chromium"):
        environment.chromium()


def test_old_python_is_refused(monkeypatch):
    monkeypatch.setattr(environment.sys, "version_info", (3, 10, 12))
    monkeypatch.setattr(environment.sys, "argv", ["environment.py", "book"])
    with pytest.raises(SystemExit, match=r"Python 3\.11 or later is needed"):
        environment.main()


def test_make_alone_prints_help():
    done = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    for target in ("book", "test", "serve", "lab", "measure", "check", "clean", "help"):
        assert f"make {target} " in done.stdout
