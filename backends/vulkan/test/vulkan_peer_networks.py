# SPDX-License-Identifier: BSD-3-Clause
"""Networks lowered to Vulkan by whichever ExecuTorch runs this as a program: `vulkan_peer_networks.py FOLDER FOLDER_OF
xnnpack_precisions.py [NAME...]` writes `NAME.pte` and `NAME.pt`: [[inputs, what eager gives], ...], for each; for one
that fails `NAME.error`. `--exported` is a folder of programs `NAME.pt2` with their inputs `NAME.inputs`. Public names
alone are imported, and none that ExecuTorch 1.4.1 lacks."""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

Inputs = tuple[Tensor, ...]
Quantize = Callable[[nn.Module, Inputs], nn.Module]


@dataclass
class Case:
    """`calls`: one after the other on the same loaded method, the first is what is captured. `quantize` gives what is
    exported, `expected` of that what it has to compute, where that is something else."""

    module: nn.Module
    calls: list[Inputs]
    dynamic: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    quantize: Quantize | None = None
    expected: Quantize | None = None


Make = Callable[[], Case]


class Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


# ---- Ways to quantize ----


def by_torchao(config: str) -> Quantize:
    def quantize(module: nn.Module, inputs: Inputs) -> nn.Module:
        from torchao.quantization.granularity import PerGroup
        from torchao.quantization.quant_api import (
            Int8DynamicActivationIntxWeightConfig,
            IntxWeightOnlyConfig,
            quantize_,
        )
        from torchao.utils import unwrap_tensor_subclass

        group = PerGroup(32)
        made = {
            "4w": lambda: IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=group),
            "8da4w": lambda: Int8DynamicActivationIntxWeightConfig(
                weight_dtype=torch.int4, weight_granularity=group
            ),
        }[config]()

        def is_wanted(each: nn.Module, name: str) -> bool:
            kinds = (nn.Linear, nn.Embedding) if config == "4w" else (nn.Linear,)
            return isinstance(each, kinds) and each.weight.shape[1] % 32 == 0

        quantize_(module, made, is_wanted)
        return unwrap_tensor_subclass(module)

    return quantize


def by_export(make_quantizer: Callable[[], Any]) -> Quantize:
    def quantize(module: nn.Module, inputs: Inputs) -> nn.Module:
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

        prepared = prepare_pt2e(torch.export.export(module, inputs).module(), make_quantizer())
        prepared(*inputs)
        return convert_pt2e(prepared)

    return quantize


def vulkan(is_dynamic: bool, weight_bits: int) -> Quantize:
    def make() -> Any:
        from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
            VulkanQuantizer,
            get_symmetric_quantization_config,
        )

        config = get_symmetric_quantization_config(is_dynamic=is_dynamic, weight_bits=weight_bits)
        return VulkanQuantizer().set_global(config)

    return by_export(make)


def int8_by_channel() -> Any:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))


def without_activations(module: nn.Module, inputs: Inputs) -> nn.Module:
    """ExecuTorch 1.4.1 drops pairs that quantize a tensor and turn it back (FoldQDQ), when nothing else is made of
    them: left are the weights."""
    graph = module.graph
    for node in list(graph.nodes):
        name = str(node.target)
        if "dequantize_per_tensor" not in name or "quantize_per_tensor" not in str(node.args[0]):
            continue
        node.replace_all_uses_with(node.args[0].args[0])
    graph.eliminate_dead_code()
    module.recompile()
    return module


# ---- Modules ----


class Layer(nn.Module):
    """Of a transformer; its attention is written out, as 1.4.1 cannot write the -inf of PyTorch's own."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.qkv(self.norm1(x)).view(1, -1, 3, 4, 8).permute(2, 0, 3, 1, 4)
        scores = (parts[0] @ parts[1].transpose(-2, -1)) * 8**-0.5
        x = x + self.out((scores.softmax(-1) @ parts[2]).transpose(1, 2).reshape(1, -1, 32))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Vit(nn.Module):
    """Patches, a token for the class, two layers of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, 32))
        self.places = nn.Parameter(torch.randn(1, 17, 32))
        self.layers = nn.Sequential(Layer(), Layer())
        self.head = nn.Linear(32, 10)

    def forward(self, images: Tensor) -> Tensor:
        found = self.patches(images).flatten(2).transpose(1, 2)
        found = torch.cat([self.token.expand(found.shape[0], -1, -1), found], 1) + self.places
        return self.head(self.layers(found)[:, 0])


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.deep = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(24, 3, 1)
        self.norm = nn.GroupNorm(2, 16)

    def forward(self, x: Tensor) -> Tensor:
        first = torch.relu(self.down(x))
        deep = torch.nn.functional.gelu(self.norm(self.deep(nn.functional.max_pool2d(first, 2, 2))))
        other = nn.functional.interpolate(deep[:, :8], scale_factor=2.0, mode="bilinear")
        return self.last(torch.cat([first, self.up(deep), other], 1))


