# SPDX-License-Identifier: BSD-3-Clause
"""Programs of ExecuTorch 1.4.1 with cortex_m operators run here, and ours have the same operators with the same
arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.cortex_m.passes.edge_config import edge_config
from executorch.backends.cortex_m.test import cortex_m_peer_networks
from executorch.backends.cortex_m.test.lowered import lowered, quantized
from executorch.exir import to_edge
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.backend.lowering.external.tool import tool_path
from executorch.runtime import Runtime
from executorch.test.interop import peer

MODEL = tool_path("arm", "tosa_reference_model")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(MODEL is None, reason="needs TOSA's packages"),
]


class Sum(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def spotter() -> nn.Module:
    """A keyword spotter in small."""
    return nn.Sequential(
        nn.Conv2d(1, 8, (10, 4), stride=2, padding=(5, 1)),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=1, groups=8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 1),
        nn.ReLU(),
        nn.AvgPool2d((25, 5)),
        nn.Flatten(),
        nn.Linear(8, 12),
    )


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[tuple[int, ...], ...]]] = {
    "linear": (lambda: nn.Linear(16, 8), ((2, 16),)),
    "layers": (lambda: nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)), ((2, 16),)),
    "sum": (Sum, ((2, 3), (2, 3))),
    "softmax": (lambda: nn.Softmax(-1), ((2, 9),)),
    "convolution": (lambda: nn.Conv2d(3, 4, 3, stride=2, padding=1), ((1, 3, 8, 8),)),
    "largest": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(2)), ((1, 3, 8, 8),)),
    "keyword spotter": (spotter, ((1, 1, 49, 10),)),
}


def made(name: str) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    torch.manual_seed(0)
    make, shapes = MODELS[name]
    inputs = tuple(torch.randn(shape) for shape in shapes)
    images = [each.dim() == 4 for each in inputs]
    layout = torch.channels_last if any(images) else torch.contiguous_format
    model = make().eval().to(memory_format=layout)
    return model, tuple(each.to(memory_format=layout) for each in inputs)


def _number(value: Any) -> Any:
    """What an argument is, where it is a number or a list of numbers; of a tensor its sizes and dtype."""
    inside = value.val
    if hasattr(inside, "sizes"):
        return (str(inside.scalar_type), tuple(inside.sizes))
    items = getattr(inside, "items", None)
    if items is not None:
        return "list"
    return next(iter(vars(inside).values()), None) if vars(inside) else None


def calls(data: bytes) -> list[tuple[str, tuple[Any, ...]]]:
    """Operators in order, with their arguments."""
    program = deserialize_pte_binary(data)
    program = getattr(program, "program", program)
    (plan,) = program.execution_plan
    found = []
    for each in plan.chains[0].instructions:
        call = each.instr_args
        if hasattr(call, "op_index"):
            op = plan.operators[call.op_index]
            found.append(
                (f"{op.name}.{op.overload}", tuple(_number(plan.values[i]) for i in call.args))
            )
    return found


def needed(found: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...]]]:
    """Without pads by nothing, which it leaves, and views, which it or we do without a call."""
    return [
        (op, args)
        for op, args in found
        if op != "aten::view_copy.out" and (op != "cortex_m::pad.out" or args[0] != args[-1])
    ]


def run(data: bytes, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    return Runtime.get().load_program(data).load_method("forward").execute(inputs)[0].clone()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("models")
    for name in MODELS:
        model, inputs = made(name)
        torch.export.save(torch.export.export(model, inputs), path / f"{name}.pt2")
    (packages,) = MODEL.parent.parent.glob("lib/python3*/site-packages")
    peer.lower_each(cortex_m_peer_networks.__file__, path, packages)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_programs_are_equal_and_run_here(folder: Path, name: str) -> None:
    theirs = peer.result(folder / f"{name}.pte").read_bytes()
    model, inputs = made(name)
    captured = torch.export.export(quantized(model, *inputs), inputs)
    ours = lowered(to_edge(captured, compile_config=edge_config())).to_executorch().buffer
    here, there = needed(calls(ours)), needed(calls(theirs))
    assert Counter(op for op, _ in here) == Counter(op for op, _ in there)
    assert here == there
    found, wanted = run(theirs, inputs), run(ours, inputs)
    assert torch.equal(found, wanted)
    with torch.no_grad():
        eager = model(*inputs)
    assert (found - eager).square().mean() < 1e-2 * eager.square().mean()
