"""A live decode step: a model with random weights, built from its config (nothing is downloaded), timed here.

The cache is filled with random keys and values for ``prompt_length`` tokens, then one step is timed again and again at
that length, in several modes (:data:`~roofcourse.llm.steps.MODES`), by the protocol of :mod:`roofcourse.measure.clock`.
torch's profiler then says how much of the step is spent in kernels, and in which. Together they settle where the time
above the bound goes: if it is the host that launches kernels too slowly, mode ``graph`` (the same kernels, launched at
once) is faster by the time outside kernels; if it is copies of the cache, they are a kind of their own.

Needs ``pip install 'roofcourse[llm]'``. Run so far with Transformers 5.24 on a CPU; modes for GPUs not yet on a GPU.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

from ..measure.clock import METHOD_VERSION, time_kernel
from ..measure.device import Device
from ..measure.machine import installed
from ..measure.settings import quiet_profiler
from ..measure.stopping import FULL, StopRule
from ..measure.support import Unavailable, one_line
from ..precision import precision as _precision
from .bound import decode_bound
from .families import text_part
from .model import Model
from .steps import KINDS, MODES, DecodeRun, TimedStep, in_order

#: Part of the free memory that weights and cache may take.
SHARE = 0.6
#: On a CPU a model is cut so that a step reads no more than this (bytes): a step then takes about 0.1 s.
CPU_BYTES = 4e9
#: Steps before a compiled step, or a capture, is what it will be.
WARM = 3
#: Steps under the profiler.
PROFILED = 3
#: Random numbers drawn; longer tensors repeat them. A prime length, so that rows differ.
RANDOM = 999_983


def precision_for(device: Device) -> str:
    """What a model is run in unless told otherwise: bf16 where the device multiplies it, else fp32."""
    from ..measure.cpu import flags

    return "fp32" if device.kind == "cpu" and not {"avx512_bf16", "amx_bf16", "bf16"} & flags() else "bf16"


def modes_for(device: Device) -> tuple[str, ...]:
    """The modes that can be expected to run on this kind of device."""
    if device.kind in ("cuda", "rocm"):
        return ("eager", "static", "graph", "compiled")
    if device.kind == "cpu" and compiler() is not None:
        return ("eager", "static", "compiled")
    return ("eager", "static")


def compiler() -> str | None:
    """A C++ compiler that torch.compile can use on a CPU."""
    return next((name for name in ("g++", "clang++", "gcc", "clang") if shutil.which(name)), None)


def fitting_layers(model: Model, device: Device, batch: int, prompt_length: int, precision: str) -> int:
    """How many layers of the model the machine can hold and run in reasonable time; at least one.

    Raises ``Unavailable`` if not even one layer with the embedding and the head fits the memory.
    """
    free = device.free_bytes()

    def fits(layers: int) -> bool:
        cut = model.with_layers(layers)
        need = cut.bytes_stored(precision) + 2 * batch * cut.kv_cache_bytes(prompt_length + 1, precision)
        slow = device.kind == "cpu" and layers > 1 and cut.bytes_read_per_step(batch, precision) > CPU_BYTES
        return (free is None or need <= SHARE * free) and not slow

    if not fits(1):
        need = model.with_layers(1).bytes_stored(precision)
        raise Unavailable(
            f"{model.name}: one layer with embedding and head takes {need / 1e9:.1f} GB in {precision}, and "
            f"{device.name} has {free / 1e9:.1f} GB free: choose a smaller model"
        )
    return max(n for n in range(1, model.layers + 1) if fits(n))


class Stepper:
    """A model with random weights on a device, and the steps that can be timed on it."""

    def __init__(self, model: Model, device, precision: str) -> None:
        if find_spec("transformers") is None:
            raise Unavailable("a live decode step needs transformers: pip install 'roofcourse[llm]'")
        self.model, self.device, self.torch = model, device, device.torch
        self.precision = _precision(precision)
        if self.precision.torch_name is None:
            raise Unavailable(f"torch has no number format for {precision}: choose bf16, fp16 or fp32")
        self.dtype = getattr(self.torch, self.precision.torch_name)
        self.network = self._build()
        # Transformers 5 renamed this argument on the way.
        names = inspect.signature(self.network.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"

    def _build(self):
        import transformers
        from transformers import AutoConfig, AutoModelForCausalLM

        noise = transformers.logging.get_verbosity()
        transformers.logging.set_verbosity_error()  # special tokens outside a small vocabulary, and the like
        try:
            config = AutoConfig.for_model(**text_part(self.model.config))
            with self.torch.device(self.device.place), _without_initialisation():
                network = AutoModelForCausalLM.from_config(config, dtype=self.dtype)
        finally:
            transformers.logging.set_verbosity(noise)
        torch, dice = self.torch, self.torch.Generator().manual_seed(0)
        some = (torch.randn(RANDOM, generator=dice) * 0.02).to(self.device.place, self.dtype)
        with torch.no_grad():
            for values in network.parameters():
                if values.ndim == 1:  # norms, biases
                    values.fill_(1.0)
                else:
                    flat, count = values.view(-1), values.numel()
                    whole = count // RANDOM * RANDOM
                    flat[:whole].view(-1, RANDOM).copy_(some.to(values.dtype))
                    flat[whole:].copy_(some[: count - whole])
        return network.eval().requires_grad_(False)

    @contextmanager
    def layers(self, count: int) -> Iterator[None]:
        """Run only the first ``count`` layers."""
        body = getattr(self.network, self.network.base_model_prefix)
        name = "h" if hasattr(body, "h") else "layers"
        all_of_them, key = getattr(body, name), "n_layer" if name == "h" else "num_hidden_layers"
        config, before = self.network.config, getattr(self.network.config, key)
        setattr(body, name, all_of_them[:count])
        setattr(config, key, count)
        try:
            yield
        finally:
            setattr(body, name, all_of_them)
            setattr(config, key, before)

    def step(self, mode: str, batch: int, prompt_length: int) -> Callable[[], object]:
        """One decode step, ready to be called again and again: each call starts from ``prompt_length`` cached tokens
        and returns the logits of the next one. Raises :class:`~roofcourse.measure.support.Unavailable` in one line for
        a mode that does not run here."""
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}; there are: {', '.join(MODES)}")
        if mode == "graph" and self.device.kind not in ("cuda", "rocm"):
            raise Unavailable(f"mode 'graph' needs a CUDA or ROCm GPU, and {self.device.name} is none: try 'compiled'")
        if mode == "compiled" and self.device.kind == "cpu" and compiler() is None:
            raise Unavailable("mode 'compiled' needs a C++ compiler on a CPU: apt-get install g++, or use mode 'eager'")
        try:
            with self.torch.no_grad():
                forward = self._compiled() if mode == "compiled" else self.network
                step = self._plain(batch, prompt_length, forward, in_place=mode != "eager")
                if mode == "graph":
                    step = self._captured(step)
                for _ in range(WARM if mode == "compiled" else 1):  # compiles, then records
                    logits = step()
                if not bool(self.torch.isfinite(logits).all()):
                    raise Unavailable(f"mode {mode!r} gives numbers that are not finite: its time would mean nothing")
                return step
        except Unavailable:
            raise
        except Exception as error:  # whatever a compiler or a capture raises: its first line is the reason
            raise Unavailable(f"mode {mode!r} does not run on {self.device.name}: {one_line(error)}") from error

    def _inputs(self, batch: int):
        torch, dice = self.torch, self.torch.Generator().manual_seed(1)
        return torch.randint(0, self.model.parts.vocabulary, (batch, 1), generator=dice).to(self.device.place)

    def _cache(self, batch: int, prompt_length: int, in_place: bool):
        """A cache that holds random keys and values of ``prompt_length`` tokens, with room for one more."""
        from transformers import DynamicCache, StaticCache

        config = self.network.config
        cache = StaticCache(config=config, max_cache_len=prompt_length + 1) if in_place else DynamicCache(config=config)
        probe = DynamicCache(config=config)
        self.network(self._inputs(batch), use_cache=True, **{self._cache_name: probe})
        dice = self.torch.Generator(self.device.place).manual_seed(2)
        for index, layer in enumerate(probe.layers):  # one token has shown the shapes
            pair = [
                self.torch.randn(
                    (*x.shape[:2], prompt_length, x.shape[-1]), generator=dice, dtype=self.dtype, device=x.device
                )
                for x in (layer.keys, layer.values)
            ]
            cache.update(*pair, index)
        return cache

    def _plain(self, batch: int, prompt_length: int, forward, *, in_place: bool):
        """One step through ``forward``, from a cache that is put back to where it was."""
        cache, ids = self._cache(batch, prompt_length, in_place), self._inputs(batch)
        back, named = _rewind(self.torch, cache), {self._cache_name: cache}

        def step():
            back()
            return forward(ids, use_cache=True, logits_to_keep=1, **named).logits

        return step

    def _captured(self, step):
        """The kernels of ``step`` as one CUDA graph: recorded once, then launched by a single call."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM):  # libraries make their choices before the capture
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            logits = step()

        def replay():
            graph.replay()
            return logits

        return replay

    def _compiled(self):
        """The library's forward through torch.compile, as if nothing had been compiled before."""
        self.torch._dynamo.reset()
        if self.device.kind == "cpu":  # generated kernels report themselves to the profiler only if asked to
            return self.torch.compile(self.network, options={"cpp.enable_kernel_profile": True})
        return self.torch.compile(self.network, mode="reduce-overhead")

    def profile(self, step: Callable[[], object]) -> dict[str, float]:
        """Seconds in kernels of one call, by kind, from torch's profiler.

        On a GPU: the kernels as the device timed them. On a CPU: the operators that compute or move data, each less
        those that it calls; what only arranges a call (views, shapes) counts as outside. Empty for other devices.
        """
        torch = self.torch
        if self.device.kind not in ("cpu", "cuda", "rocm"):
            return {}
        quiet_profiler()
        activities = [torch.profiler.ProfilerActivity.CPU]
        on_gpu = self.device.kind in ("cuda", "rocm")
        if on_gpu:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        with torch.no_grad(), torch.profiler.profile(activities=activities) as seen:
            for _ in range(PROFILED):
                step()
            self.device.synchronise()
        out: dict[str, float] = dict.fromkeys(KINDS, 0.0)
        for event in seen.key_averages():
            if getattr(event, "is_user_annotation", False):  # a region that spans kernels would count them twice
                continue
            if on_gpu and "CUDA" in str(event.device_type):
                kind, seconds = kind_of_kernel(event.key), event.self_device_time_total
            elif not on_gpu:
                kind, seconds = kind_of_operator(event.key), event.self_cpu_time_total
            else:
                continue
            if kind is not None:
                out[kind] += seconds * 1e-6 / PROFILED
        return out


