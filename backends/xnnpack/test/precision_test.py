# SPDX-License-Identifier: BSD-3-Clause
"""In which precision a delegate computes: `compute_precision` of float programs, and programs in half precision."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import CPUINFO, computes_halves
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Method, Runtime

HAS_PRODUCTS = CPUINFO.exists() and "avx512_bf16" in CPUINFO.read_text()
HAS_HALVES = computes_halves()
MODELS = {
    "linear": (nn.Sequential(nn.Linear(300, 520), nn.ReLU(), nn.Linear(520, 33)), (9, 300)),
    "convolution": (nn.Sequential(nn.Conv2d(17, 40, 3, 2, 1), nn.ReLU6()), (2, 17, 19, 23)),
    "pointwise": (nn.Conv2d(65, 31, 1), (1, 65, 7, 9)),
    "groups": (nn.Conv2d(64, 96, 5, padding=2, groups=2), (1, 64, 11, 6)),
    "few channels": (nn.Conv2d(3, 32, 7, 2, 3), (1, 3, 40, 56)),
}


def exported(module: nn.Module, x: torch.Tensor) -> bytes:
    program = torch.export.export(module.eval(), (x,))
    edge = to_edge_transform_and_lower(
        program, partitioner=[XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)]
    )
    return bytes(edge.to_executorch().buffer)


def loaded(data: bytes, **options: bool | int | str) -> Method:
    program = Runtime.get().load_program(data, backend_options={"XnnpackBackend": options})
    method = program.load_method("forward")
    assert method is not None
    return method


def off(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("name", MODELS)
def test_bf16_matmul(name: str) -> None:
    """Two rounded operands: 2^-9 each at most, about 0.003 in the mean of a sum. Other convolutions stay in float32."""
    torch.manual_seed(0)
    module, shape = MODELS[name]
    x = torch.randn(shape)
    expected = module(x).detach()
    data = exported(module, x)
    method = loaded(data, compute_precision="bfloat16")
    first, second = (method.execute([x])[0].clone() for _ in range(2))
    assert torch.equal(first, second)
    if HAS_PRODUCTS and name in ("linear", "pointwise"):
        assert 5e-4 < off(first, expected) < 6e-3
    else:
        assert off(first, expected) < 1e-5
    assert off(loaded(data).execute([x])[0], expected) < 1e-5


def test_both_precisions_of_one_model_at_once(tmp_path: Path) -> None:
    """Packed weights are shared by what they are packed for, in memory and in a file."""
    torch.manual_seed(0)
    module, x = nn.Linear(256, 512), torch.randn(5, 256)
    data, expected = exported(module, x), module(x).detach()
    options = {"packed_cache_path": str(tmp_path / "packed")}
    rounded = loaded(data, compute_precision="bfloat16", **options)
    exact = loaded(data, compute_precision="float32", **options)
    found = [method.execute([x])[0].clone() for method in (rounded, exact)]
    registry = Runtime.get().backend_registry
    registry.set_options("XnnpackBackend", {"save_weight_cache_on_disk": True})
    del rounded, exact
    again = loaded(data, compute_precision="bfloat16", **options)
    assert torch.equal(again.execute([x])[0], found[0])
    assert off(found[1], expected) < 1e-6
    assert not HAS_PRODUCTS or off(found[0], expected) > 5e-4


def test_convolutions_without_winograd() -> None:
    """Transforms subtract pixels, so an infinite one is NaN in its neighbours' tiles; sums of products keep it in the
    windows that it is in. Weights are packed for each way."""
    torch.manual_seed(0)
    module, x = nn.Conv2d(64, 64, 3, padding=1), torch.randn(1, 64, 14, 15)
    with torch.no_grad():
        module.weight.abs_()  # so that no window has infinities of both signs
    x[0, 5, 6, 7] = float("inf")
    data, expected = exported(module, x), module(x).detach()
    fast, plain = loaded(data), loaded(data, winograd_enabled=False)
    for _ in range(2):
        torch.testing.assert_close(plain.execute([x])[0], expected, rtol=1e-5, atol=1e-5)
    found = fast.execute([x])[0]
    assert found.isnan().any()
    options = {"XnnpackBackend": {"winograd_enabled": "no"}}
    with pytest.raises(RuntimeError, match="winograd_enabled"):
        Runtime.get().load_program(data, backend_options=options).load_method("forward")


class Halves(nn.Module):
    """An output that others read, an input that is one's neighbour, constants that are packed and that are read, a
    filter that two layers share."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(72, 96), nn.Linear(96, 72, bias=False)
        self.register_buffer("shift", torch.randn(72))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = torch.relu(self.first(x))
        out = self.second(hidden) + self.shift
        return hidden, out * y, self.first(out) - 1, torch.cat([y, out])


@pytest.mark.skipif(HAS_HALVES, reason="this processor computes in half precision")
def test_half_precision_without_its_arithmetic_is_rounded_at_arguments_alone() -> None:
    """2^-11 is half a unit of what an output of half precision holds."""
    torch.manual_seed(0)
    module = Halves().half()
    x, y = torch.randn(5, 72).half(), torch.randn(5, 72).half()
    rows = torch.export.Dim("rows", min=2, max=9)
    program = torch.export.export(module, (x, y), dynamic_shapes=({0: rows}, {0: rows}))
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    names = [str(node.target) for node in edge.exported_program().graph.nodes]
    assert sum("executorch_call_delegate" in name for name in names) == 1
    method = loaded(bytes(edge.to_executorch().buffer))
    exact = Halves()
    exact.load_state_dict(module.state_dict())
    for count in (5, 2, 9, 5):
        inputs = torch.randn(count, 72).half(), torch.randn(count, 72).half()
        found = method.execute(list(inputs))
        for mine, expected in zip(found, exact(*(each.float() for each in inputs))):
            assert mine.dtype == torch.float16
            error = (mine.float() - expected).abs()
            assert bool((error <= expected.abs() * 2**-11 + 1e-5).all())


def test_half_precision_with_steps_in_float_is_one_delegate() -> None:
    """What PyTorch decomposes into steps of float32 between conversions, as silu."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(24, 40), nn.SiLU(), nn.Hardswish(), nn.Linear(40, 24)).half()
    x = torch.randn(7, 24).half()
    edge = to_edge_transform_and_lower(
        torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()]
    )
    names = [str(n.target) for n in edge.exported_program().graph.nodes if n.op == "call_function"]
    assert names == ["executorch_call_delegate", "<built-in function getitem>"]
    found = loaded(bytes(edge.to_executorch().buffer)).execute([x])[0]
    expected = module.float()(x.float()).detach()
    assert off(found.float(), expected) < 2e-3


@pytest.mark.skipif(HAS_HALVES, reason="this processor computes in half precision")
def test_half_precision_without_its_arithmetic_overflows_at_arguments_alone() -> None:
    class Squares(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return (x * x) * 2**-10, x * x

    x = torch.tensor([3.0, 600.0, -1000.0]).half()
    scaled, plain = loaded(exported(Squares(), x)).execute([x])
    assert torch.equal(
        scaled, torch.tensor([9 / 1024, 600 * 600 / 1024, 1000 * 1000 / 1024]).half()
    )
    assert plain.tolist() == [9.0, float("inf"), float("inf")]
