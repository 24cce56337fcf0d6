"""Clock, power, temperature and throttle reasons while something is timed. What cannot be read is ``None``, once noted.

A device is found in NVIDIA's library by its UUID, never by its index: the two number their cards differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The ordinary reason for a lower clock: large matrix products on a large card run into it all the time.
POWER_LIMIT = "the power limit"
#: Bits of NVML's clock event reasons that mean "slower than it could be", and what they are called.
_NVML_REASONS = {
    0x0000000000000004: POWER_LIMIT,
    0x0000000000000008: "a hardware slowdown",
    0x0000000000000020: "a thermal slowdown (software)",
    0x0000000000000040: "a thermal slowdown (hardware)",
    0x0000000000000080: "a power brake",
}


@dataclass(frozen=True)
class Telemetry:
    """One reading. Hz, watts, degrees Celsius; ``throttle``: reasons in words; ``note``: why fields are ``None``."""

    clock_hz: float | None = None
    default_clock_hz: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    throttle: str | None = None
    note: str | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The throttle reasons one by one."""
        return tuple(r for r in (self.throttle or "").split(", ") if r)

    def worst(self, other: Telemetry) -> Telemetry:
        """The lower clock, the higher power and temperature, and every throttle reason of the two."""

        def pick(choose, name):
            values = [v for v in (getattr(self, name), getattr(other, name)) if v is not None]
            return choose(values) if values else None

        return Telemetry(
            pick(min, "clock_hz"),
            self.default_clock_hz or other.default_clock_hz,
            pick(max, "power_watts"),
            pick(max, "temperature_celsius"),
            ", ".join(dict.fromkeys((*self.reasons, *other.reasons))) or None,
            self.note or other.note,
        )


class Silent:
    """A device that tells nothing about itself, and why."""

    def __init__(self, note: str) -> None:
        self.note = note

    def read(self) -> Telemetry:
        return Telemetry(note=self.note)

    def facts(self) -> dict:
        """Fixed facts for the manifest."""
        return {"telemetry": self.note}


class Cpu:
    """The clock of the first core where Linux shows it. Virtual machines mostly do not."""

    _FOLDER = Path("/sys/devices/system/cpu/cpu0/cpufreq")

    def _hz(self, name: str) -> float | None:
        try:
            return float((self._FOLDER / name).read_text()) * 1e3
        except (OSError, ValueError):
            return None

    def read(self) -> Telemetry:
        clock = self._hz("scaling_cur_freq")
        note = None if clock else "the system does not show the CPU's clock (usual in a virtual machine)"
        # A sleeping core is slow on purpose, so no default clock: a low reading proves no throttling here.
        return Telemetry(clock_hz=clock, note=note)

    def facts(self) -> dict:
        highest = self._hz("cpuinfo_max_freq")
        return {"maximum_clock_hz": highest, "telemetry": self.read().note}


class Nvml:
    """An NVIDIA card, through the package ``nvidia-ml-py`` (its module is called ``pynvml``)."""

    def __init__(self, nvml, uuid: str) -> None:
        nvml.nvmlInit()
        self._nvml = nvml
        self._card = nvml.nvmlDeviceGetHandleByUUID(uuid)

    def _ask(self, name: str, *arguments):
        """One value, or ``None`` where this card, a MIG slice or WSL does not offer it."""
        call = getattr(self._nvml, name, None)
        if call is None:
            return None
        try:
            return call(self._card, *arguments)
        except self._nvml.NVMLError:
            return None

    def read(self) -> Telemetry:
        n = self._nvml
        clock = self._ask("nvmlDeviceGetClockInfo", n.NVML_CLOCK_SM)
        default = self._ask("nvmlDeviceGetApplicationsClock", n.NVML_CLOCK_SM)
        power = self._ask("nvmlDeviceGetPowerUsage")
        heat = self._ask("nvmlDeviceGetTemperature", n.NVML_TEMPERATURE_GPU)
        bits = self._ask("nvmlDeviceGetCurrentClocksEventReasons")
        if bits is None:  # the name before driver 535
            bits = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons")
        reasons = [words for bit, words in _NVML_REASONS.items() if (bits or 0) & bit]
        missing = [w for w, v in (("clock", clock), ("power", power), ("temperature", heat)) if v is None]
        return Telemetry(
            clock * 1e6 if clock else None,
            default * 1e6 if default else None,
            power / 1e3 if power is not None else None,
            float(heat) if heat is not None else None,
            ", ".join(reasons) or None,
            f"not readable on this card: {', '.join(missing)} (usual for a MIG slice and under WSL)"
            if missing
            else None,
        )

    def facts(self) -> dict:
        n = self._nvml
        memory_clock = self._ask("nvmlDeviceGetMaxClockInfo", n.NVML_CLOCK_MEM)
        width = self._ask("nvmlDeviceGetMemoryBusWidth")
        top = self._ask("nvmlDeviceGetMaxClockInfo", n.NVML_CLOCK_SM)
        limit = self._ask("nvmlDeviceGetEnforcedPowerLimit")
        ecc = self._ask("nvmlDeviceGetEccMode")
        driver = n.nvmlSystemGetDriverVersion()
        return {
            "driver": driver.decode() if isinstance(driver, bytes) else driver,
            "power_limit_watts": limit / 1e3 if limit else None,
            "maximum_clock_hz": top * 1e6 if top else None,
            "ecc": bool(ecc[0]) if ecc else None,
            # Two transfers a clock, ``width`` bits each: 2619 MHz and 5120 bits are the 3352 GB/s of an H100's sheet.
            "nominal_bandwidth": 2 * memory_clock * 1e6 * width / 8 if memory_clock and width else None,
            "telemetry": self.read().note,
        }


class TorchSays:
    """What torch passes on from the driver (ROCm's cards, through ``amdsmi``)."""

    def __init__(self, backend, index: int) -> None:
        self._backend, self._index = backend, index

    def _ask(self, name: str) -> float | None:
        call = getattr(self._backend, name, None)
        if call is None:
            return None
        try:
            return float(call(self._index))
        except Exception:  # amdsmi's own errors, a missing module, a driver that refuses: all mean "not readable"
            return None

    def read(self) -> Telemetry:
        clock, power, heat = self._ask("clock_rate"), self._ask("power_draw"), self._ask("temperature")
        missing = [w for w, v in (("clock", clock), ("power", power), ("temperature", heat)) if v is None]
        note = f"not readable: {', '.join(missing)} (install amdsmi in the version of this ROCm)" if missing else None
        # torch's documentation says milliwatts, and on ROCm it hands on the watts of amdsmi as they are; a change to
        # milliwatts is proposed (pytorch/pytorch#197553). No card draws 5 kW, and none that computes as little as 5 W.
        # Not tried on a card of AMD's.
        watts = power / 1e3 if power and power >= 5e3 else power
        return Telemetry(clock * 1e6 if clock else None, None, watts or None, heat, None, note)

    def facts(self) -> dict:
        return {"telemetry": self.read().note}


def open_nvml(uuid: str | None):
    """Telemetry of the NVIDIA card with this UUID: :class:`Nvml`, or :class:`Silent` with the reason."""
    try:
        import pynvml
    except ImportError:
        return Silent("clock, power and temperature are not readable: pip install nvidia-ml-py")
    if uuid is None:
        return Silent("clock, power and temperature are not read: this torch does not tell the card's UUID")
    try:
        return Nvml(pynvml, uuid)
    except pynvml.NVMLError as error:
        return Silent(f"clock, power and temperature are not readable: {error}")
