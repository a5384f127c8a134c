# SPDX-License-Identifier: BSD-3-Clause
"""Networks that AOTInductor compiled for the processor, run by our runtime, beside eager PyTorch. Each is compiled by
g++, some ten seconds."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, export

from executorch.backends.aoti import host_compiler
from executorch.backends.aoti.aoti_backend import AotiBackend
from executorch.backends.aoti.aoti_cpu import AotiCpuBackend, AotiCpuPartitioner
from executorch.backends.aoti.inductor import OPTIONS
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import (
    _load_for_executorch_from_buffer,
    _set_backend_options,
)
from executorch.test.e2e.build_tree import load_backend

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not host_compiler.find_compiler(), reason="needs g++"),
]


class Sum(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (each.view(*x.shape[:2], 2, 8).transpose(1, 2) for each in parts)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(x.shape))


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(10, 6), nn.Linear(6, 3, bias=False)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        return self.head(self.embedding(tokens)).softmax(-1), tokens + 1


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin() * 2, lambda x: x - 1, (x,))


class Cache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(8, 4))
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor, place: Tensor) -> Tensor:
        self.rows.index_copy_(0, place, self.linear(x))
        return self.rows.sum(0)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(5, 6, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


class Best(nn.Module):
    """topk stays on the CPU's kernels."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = torch.topk(x.exp() + 1, 3)
        return values * 2, places