def _without_initialisation():
    """Transformers' own way of leaving weights as they are: drawing billions of them takes minutes on a CPU."""
    home = "initialization" if find_spec("transformers.initialization") else "modeling_utils"  # Transformers 5, or 4
    return import_module(f"transformers.{home}").no_init_weights()


def _rewind(torch, cache) -> Callable[[], None]:
    """A function that puts a cache back to where it is now: tensors that grow by reference, counters by value.

    The counters keep their addresses, which compiled code has noted, and are all reset by one operation.
    """
    kept, counters = [], []
    for layer in cache.layers:
        now = {k: v for k, v in vars(layer).items() if not callable(v)}
        counts = [k for k, v in now.items() if isinstance(v, torch.Tensor) and v.ndim == 0]
        counters += [now.pop(k) for k in counts]
        kept.append(now)
    start = [c.clone() for c in counters]

    def back() -> None:
        if counters:
            torch._foreach_copy_(counters, start)
        for layer, now in zip(cache.layers, kept, strict=True):
            vars(layer).update(now)

    return back


_ATTENTION = re.compile(r"flash|fmha|sdpa|attention|attn|softmax", re.I)
_LINEAR = re.compile(r"gemm|gemv|cutlass|cublas|nvjet|xmma|wgmma|splitk|matmul|mkldnn|mkl_linear|Cijk", re.I)
_COPIES = re.compile(r"memcpy|memset|copy|\bcat|cat_?array|index|gather|scatter|fill|repeat|concat", re.I)
#: Operators of a CPU that arrange a call and do no work on the data.
_ARRANGE = re.compile(
    r"aten::(view|_?unsafe_view|_reshape_alias|reshape|t|transpose|permute|slice|select|narrow|expand|as_strided|"
    r"unsqueeze|squeeze|detach|alias|empty\w*|resize_|result_type|item|_local_scalar_dense|to|_to_copy|lift_fresh|"
    r"split\w*|chunk|contiguous|linear|matmul|is_\w+|unflatten|flatten|size|stride|numel|set_|resolve_\w+|"
    r"scaled_dot_product_attention|embedding|broadcast_\w+|lt|ge|gt|le|eq|_?assert\w*|numpy_T|adaptive\w*)$"
)
_LINEAR_CPU = re.compile(
    r"aten::(mm|addmm|bmm|baddbmm|mv|addmv|dot|_grouped_mm|_addmm_activation)$|mkldnn|mkl|packed", re.I
)
_ATTENTION_CPU = re.compile(r"_scaled_dot_product|_flash_attention|softmax", re.I)
_COPIES_CPU = re.compile(r"aten::(cat|copy_|clone|index\w*|gather|scatter\w*|fill_|zero_|repeat\w*|stack|_to_copy)$")
_OTHER_CPU = re.compile(r"^aten::|^(graph_\w*_)?cpp_|^cpp_fused|kernel", re.I)