class Generator(nn.Module):
    """Convolutions in int8 of all kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1, groups=16),
            nn.ReLU(), nn.Conv2d(16, 32, 1), nn.Conv2d(32, 32, 3, padding=1, groups=4), nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 2, 2), nn.ReLU(), nn.Conv2d(16, 16, 1), nn.PixelShuffle(2),
            nn.Conv2d(4, 8, 3, stride=2),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Linears(nn.Module):
    def __init__(self, bias: bool = False) -> None:
        super().__init__()
        sizes = ((128, 64), (64, 32), (32, 16))
        self.layers = nn.ModuleList(nn.Linear(*each, bias=bias) for each in sizes)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(40, 64), nn.Linear(64, 32)

    def forward(self, ids: Tensor) -> Tensor:
        return self.out(self.table(ids))


class RmsNorm(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)
        return (x * scale) * self.weight


class Sum(nn.Module):
    """A buffer that is written."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 2


class Attention(nn.Module):
    """Over caches, as ExecuTorch's operators for language models."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16)
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(1, 16, 2, 8))

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        start = pos[0].item()
        torch._check(start >= 0)
        torch._check(start < 16)
        q = self.q(x).view(1, -1, 4, 8)
        k, v = (each(x).view(1, -1, 2, 8) for each in (self.k, self.v))
        torch.ops.llama.update_cache(k, self.k_cache, start)
        torch.ops.llama.update_cache(v, self.v_cache, start)
        args = (start, None, 0.0, True, None)
        return torch.ops.llama.custom_sdpa(q, self.k_cache, self.v_cache, *args).reshape(1, -1, 32)


class Neighbours(nn.Module):
    """Rotary embeddings of pairs that are side by side, as of Llama's checkpoints."""

    def forward(self, xq: Tensor, xk: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        return self._one(xq, cos, sin), self._one(xk, cos, sin)

    def _one(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        real, imaginary = x.float().reshape(x.shape[:-1] + (-1, 2)).unbind(-1)
        cos, sin = cos.view(1, cos.shape[0], 1, -1), sin.view(1, sin.shape[0], 1, -1)
        parts = [real * cos - imaginary * sin, real * sin + imaginary * cos]
        return torch.stack(parts, -1).flatten(3).type_as(x)


def halved(x: Tensor) -> Any:
    half = x.shape[1] // 2
    first, second = x[:, :half], x[:, half:]
    return torch.cat([second, first], 1).reshape(1, -1).argmax(-1), x.sum(1)


def elements(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    functions = (
        torch.abs, torch.cos, torch.exp, torch.sigmoid, torch.tanh, torch.round, torch.relu,
        torch.neg, nn.functional.gelu, nn.functional.hardswish, nn.functional.hardshrink,
        nn.functional.leaky_relu, lambda x: x.clamp(-0.5, 0.75), lambda x: x.abs().sqrt(),
    )  # fmt: skip
    single = [function(x) for function in functions]
    both = [x + 2 * y, x - y, x * y, x / (y.abs() + 1), torch.minimum(x, y), x.abs() ** y]
    tests = [x < y, x >= 0, (x > 0) & (y > 0), torch.where(x > y, x, y)]
    return (*single, *both, *tests, torch.logical_or(x > 0, y > 0).logical_not())


def places(x: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
    table = x.reshape(-1)
    return (
        torch.gather(x, 1, ids[:, :2]), torch.index_select(x, 1, ids[0]), table[ids[0]],
        nn.functional.pad(x, (1, 2, 0, 1), value=3.0), x.flip(1), x.repeat(2, 1),
        torch.arange(0, 6, 1) + ids[0, 0], torch.split(x, [1, 4], 1)[1], x.argmin(-1),
    )  # fmt: skip


def norms(x: Tensor) -> tuple[Tensor, ...]:
    return (
        x.softmax(-1), x.log_softmax(1), x.mean(-1), x.sum((2, 3), keepdim=True), x.amax(-1),
        nn.functional.layer_norm(x, x.shape[-1:]), nn.functional.avg_pool2d(x, 2, 2),
        x.permute(0, 2, 3, 1), x.reshape(2, -1), x.squeeze(0), x.unsqueeze(1), x[:, 1:3, ::2],
    )  # fmt: skip


def orders(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    last = x.to(memory_format=torch.channels_last)
    return last, last * 2, x + y, y.softmax(1), y.contiguous() - x


# ---- Cases ----


def _image(size: int = 32) -> Inputs:
    return (torch.randn(1, 3, size, size),)


def _channels_last(x: Tensor) -> Inputs:
    return (x.to(memory_format=torch.channels_last),)


def _rows(count: int = 12) -> Inputs:
    return (torch.randn(count, 128),)


def _turned() -> Case:
    angles = torch.outer(torch.arange(6.0), torch.rand(8))
    inputs = (torch.randn(1, 6, 4, 16), torch.randn(1, 6, 2, 16), angles.cos(), angles.sin())
    return Case(Neighbours(), [inputs])


def _attention() -> Case:
    x = torch.randn(1, 9, 32)
    calls = [(x[:, a:b].clone(), torch.tensor([a])) for a, b in ((0, 3), (3, 6), (6, 7), (7, 9))]
    return Case(Attention(), calls, ({1: Dim("rows", min=1, max=16)}, None))


def _images_of(sizes: tuple[int, ...]) -> list[Inputs]:
    return [_image(size) for size in sizes]


def _dynamic_image(module: nn.Module) -> Case:
    size = {2: 8 * Dim("height", min=2, max=8), 3: 8 * Dim("width", min=2, max=8)}
    return Case(module, _images_of((32, 64, 16, 24)), (size,), {"require_dynamic_shapes": True})


def _dynamic(function: Callable[..., Any], counts: tuple[int, ...]) -> Case:
    calls = [(torch.randn(1, count, 8),) for count in counts]
    shapes = (({1: 2 * Dim("half", min=1, max=16)},),)
    return Case(Of(function), calls, shapes, {"require_dynamic_shapes": True})


def _integers(module: nn.Module, *inputs: Tensor) -> Case:
    return Case(module, [inputs], quantize=by_export(int8_by_channel))


OWN: dict[str, Make] = {
    "vit": lambda: Case(Vit(), [_image()]),
    "vit half": lambda: Case(Vit(), [_image()], options={"force_fp16": True}),
    "unet": lambda: Case(Unet(), [_image()]),
    "unet half": lambda: Case(Unet(), [_image()], options={"force_fp16": True}),
    "unet small textures": lambda: Case(Unet(), [_image()], options={"small_texture_limits": True}),
    "unet unplanned": lambda: Case(
        Unet(), [_image()], options={"skip_memory_planning": True, "skip_tag_memory_metadata": True}
    ),
    "unet channels last": lambda: Case(Unet(), [_channels_last(*_image())]),
    "orders": lambda: Case(Of(orders), [(torch.randn(1, 4, 6, 8), *_channels_last(torch.randn(1, 4, 6, 8)))]),
    "unet dynamic": lambda: _dynamic_image(Unet()),
    "elements": lambda: Case(Of(elements), [(torch.randn(2, 3, 4), torch.randn(2, 3, 4))]),
    "places": lambda: Case(Of(places), [(torch.randn(2, 5), torch.tensor([[0, 4, 1], [2, 3, 3]]))]),
    "norms": lambda: Case(Of(norms), [(torch.randn(1, 4, 6, 8),)]),
    "dynamic halves": lambda: _dynamic(halved, (8, 32, 2, 32)),
    "dynamic rows": lambda: Case(
        Linears(True), [_rows(n) for n in (12, 1, 64, 7)], ({0: Dim("rows", min=1, max=64)},)
    ),
    "buffer": lambda: Case(Sum(), [(torch.randn(4),) for _ in range(3)]),
    "attention": _attention,
    "rms norm": lambda: Case(nn.Sequential(RmsNorm(64), nn.Linear(64, 8)), [(torch.randn(2, 5, 64),)]),
    "neighbours": _turned,
    "4w": lambda: Case(Linears(), [_rows()], quantize=by_torchao("4w")),
    "4w bias": lambda: Case(Linears(True), [_rows()], quantize=by_torchao("4w")),
    "4w table": lambda: Case(Table(), [(torch.tensor([[1, 39, 7]]),)], quantize=by_torchao("4w")),
    "8da4w": lambda: Case(Linears(), [_rows()], quantize=by_torchao("8da4w")),
    "8da4w bias": lambda: Case(Linears(True), [_rows()], quantize=by_torchao("8da4w")),
    "8 bits": lambda: Case(Linears(True), [_rows()], quantize=vulkan(False, 8)),
    "4 bits": lambda: Case(Linears(True), [_rows()], quantize=vulkan(False, 4)),
    "8 bits dynamic": lambda: Case(
        Linears(True), [_rows()], quantize=vulkan(True, 8), expected=without_activations
    ),
    "4 bits dynamic": lambda: Case(
        Linears(True), [_rows()], quantize=vulkan(True, 4), expected=without_activations
    ),
    "int8 generator": lambda: _integers(Generator(), *_image(8)),
    "int8 linears": lambda: _integers(Linears(True), *_rows()),
    "int8 row": lambda: _integers(Linears(True), *_rows(1)),
}  # fmt: skip


def cases() -> dict[str, Make]:
    """Those of its own, and the networks of xnnpack_precisions.py in float32, static int8 and 8da4w."""
    other = importlib.import_module(
        "xnnpack_precisions"
    )  # of test/interop, which the caller puts on the path

    def taken(name: str, quantize: Quantize | None) -> Make:
        def make() -> Case:
            module, inputs = other.make(name)
            return Case(module, [inputs], quantize=quantize)

        return make

    found = {**OWN, **{name: taken(name, None) for name in other.NETWORKS}}
    found |= {f"{name} int8": taken(name, by_export(int8_by_channel)) for name in other.NETWORKS}
    # 1.4.1 refuses linear layers of one row in 8da4w, such as images' networks end with
    few_bits = by_torchao("8da4w")
    return found | {f"{name} 8da4w": taken(name, few_bits) for name in ("mixer", *other.TEXTS)}


def exported(folder: Path) -> dict[str, Make]:
    """Networks that were exported elsewhere."""

    def taken(path: Path) -> Make:
        def make() -> Case:
            inputs = torch.load(path.with_suffix(".inputs"), weights_only=True)
            return Case(torch.export.load(path).module(), [tuple(inputs)])

        return make

    return {path.stem: taken(path) for path in sorted(folder.glob("*.pt2"))}


def write(name: str, make: Make, folder: Path) -> None:
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.exir import to_edge_transform_and_lower

    torch.manual_seed(0)
    case = make()
    module = case.module
    if not isinstance(module, torch.fx.GraphModule):
        module.eval()
    if case.quantize:
        module = case.quantize(module, case.calls[0])
    program = torch.export.export(module, case.calls[0], dynamic_shapes=case.dynamic, strict=True)
    edge = to_edge_transform_and_lower(program, partitioner=[VulkanPartitioner(case.options)])
    (folder / f"{name}.pte").write_bytes(edge.to_executorch().buffer)
    if case.expected:
        module = case.expected(module, case.calls[0])
    with torch.no_grad():
        outputs = [torch.utils._pytree.tree_leaves(module(*each)) for each in case.calls]
    rows = [
        [list(inputs), [out.clone() for out in outs]]
        for inputs, outs in zip(case.calls, outputs, strict=True)
    ]
    torch.save(rows, folder / f"{name}.pt")


def write_all(folder: Path, names: list[str], found: dict[str, Make]) -> None:
    import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  defines llama

    for name, make in found.items():
        if not names or name in names:
            try:
                write(name, make, folder)
            except Exception:
                (folder / f"{name}.error").write_text(traceback.format_exc())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("networks", type=Path, help="the folder of xnnpack_precisions.py")
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--exported", type=Path, help="a folder of exported programs, in addition")
    arguments = parser.parse_args()
    sys.path.append(str(arguments.networks))
    others = exported(arguments.exported) if arguments.exported else {}
    write_all(arguments.folder, arguments.names, {**cases(), **others})