class Integers(nn.Module):
    def forward(self, x: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
        return x[rows], (x > 0).any(0), x.long() // 3


class Cast(nn.Module):
    """Of another dtype and layout, which edge programs call by dim orders."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.to(torch.float64, memory_format=torch.channels_last) * 2
        return y.float() + 1, x.clone(memory_format=torch.channels_last).relu()


class Windows(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        resized = nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        return nn.functional.max_pool2d(x, 2), resized, nn.functional.avg_pool2d(x, 3, padding=1)


class Skip(nn.Module):
    """As of a U-Net: down, up, and what was before beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.Conv2d(7, 2, 3, padding=1)
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        low = nn.functional.silu(self.norm(self.down(x)))
        return self.up(torch.cat([nn.functional.interpolate(low, scale_factor=2.0), x], 1))


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wide, self.norm, self.out = nn.Linear(8, 12), nn.RMSNorm(6), nn.Linear(6, 8)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.out(self.norm(nn.functional.glu(self.wide(x))))


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(4, 4, 3, padding=1, bias=False), nn.InstanceNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        return (x + nn.functional.elu(self.norm(self.conv(x)))).mean(-1)


class Mixed(nn.Module):
    """Experts by weights of a router."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.experts = nn.Linear(6, 3), nn.Parameter(torch.randn(3, 6, 4))

    def forward(self, x: Tensor) -> Tensor:
        weights = self.router(x).softmax(-1)
        return torch.einsum("be,bi,eio->bo", weights, x, self.experts)


class Picked(nn.Module):
    def forward(self, x: Tensor, places: Tensor) -> tuple[Tensor, ...]:
        masked = x.masked_fill(x > 1, 0.0)
        return x.gather(1, places), torch.where(x > 0, masked, -x), x.argmax(1), x.amax(0)


def normed() -> nn.Module:
    return nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8), nn.LeakyReLU(), nn.Dropout(), nn.Linear(8, 2)
    ).eval()


def convolutions() -> nn.Module:
    """As of MobileNetV2."""
    return nn.Sequential(
        *(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()),
        *(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish(), nn.Conv2d(8, 4, 1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)),
    ).eval()


def sequence() -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(3, 6, 3, padding=2, dilation=2),
        nn.Tanh(),
        nn.ConvTranspose1d(6, 4, 4, stride=2, padding=1),
    )


def perceptron(dtype: torch.dtype = torch.float32) -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3)).to(dtype)


def numbers(*sizes: int, seed: int = 0) -> Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed))


def lowered(
    models: nn.Module | dict[str, nn.Module], inputs: tuple[Tensor, ...], **how: Any
) -> EdgeProgramManager:
    models = {"forward": models} if isinstance(models, nn.Module) else models
    programs = {name: export(model, inputs, **how) for name, model in models.items()}
    return to_edge_transform_and_lower(programs, partitioner=[AotiCpuPartitioner()])


def check(model: nn.Module, calls: list[tuple[Tensor, ...]], left: int = 0, **how: Any) -> None:
    """One delegate beside `left` calls; then all calls on one loaded method, in order."""
    load_backend("aoti_cpu_backend")
    eager = copy.deepcopy(model)
    manager = lowered(model, calls[0], **how)
    graph = manager.exported_program().graph
    operators = [node for node in graph.nodes if str(node.target).startswith(("aten", "<EdgeOp"))]
    assert len(operators) == left
    loaded = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for inputs in calls:
        expected = eager(*inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for one, other in zip(loaded.run_method("forward", inputs), expected, strict=True):
            torch.testing.assert_close(one, other)


BATCH = Dim("batch", min=2, max=8)
NETWORKS: dict[str, tuple[Callable[[], nn.Module], list[tuple[Tensor, ...]]]] = {
    "sum": (Sum, [(numbers(3, 2), numbers(3, 2, seed=1))]),
    "perceptron": (perceptron, [(numbers(2, 8),)]),
    "bfloat16": (lambda: perceptron(torch.bfloat16), [(numbers(2, 8).bfloat16(),)]),
    "convolutions": (convolutions, [(numbers(2, 3, 16, 16),)]),
    "channels_last": (
        convolutions,
        [(numbers(2, 3, 16, 16).to(memory_format=torch.channels_last),)],
    ),
    "sequence": (sequence, [(numbers(1, 3, 10),)]),
    "attention": (Attention, [(numbers(2, 5, 16),)]),
    "words": (Words, [(torch.tensor([[1, 2, 9]]),)]),
    "branches": (Branches, [(numbers(3).abs(),), (-numbers(3).abs(),)]),
    "cache": (Cache, [(numbers(1, 4, seed=i), torch.tensor([i % 2])) for i in range(3)]),
    "recurrent": (Recurrent, [(numbers(2, 4, 5),)]),
    "integers": (Integers, [(numbers(4, 3) * 9, torch.tensor([3, 0]))]),
    "cast": (Cast, [(numbers(1, 2, 3, 4),)]),
    "windows": (Windows, [(numbers(1, 2, 8, 8),)]),
    "skip": (Skip, [(numbers(1, 3, 8, 8),)]),
    "gated": (Gated, [(numbers(3, 8),)]),
    "mixed": (Mixed, [(numbers(3, 6),)]),
    "picked": (Picked, [(numbers(3, 4), torch.tensor([[0, 3], [1, 1], [2, 0]]))]),
    "residual": (Residual, [(numbers(2, 4, 9),)]),
    "normed": (normed, [(numbers(4, 6),)]),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_those_of_pytorch(name: str) -> None:
    torch.manual_seed(0)
    model, calls = NETWORKS[name]
    check(model(), calls)


def test_batches_may_have_any_size_within_bounds() -> None:
    torch.manual_seed(0)
    calls = [(numbers(size, 8),) for size in (3, 2, 8)]
    check(perceptron(), calls, dynamic_shapes={"input": {0: BATCH}})


def test_what_inductor_leaves_runs_between() -> None:
    check(Best(), [(numbers(2, 6),)], left=1)


def test_libraries_of_inductors_own_compile_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of other devices are made, and with them the one for CUDA."""
    torch.manual_seed(0)
    own = AotiBackend.__dict__
    monkeypatch.setattr(AotiCpuBackend, "get_aoti_compile_options", lambda specs: dict(OPTIONS))
    monkeypatch.setattr(
        AotiCpuBackend, "link", lambda *given: own["link"].__func__(AotiCpuBackend, *given)
    )
    check(perceptron(), [(numbers(2, 8),)])


class Tokens(nn.Module):
    """Rows of a KV cache and what is read of it, for one token or several."""

    def __init__(self) -> None:
        super().__init__()
        self.key = nn.Linear(4, 4)
        self.register_buffer("rows", torch.zeros(8, 4))

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        self.rows.index_copy_(0, places, self.key(x))
        return (x @ self.rows.t()).softmax(-1) @ self.rows


def test_methods_have_caches_of_their_own() -> None:
    """One in a program of two methods each: what prefill wrote is kept for prefill."""
    load_backend("aoti_cpu_backend")
    torch.manual_seed(0)
    model = Tokens()
    methods = {
        "prefill": (numbers(3, 4), torch.arange(3)),
        "decode": (numbers(1, 4), torch.tensor([3])),
    }
    programs = {name: export(copy.deepcopy(model), inputs) for name, inputs in methods.items()}
    manager = to_edge_transform_and_lower(programs, partitioner=[AotiCpuPartitioner()])
    loaded = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for name in methods:
        eager = copy.deepcopy(model)
        for step in range(4):
            inputs = (numbers(*methods[name][0].shape, seed=step), (methods[name][1] + step) % 8)
            torch.testing.assert_close(loaded.run_method(name, inputs)[0], eager(*inputs))


def test_methods_share_their_cache_when_asked() -> None:
    """What prefill wrote, decode reads: as one model whose calls they are."""
    load_backend("aoti_cpu_backend")
    torch.manual_seed(0)
    eager = Tokens()
    methods = {
        "prefill": (numbers(3, 4), torch.arange(3)),
        "decode": (numbers(1, 4), torch.tensor([3])),
    }
    programs = {name: export(copy.deepcopy(eager), inputs) for name, inputs in methods.items()}
    manager = to_edge_transform_and_lower(programs, partitioner=[AotiCpuPartitioner()])
    _set_backend_options({"AotiCpuBackend": {"weight_sharing_across_methods": True}})
    try:
        loaded = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
        calls = [("prefill", methods["prefill"])]
        calls += [("decode", (numbers(1, 4, seed=i), torch.tensor([i]))) for i in range(3, 8)]
        for name, inputs in calls:
            torch.testing.assert_close(loaded.run_method(name, inputs)[0], eager(*inputs))
    finally:
        _set_backend_options({"AotiCpuBackend": {"weight_sharing_across_methods": False}})


def test_methods_share_weights_that_are_the_same() -> None:
    load_backend("aoti_cpu_backend")
    model = nn.Linear(64, 64)
    methods = {"forward": model, "turned": nn.Sequential(model, nn.Tanh())}
    x = numbers(2, 64)
    manager = lowered(methods, (x,))
    keys = {
        key
        for name in methods
        for each in get_lowered_backend_modules(manager.exported_program(name).graph_module)
        for key in each.named_data_store_output.pte_data
    }
    assert len([key for key in keys if key.endswith("_so_blob")]) == 2
    assert len([key for key in keys if key.endswith("_weights_blob")]) == 1
    loaded = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for name, method in methods.items():
        torch.testing.assert_close(loaded.run_method(name, (x,))[0], method(x))


def test_two_hundred_loads_leave_nothing_behind() -> None:
    load_backend("aoti_cpu_backend")
    torch.manual_seed(0)
    model, x = perceptron(), numbers(2, 8)
    buffer = lowered(model, (x,)).to_executorch().buffer

    def once() -> None:
        loaded = _load_for_executorch_from_buffer(buffer)
        torch.testing.assert_close(loaded.run_method("forward", (x,))[0], model(x))
        del loaded
        gc.collect(0)

    def mapped() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    for _ in range(20):
        once()
    before = mapped()
    for _ in range(200):
        once()
    assert mapped() <= before + 8