def kind_of_kernel(name: str) -> str:
    """What a GPU's kernel does, by its name."""
    if _ATTENTION.search(name):
        return "attention"
    if _LINEAR.search(name):
        return "linear layers"
    return "copies" if _COPIES.search(name) else "the rest"


def kind_of_operator(name: str) -> str | None:
    """What an operator of the CPU does, by its name; ``None`` for one that only arranges a call."""
    if _ATTENTION_CPU.search(name):
        return "attention"
    if _LINEAR_CPU.search(name):
        return "linear layers"
    if _COPIES_CPU.search(name):
        return "copies"
    return None if _ARRANGE.match(name) or not _OTHER_CPU.search(name) else "the rest"


class DecodeSession:
    """Steps of one model on one device, measured one by one and kept.

    ``machine``: what has the roofs for the bounds (``bandwidth``, ``roofline(precision)``). ``save``: called with the
    run so far after every step; ``say``: with one line of news.
    """

    def __init__(
        self,
        model: Model,
        device,
        machine,
        *,
        precision: str,
        layers: int | None = None,
        rule: StopRule = FULL,
        save: Callable[[DecodeRun], object] = lambda run: None,
        say: Callable[[str], object] = lambda line: None,
        stepper: Callable[[Model, object, str], Stepper] = Stepper,
    ) -> None:
        self.model, self.device, self.machine, self.precision = model, device, machine, _precision(precision).name
        self.depth = layers or model.layers
        self.cut = model.with_layers(self.depth)
        self.rule, self.save, self.say, self._make = rule, save, say, stepper
        self._stepper: Stepper | None = None
        self.steps: list[TimedStep] = []
        self.refusals: dict[str, str] = {}

    def run(self, *, complete: bool = False) -> DecodeRun:
        """What there is so far."""
        roof = self.machine.roofline(self.precision)
        roofs = {"precision": self.precision, "peak": roof.peak, "bandwidth": roof.bandwidth}
        model = {
            "key": self.model.key,
            "name": self.model.name,
            "config": self.model.config,
            "layers": self.depth,
            "layers_of": self.model.layers,
            "precision": self.precision,
        }
        facts = {**self.device.manifest(), "transformers": installed("transformers")}
        return DecodeRun(
            METHOD_VERSION, facts, model, roofs, in_order(self.steps), tuple(self.refusals.items()), complete
        )

    def missing(self, batches: Sequence[int], prompts: Sequence[int], modes: Sequence[str]) -> list[tuple]:
        """The steps that have not been measured: (batch, prompt length, mode)."""
        done = {x.key for x in self.steps}
        return [k for p in prompts for b in batches for mode in modes if (k := (b, p, mode)) not in done]

    def take(self, batch: int, prompt_length: int, mode: str) -> TimedStep | None:
        """Measure one step, or note why not and return ``None``."""
        try:
            step = self._measure(batch, prompt_length, mode)
        except Unavailable as reason:
            topic = f"batch {batch}, prompt {prompt_length}, {mode}"
            self.refusals[topic] = str(reason)
            self.say(f"not measured: {topic}: {reason}")
            return None
        finally:
            self.device.release()
        self.refusals.pop(f"batch {batch}, prompt {prompt_length}, {mode}", None)
        self.steps.append(step)
        self.save(self.run())
        return step

    def _measure(self, batch: int, prompt_length: int, mode: str) -> TimedStep:
        if self._stepper is None:
            self._stepper = self._make(self.cut, self.device, self.precision)
        stepper = self._stepper
        with self.device.settings(self.precision), self._no_grad():
            timing, kinds = self._time(stepper, batch, prompt_length, mode, profiled=True)
            shallow = None
            if self.depth < self.model.layers and self.depth > 1:
                half = self.depth // 2
                with stepper.layers(half):
                    shallow = (half, self._time(stepper, batch, prompt_length, mode, profiled=False)[0].median)
        bound = decode_bound(self.cut, self.machine, batch, prompt_length, self.precision, self.precision)
        return TimedStep(
            device=self.device.kind,
            model=self.model.key,
            layers=self.depth,
            layers_of=self.model.layers,
            precision=self.precision,
            batch=batch,
            prompt_length=prompt_length,
            mode=mode,
            seconds=timing.median,
            spread=timing.spread,
            bound=bound.seconds,
            bound_part=bound.part,
            bound_bytes=float(bound.bytes),
            timer=timing.timer,
            stopped=timing.stopped,
            samples=timing.samples,
            kernel_seconds=sum(kinds.values()) if kinds else None,
            by_kind=kinds,
            shallow=shallow,
            source="this session",
        )

    def _no_grad(self):
        return self.device.torch.no_grad()

    def _time(self, stepper, batch, prompt_length, mode, *, profiled: bool):
        step = stepper.step(mode, batch, prompt_length)
        timing = time_kernel(self.device, step, self.rule)
        return timing, stepper.profile(step) if profiled else {}
