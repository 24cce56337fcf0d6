"""The wheel: complete, small in what it needs, and at home on the newer Pythons."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# A program in this environment's own site-packages; a wheel's tests must not see the checkout.
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}

MODEL = """
import sys
import roofcourse as rc
assert "site-packages" in rc.__file__, rc.__file__
assert len(rc.devices()) == 12
roof = rc.device("h100").roofline("fp16")
assert abs(roof.ridge_point - 255.3) < 0.1, roof.ridge_point
assert rc.device("rtx4080").m_sweep("fp8")[0].m == 16
assert roof.bound(rc.gemm(16, 8192, 8192, "fp16")) == "memory"
html = rc.explore.static_html("m_sweep", {"m": 16, "precision": "fp16", "device": "h100"})
assert 'data-rc-explorer="m_sweep"' in html and "<svg" in html
assert len(rc.explore.bundle()) > 1000 and ".rc-explorer" in rc.explore.css()
for heavy in ("torch", "matplotlib", "anywidget", "pandas", "IPython"):
    assert heavy not in sys.modules, heavy
print("model, data and front end: fine")
"""

CHART = """
import importlib.util, sys
assert importlib.util.find_spec("torch") is None
import matplotlib
matplotlib.use("svg")
import roofcourse as rc
h100 = rc.device("h100")
figure = rc.plot.roofline(h100.roofline("fp16"), h100.m_sweep("fp16"))
figure = getattr(figure, "figure", figure)
figure.savefig(sys.argv[1])
assert "torch" not in sys.modules
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built with no download from a copy of the tree (a build leaves nothing behind in the checkout)."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*command, "-w", str(out), str(ROOT)], check=True, env=CLEAN)
    (built,) = out.glob("roofcourse-*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel, tmp_path_factory) -> Path:
    """An empty environment that holds the wheel, numpy and matplotlib. Tests have no network, so the two come from
    this environment: a .pth file could not leave torch out, so each distribution is linked on its own."""
    venv = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    packages = site_packages(venv / "bin" / "python")
    subprocess.run([*pip_into(venv), "--no-index", "--no-deps", str(wheel)], check=True, env=CLEAN)
    for distribution in ("numpy", "matplotlib", "contourpy", "cycler", "fonttools", "kiwisolver", "packaging",
                         "pillow", "pyparsing", "python-dateutil", "six"):  # fmt: skip
        link(distribution, packages)
    return venv / "bin" / "python"


def pip_into(venv: Path) -> list[str]:
    """This environment's pip, installing into another one: a pip of its own would take longer than the test."""
    python = str(venv / "bin" / "python")
    return [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile"]


def site_packages(python: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def link(distribution: str, target: Path) -> None:
    """Link the top-level files and folders of an installed distribution into another environment."""
    import importlib.metadata

    found = importlib.metadata.distribution(distribution)
    for name in {file.parts[0] for file in found.files if file.parts[0] not in ("..", "__pycache__")}:
        if not (target / name).exists():
            (target / name).symlink_to(Path(found.locate_file(name)))


def run(python: Path, code: str, *arguments: str) -> str:
    done = subprocess.run(
        [python, "-I", "-c", code, *arguments], capture_output=True, text=True, env=CLEAN, cwd=python.parent
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_holds_package_data_and_front_end(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {f"roofcourse/data/{p.relative_to(ROOT / 'data')}" for p in (ROOT / "data").rglob("*") if p.is_file()}
    package = {str(p.relative_to(ROOT / "src")) for p in (ROOT / "src").rglob("*") if p.is_file()}
    package = {name for name in package if "__pycache__" not in name}
    assert data | package <= names
    metadata = {name for name in names if ".dist-info/" in name}
    assert names == data | package | metadata  # and nothing else


def test_wheel_needs_numpy_only(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    required = [line for line in archive.read(name).decode().splitlines() if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=1.26"]


def test_wheel_works_in_an_empty_environment(elsewhere):
    assert "fine" in run(elsewhere, MODEL)


def test_wheel_draws_a_chart_without_torch(elsewhere, tmp_path):
    run(elsewhere, CHART, str(tmp_path / "chart.svg"))
    assert "<svg" in (tmp_path / "chart.svg").read_text()


def test_wheel_has_the_command(elsewhere):
    command = [elsewhere.with_name("roofcourse"), "devices"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True, env=CLEAN).stdout
    assert "H100" in listing
    assert "RTX 4080" in listing


def find_python(version: str) -> str | None:
    """A Python of this version that works: on the path, or one of pyenv's."""
    for candidate in (shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        if candidate and subprocess.run([candidate, "--version"], capture_output=True).returncode == 0:
            return str(candidate)
    return None


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_package_without_torch_on_a_newer_python(wheel, tmp_path, version):
    python = find_python(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    venv = tmp_path / "venv"
    subprocess.run([python, "-m", "venv", "--without-pip", str(venv)], check=True)
    pins = ["-c", str(ROOT / "constraints.txt"), "--only-binary", ":all:"]
    done = subprocess.run([*pip_into(venv), *pins, str(wheel), "matplotlib"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"numpy for Python {version} cannot be had (no network?)")
    assert "fine" in run(venv / "bin" / "python", MODEL)
    run(venv / "bin" / "python", CHART, str(tmp_path / "chart.svg"))


def test_source_archive_is_complete(tmp_path):
    """Who has the archive can build, test and read everything: all that git tracks is in it."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = {name for name in listing.splitlines() if (ROOT / name).exists()}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=CLEAN)
    (archive,) = tmp_path.glob("roofcourse-*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
    assert tracked <= names


def needed(*names: str) -> set[str]:
    """Distributions that these need, themselves included."""
    import importlib.metadata

    from packaging.requirements import Requirement

    found: set[str] = set()
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            asked = map(Requirement, importlib.metadata.distribution(name).requires or [])
            queue += [r.name for r in asked if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def test_downloaded_notebook_runs_where_only_the_package_is(elsewhere, tmp_path, monkeypatch):
    """What the download of chapter 1 says first is enough: the wheel, matplotlib, anywidget, Jupyter."""
    import json

    import downloads
    import nbformat
    import papermill
    import run_notebooks

    for distribution in sorted(needed("ipykernel", *downloads.ALSO.split())):
        link(distribution, site_packages(elsewhere))
    page = json.loads((ROOT / "notebooks" / "01_bounds.ipynb").read_text(encoding="utf-8"))
    install = downloads.first_cell(wheel="roofcourse-0.1.0-py3-none-any.whl")
    (tmp_path / "download.ipynb").write_text(json.dumps(downloads.alone(page, "notebooks", install)))
    spec = tmp_path / "jupyter" / "kernels" / "elsewhere"
    spec.mkdir(parents=True)
    command = [str(elsewhere), "-I", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "elsewhere", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    papermill.execute_notebook(
        str(tmp_path / "download.ipynb"), str(tmp_path / "ran.ipynb"), cwd=str(tmp_path), kernel_name="elsewhere",
        progress_bar=False, log_output=False, start_timeout=run_notebooks.START_SECONDS, config=run_notebooks.KERNEL,
    )  # fmt: skip
    cells = nbformat.read(tmp_path / "ran.ipynb", as_version=4).cells
    printed = "".join(o.get("text", "") for c in cells if c.cell_type == "code" for o in c.outputs)
    assert "traffic     Q/B = 174 µs" in printed
    assert not [o for c in cells if c.cell_type == "code" for o in c.outputs if o.get("name") == "stderr"]
