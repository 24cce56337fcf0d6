"""On a real GPU only (marker ``gpu``): what cannot be shown on fakes. Not run by the project's own CI."""

import pytest

import roofcourse as rc
from roofcourse.measure import support
from roofcourse.measure.spec import Spec

torch = pytest.importorskip("torch", reason="measuring needs torch")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA or ROCm GPU on this machine"),
]


@pytest.fixture(scope="module")
def live():
    return rc.bench("local", "live", quick=True)


def test_bandwidth_reaches_nine_tenths_of_the_data_sheet(live):
    nominal = live.hardware.nominal_bandwidth
    if nominal is None:
        pytest.skip("the nominal bandwidth is not readable: pip install nvidia-ml-py")
    assert 0.90 * nominal <= live.device.bandwidth <= 1.05 * nominal


def test_waiting_is_proved(live):
    live.bandwidth("fp32")
    assert live.hardware.proof.startswith("proved")


@pytest.mark.parametrize("precision", support.PRODUCTS)
def test_every_precision_gives_a_result_or_one_line(live, precision):
    reason = None
    try:
        sweep = live.matmul_sweep(precision)
    except LookupError as refusal:
        reason = str(refusal)
    if reason is not None:
        assert "\n" not in reason
        return
    assert sweep[-1].flop_per_s > 0
    assert sweep[-1].evidence.timer == "device events"


def test_tf32_off_is_really_off(live):
    point = live._session.take(Spec("gemm", "fp32", m=1024, n=1024, k=1024))
    assert point.evidence.error < 2e-5


def test_the_fma_sweep_doubles_on_the_right_and_not_on_the_left(live):
    sweep = live.fma_sweep("fp32")
    slope, plateau = sweep.at(fma_per_element=1), sweep.at(fma_per_element=2048)
    assert slope.bytes_per_s >= 0.88 * live.device.bandwidth
    assert plateau.seconds / sweep.at(fma_per_element=1024).seconds == pytest.approx(2, rel=0.05)


def test_the_launch_line_fits(live):
    assert live.launch_overhead().r2 >= 0.99
