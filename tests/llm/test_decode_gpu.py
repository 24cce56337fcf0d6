"""Decode steps on a real GPU only (marker ``gpu``): modes that fakes cannot show. Not run by the project's own CI."""

import pytest

import roofcourse as rc
from roofcourse.llm.decode import DecodeSession
from roofcourse.measure.device import open_device
from roofcourse.measure.stopping import QUICK

torch = pytest.importorskip("torch", reason="measuring needs torch")
pytest.importorskip("transformers", reason="a decode step needs transformers")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA or ROCm GPU on this machine"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def steps():
    """One small model in every mode."""
    bench = rc.bench("local", "live", quick=True)
    model = rc.llm.model("qwen2.5-0.5b").with_layers(8)
    session = DecodeSession(model, open_device(), bench.device, precision="bf16", rule=QUICK)
    for mode in ("eager", "static", "graph", "compiled"):
        session.take(1, 512, mode)
    assert session.refusals == {}
    return {x.mode: x for x in session.steps}


def test_every_mode_runs_and_none_beats_its_bound(steps):
    assert len(steps) == 4
    assert [x.suspect for x in steps.values()] == [None] * 4
    assert all(x.timer == "device events" for x in steps.values())


def test_a_graph_leaves_little_outside_kernels(steps):
    assert steps["graph"].seconds < steps["static"].seconds
    assert steps["graph"].outside_seconds < 0.3 * steps["graph"].seconds


def test_a_graph_runs_the_same_kernels(steps):
    assert steps["graph"].kernel_seconds == pytest.approx(steps["static"].kernel_seconds, rel=0.2)
