"""The adapter to torch: on the real CPU, and on a torch that pretends to have GPUs (its arrays stay on the CPU)."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="measuring needs torch")

from roofcourse.measure import checks, device, kernels, machine, plan, support, telemetry  # noqa: E402
from roofcourse.measure.spec import MOVING, Spec  # noqa: E402
from roofcourse.measure.support import Unavailable  # noqa: E402
from roofcourse.measure.torch_device import SMALLEST_FLUSH, TorchDevice, kinds  # noqa: E402


class Event:
    """A device event whose device is always 1 ms behind the last one."""

    clock = 0.0

    def __init__(self, enable_timing):
        assert enable_timing
        self.at = None

    def record(self):
        Event.clock += 1.0
        self.at = Event.clock

    def elapsed_time(self, end):
        return end.at - self.at


def pretend(cuda=None, xpu=None, mps=False, hip=None):
    """``torch``, with these devices. A device is what ``get_device_properties`` gives."""

    def backend(properties):
        return SimpleNamespace(
            is_available=lambda: properties is not None,
            get_device_properties=lambda index: properties,
            synchronize=lambda: None,
            Event=Event,
            mem_get_info=lambda index: (4 * 2**30, 8 * 2**30),
            empty_cache=lambda: None,
            clock_rate=lambda index: 1700,
            power_draw=lambda index: 300_000,
            temperature=lambda index: (_ for _ in ()).throw(RuntimeError("no sensor")),
        )

    class Torch:
        version = SimpleNamespace(cuda=None if hip else "13.0", hip=hip, xpu="2026")
        backends = SimpleNamespace(
            cpu=torch.backends.cpu,
            cuda=torch.backends.cuda,
            cudnn=torch.backends.cudnn,
            mkl=torch.backends.mkl,
            mkldnn=torch.backends.mkldnn,
            mps=SimpleNamespace(is_available=lambda: mps, is_built=lambda: mps),
        )

        def __getattr__(self, name):
            return getattr(torch, name)

    out = Torch()
    out.cuda, out.xpu = backend(cuda), backend(xpu)
    out.mps = SimpleNamespace(
        synchronize=lambda: None,
        empty_cache=lambda: None,
        recommended_max_memory=lambda: 2**34,
        current_allocated_memory=lambda: 2**33,
    )
    return out


H100 = SimpleNamespace(
    name="NVIDIA H100",
    major=9,
    minor=0,
    L2_cache_size=50 * 2**20,
    uuid="1-2",
    total_memory=8e10,
    multi_processor_count=132,
)
MI300X = SimpleNamespace(
    name="AMD Instinct MI300X", gcnArchName="gfx942:sramecc+:xnack-", major=9, minor=4, L2_cache_size=4 * 2**20
)


def on_the_cpu(fake_torch, kind):
    out = TorchDevice(fake_torch, kind)
    out.place = "cpu"  # where its arrays really are
    return out


def test_kinds_best_first():
    assert kinds(pretend()) == ("cpu",)
    assert kinds(pretend(cuda=H100)) == ("cuda", "cpu")
    assert kinds(pretend(cuda=MI300X, hip="7.0")) == ("rocm", "cpu")
    assert kinds(pretend(xpu=H100, mps=True)) == ("xpu", "mps", "cpu")


def test_a_missing_device_says_what_is_needed():
    assert device.missing(pretend(), "cuda", ("cpu",)) == (
        "cuda needs an NVIDIA GPU: torch sees no such device (is its driver installed?); available here: cpu"
    )
    assert "is not a ROCm build of torch" in device.missing(pretend(), "rocm", ("cpu",))
    assert "is not torch for macOS" in device.missing(pretend(), "mps", ("cpu",))
    with pytest.raises(Unavailable, match="unknown kind of device 'tpu'; choose one of cuda, rocm, xpu, mps, cpu"):
        device.open_device("tpu")


def test_amd_caches_come_from_a_table():
    d = TorchDevice(pretend(cuda=MI300X, hip="7.0"), "rocm")
    assert d.last_level_cache == 256 * 2**20  # not the 4 MiB that ROCm reports
    assert d.timer == "device events"
    assert d.manifest()["hip"] == "7.0"
    reading = d.telemetry()
    assert (reading.clock_hz, reading.power_watts, reading.temperature_celsius) == (1.7e9, 300.0, None)
    assert reading.note.startswith("not readable: temperature")


def test_events_are_read_in_seconds():
    d = on_the_cpu(pretend(cuda=H100), "cuda")
    assert d.span(lambda: None) == pytest.approx(1e-3)
    assert d.spans(lambda: None, lambda: None, 3) == pytest.approx([1e-3] * 3)


def test_a_flush_is_twice_the_cache():
    d = on_the_cpu(pretend(cuda=MI300X, hip="7.0"), "rocm")
    d.flush()
    assert d._flush_buffer.numel() == 512 * 2**20
    d = TorchDevice(torch, "cpu")
    d.last_level_cache = 2**20
    with d.settings("fp32"):
        d.flush()
    d.flush()  # the buffer made under inference mode is still writable
    assert d._flush_buffer.numel() == SMALLEST_FLUSH


ALL = [
    *(Spec(k, p, elements=768 * 8) for k in MOVING for p in support.MOVED),
    *(Spec("gemm", p, m=32, n=64, k=128) for p in support.PRODUCTS),
    *(Spec(k, p, m=16, n=16, k=16, batch=3) for k in ("gemm_batched", "gemm_loop") for p in ("fp32", "fp16")),
]


@pytest.mark.parametrize("spec", ALL, ids=lambda s: s.title)
def test_kernels_are_built_right_and_pass_their_inspection(spec):
    """On a pretended H100; arithmetic by the CPU. TF32 is refused by its error: a CPU does it in FP32."""
    d = on_the_cpu(pretend(cuda=H100), "cuda")
    with d.settings(spec.precision):
        kernel = d.build(spec)
        checks.inspect(kernel, "cuda")
        error = kernel.error()
    if spec.precision == "tf32":
        with pytest.raises(checks.Fault, match="TF32 was not used"):
            checks.check_error(kernel, error)
    else:
        checks.check_error(kernel, error)
    assert kernel.implementation == "torch"
    kernel.fetch()


def test_a_wrong_product_is_never_timed(monkeypatch):
    d = TorchDevice(torch, "cpu")
    kernel = d.build(Spec("gemm", "fp32", m=8, n=64, k=32))
    monkeypatch.setattr(torch, "matmul", lambda x, a, out: out.zero_())
    with pytest.raises(checks.Fault, match=r"8x64x32: the result is wrong: relative error 1"):
        checks.check_error(kernel, kernel.error())
    monkeypatch.setattr(torch, "matmul", lambda x, a, out: None)  # writes nothing
    with pytest.raises(checks.Fault, match="the result is wrong: relative error nan"):
        checks.check_error(kernel, kernel.error())


def test_refusals_of_torch_become_one_line(monkeypatch):
    d = TorchDevice(torch, "cpu")

    def refuse(*arguments, **named):
        raise RuntimeError("no kernel for this\nmany more lines")

    monkeypatch.setattr(torch, "matmul", refuse)
    with pytest.raises(Unavailable, match=r"^gemm FP32 8x8x8 does not run on .*: no kernel for this$"):
        d.build(Spec("gemm", "fp32", m=8, n=8, k=8))
    with pytest.raises(Unavailable, match=r"needs .* GB, .* GB free: use smaller arrays"):
        d.build(Spec("copy", "fp32", elements=2**50))
    with pytest.raises(Unavailable, match="copy is measured in fp64, fp32, bf16, fp16, not in int8"):
        d.build(Spec("copy", "int8", elements=8))
    gpu = on_the_cpu(pretend(cuda=H100), "cuda")
    with pytest.raises(Unavailable, match="products need N and K in multiples of 16"):
        gpu.build(Spec("gemm", "fp8_e4m3", m=8, n=40, k=64))
    with pytest.raises(Unavailable, match="M of at least 17, and N and K in multiples of 8"):
        gpu.build(Spec("gemm", "int8", m=16, n=64, k=64))
    apple = on_the_cpu(pretend(mps=True), "mps")
    assert apple.free_bytes() == 2**33
    with pytest.raises(Unavailable, match="Metal has no FP64"):
        apple.build(Spec("copy", "fp64", elements=8))
    with pytest.raises(Unavailable, match="the FMA sweep needs Triton, which does not run on MPS"):
        apple.build(Spec("fma", "fp32", elements=8, fma_per_element=1))


def test_settings_are_put_back_whatever_happens():
    before = torch.get_float32_matmul_precision()
    d = TorchDevice(torch, "cpu")
    seen = []

    def fail():
        with d.settings("tf32"):
            seen.extend((torch.get_float32_matmul_precision(), torch.is_grad_enabled()))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen == ["high", False]
    assert torch.get_float32_matmul_precision() == before
    assert torch.is_grad_enabled()
    with d.settings("fp32"):
        assert torch.get_float32_matmul_precision() == "highest"


def test_the_flop_are_counted_by_torch_too():
    assert kernels._count(Spec("gemm", "fp32", m=3, n=5, k=7)) == 2 * 3 * 5 * 7
    assert kernels._count(Spec("gemm_loop", "fp32", m=3, n=5, k=7, batch=4)) == 8 * 3 * 5 * 7


def test_constant_inputs_are_seen():
    d = TorchDevice(torch, "cpu")
    assert kernels.operand(d, torch.zeros(100), "in").varied is False
    assert kernels.operand(d, torch.arange(100.0), "in").varied is True
    assert kernels.operand(d, torch.zeros(100), "out").varied is None
    assert kernels.operand(d, torch.zeros(100, device="meta"), "out").place == "meta"


# -- the manifest -------------------------------------------------------------------------------------------------


def test_the_manifest_has_twenty_fields_and_no_names():
    facts = TorchDevice(torch, "cpu").manifest()
    assert len(facts) >= 20
    assert {"torch", "numpy", "cores", "threads", "memory_bytes", "matrix_library", "command", "seed", "utc"} <= set(
        facts
    )
    cuda = TorchDevice(pretend(cuda=H100), "cuda").manifest()
    assert cuda["cuda"] == "13.0"
    assert cuda["multiprocessors"] == 132
    assert len(cuda["device_hash"]) == 12
    assert "1-2" not in str(cuda)  # the UUID itself stays here


def test_paths_do_not_get_into_the_command():
    words = ["/home/ann/bin/roofcourse", "measure", "-o", "/home/ann/run.json", "--quick"]
    assert machine.command_line(words) == "roofcourse measure -o --quick"


# -- telemetry ----------------------------------------------------------------------------------------------------


class Nvml:
    """What ``pynvml`` offers, for one card."""

    class NVMLError(Exception):
        pass

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self, reasons=0, mig=False):
        self.reasons, self.mig = reasons, mig

    def nvmlInit(self):
        pass

    def nvmlDeviceGetHandleByUUID(self, uuid):
        if uuid != "GPU-1-2":
            raise self.NVMLError("Not Found")
        return "card"

    def nvmlDeviceGetClockInfo(self, card, which):
        return 1500

    def nvmlDeviceGetApplicationsClock(self, card, which):
        return 1980

    def nvmlDeviceGetMaxClockInfo(self, card, which):
        return 2619 if which == self.NVML_CLOCK_MEM else 1980

    def nvmlDeviceGetMemoryBusWidth(self, card):
        return 5120

    def nvmlDeviceGetPowerUsage(self, card):
        if self.mig:
            raise self.NVMLError("Not Supported")
        return 650_000

    def nvmlDeviceGetTemperature(self, card, which):
        return 66

    def nvmlDeviceGetCurrentClocksEventReasons(self, card):
        return self.reasons

    def nvmlDeviceGetEnforcedPowerLimit(self, card):
        return 700_000

    def nvmlDeviceGetEccMode(self, card):
        return [1, 1]

    def nvmlSystemGetDriverVersion(self):
        return b"580.1"  # bytes in old versions


def test_a_card_is_found_by_its_uuid(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(reasons=0x4 | 0x1))  # the power limit; 0x1 is only "idle"
    d = TorchDevice(pretend(cuda=H100), "cuda")
    reading = d.telemetry()
    assert (reading.clock_hz, reading.default_clock_hz, reading.power_watts) == (1.5e9, 1.98e9, 650.0)
    assert reading.throttle == "the power limit"
    assert reading.note is None
    assert d.facts["driver"] == "580.1"
    assert d.nominal_bandwidth == pytest.approx(3.352e12, rel=1e-3)  # the data sheet says 3.35 TB/s


def test_what_cannot_be_read_is_null_with_one_note(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(mig=True))
    reading = telemetry.open_nvml("GPU-1-2").read()
    assert reading.power_watts is None
    assert reading.note == "not readable on this card: power (usual for a MIG slice and under WSL)"
    assert telemetry.open_nvml("GPU-9").read().note.endswith("not readable: Not Found")
    assert "does not tell the card's UUID" in telemetry.open_nvml(None).read().note
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert telemetry.open_nvml("GPU-1-2").read().note.endswith("pip install nvidia-ml-py")


@pytest.mark.parametrize("says", [441, 441_000], ids=["watts", "milliwatts"])
def test_the_power_of_a_card_of_amd_in_either_unit(says):
    backend = SimpleNamespace(clock_rate=lambda i: 1700, power_draw=lambda i: says, temperature=lambda i: 60)
    reading = telemetry.TorchSays(backend, 0).read()
    assert (reading.clock_hz, reading.power_watts, reading.note) == (1.7e9, 441, None)


def test_the_worst_of_two_readings():
    both = telemetry.Telemetry(2e9, 2e9, 300, 50).worst(telemetry.Telemetry(1e9, 2e9, 600, None, "the power limit"))
    assert both == telemetry.Telemetry(1e9, 2e9, 600, 50, "the power limit")


def test_no_reason_of_two_readings_is_lost():
    limit, slow = (telemetry.Telemetry(throttle=r) for r in ("the power limit", "a hardware slowdown"))
    assert limit.worst(slow).throttle == "the power limit, a hardware slowdown"
    assert slow.worst(limit).throttle == "a hardware slowdown, the power limit"
    assert limit.worst(slow).worst(limit).throttle == "the power limit, a hardware slowdown"  # each once
    quiet = telemetry.Telemetry()
    assert (limit.worst(quiet).throttle, quiet.worst(limit).throttle) == ("the power limit", "the power limit")
    assert quiet.worst(quiet).throttle is None
    for both in (limit.worst(slow), slow.worst(limit)):  # the limit is no fault, the slowdown is
        assert checks.throttled(both) == "throttle: the device reports a hardware slowdown"


def test_a_sum_is_checked_over_all_of_a_long_array():
    """The error by hand: 10 against 1 - 2 + 4 = 3, over 1 + 2 + 4. Then an array of more than one slice."""
    assert kernels.sum_error(10.0, iter([np.array([1.0, -2.0]), np.array([4.0])])) == 1.0
    n = math.ceil(2.5 * kernels.TILE / plan.GRAIN) * plan.GRAIN
    kernel = TorchDevice(torch, "cpu").build(Spec("read_reduce", "fp32", elements=n, implementation="torch"))
    assert kernel.error() < 1e-6  # a slice left out: 1e-4 and more
