"""TF32 is switched for products and convolutions alike, by torch's old switches or its new ones, and put back."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="measuring needs torch")

from roofcourse.measure.settings import measuring, tf32  # noqa: E402

products, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn


@pytest.fixture
def new():
    """The new switch of products is set: torch refuses to read the old one from then on."""
    if not hasattr(products, "fp32_precision"):
        pytest.skip("this torch has the old switches only")
    before = products.fp32_precision
    products.fp32_precision = "tf32"
    yield
    products.fp32_precision = before
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("allowed", [True, False])
def test_the_old_switches(monkeypatch, allowed):
    monkeypatch.setattr(convolutions, "allow_tf32", allowed)
    assert tf32(torch) == (False, allowed)
    with measuring(torch, "fp32"):
        assert (torch.get_float32_matmul_precision(), convolutions.allow_tf32) == ("highest", False)
        assert tf32(torch) == (False, False)
    with measuring(torch, "tf32"):
        assert (torch.get_float32_matmul_precision(), convolutions.allow_tf32) == ("high", True)
        assert tf32(torch) == (True, True)
    assert (torch.get_float32_matmul_precision(), convolutions.allow_tf32) == ("highest", allowed)


def test_the_new_switches(new):
    with pytest.raises(RuntimeError, match="mix of the legacy and new"):
        torch.get_float32_matmul_precision()
    mkldnn = torch.backends.mkldnn.matmul
    before = convolutions.conv.fp32_precision, convolutions.rnn.fp32_precision, mkldnn.fp32_precision
    assert tf32(torch) == (True, True)
    for precision, switch in (("fp32", "ieee"), ("tf32", "tf32"), ("bf16", "ieee")):
        with measuring(torch, precision):
            assert (products.fp32_precision, convolutions.conv.fp32_precision) == (switch, switch)
            assert (convolutions.rnn.fp32_precision, mkldnn.fp32_precision) == (switch, switch)
            assert torch.is_inference_mode_enabled()
        assert products.fp32_precision == "tf32"
        assert (convolutions.conv.fp32_precision, convolutions.rnn.fp32_precision, mkldnn.fp32_precision) == before
    products.fp32_precision = "ieee"
    assert tf32(torch) == (False, True)


def test_new_switches_are_put_back_when_it_fails(new):
    with pytest.raises(KeyError), measuring(torch, "fp32"):
        raise KeyError
    assert products.fp32_precision == "tf32"
