# SPDX-License-Identifier: BSD-3-Clause
"""Which calls are in float32 where a program is computed in halves."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.backend.lowering.wide_values import wide_calls
from executorch.exir.graph_facts import op_name

X = torch.randn(3, 4)


class Function(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def wide(function: Any) -> tuple[list[str], list[str]]:
    """Names of calls in float32, and of the others, with the inputs."""
    program = to_edge(export(Function(function), (X,))).exported_program()
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    constants = Constants(program)
    found = wide_calls([Step(call, call) for call in calls], constants)
    inputs = [node for node in program.graph.find_nodes(op="placeholder") if node not in constants]
    names = [
        (op_name(node).split(".")[1] if op_name(node) else node.name, node)
        for node in (*inputs, *calls)
    ]
    return [n for n, node in names if node in found], [n for n, node in names if node not in found]


CASES = [
    ("the root of a mean of squares, and what it divides",
     lambda x: torch.relu(x) * torch.rsqrt((x.relu() ** 2).mean(-1, True) + 1e-6) * 2,
     "pow mean add rsqrt mul", "x relu relu mul"),
    ("a product with itself", lambda x: (x.relu() * x.relu()).sum(), "", "x relu relu mul sum"),
    ("squares of one value", lambda x: torch.square(x.relu()).sum(-1).sqrt() + 1, "pow sum sqrt add", "x relu"),
    ("squares by a constant", lambda x: (x.relu().square() * 0.5 / 3).mean(-1).rsqrt() + 1,
     "pow mul div mean rsqrt add", "x relu"),
    ("squares by what is narrow", lambda x: (x.relu().square() * x).mean(-1) + 1, "", "x relu pow mul mean add"),
    ("a logarithm ends it", lambda x: torch.log1p(torch.exp(x.relu())) + x, "exp log1p", "x relu add"),
    ("a power that is a result", torch.exp, "x exp", ""),
    ("a power that nothing brings back", lambda x: torch.exp(x).tanh(), "", "x exp tanh"),
    ("a mean by hand", lambda x: x.relu().sum(-1) / 4 + 1, "sum div", "x relu add"),
    ("a sum alone", lambda x: x.relu().sum(-1) + 1, "", "x relu sum add"),
    ("a product that is divided", lambda x: x * x.relu() / 6 + x, "mul div", "x relu add"),
    ("a product that divides", lambda x: x.relu() / (x * 6), "", "x relu mul div"),
    ("a root of an input", lambda x: torch.sqrt(x) + 1, "x sqrt", "add"),
    ("a root of what is rounded already", lambda x: x.relu().sqrt() + 1, "", "x relu sqrt add"),
    ("roots are no powers", lambda x: x.relu().pow(0.5).sum() + 1, "", "x relu pow sum add"),
    ("a limit on the way", lambda x: x.relu() / x.relu().pow(2).sum().sqrt().clamp(1e-3) * 2,
     "pow sum sqrt clamp div", "x relu relu mul"),
    ("shapes on the way", lambda x: x.relu().pow(2).unsqueeze(0).mean(-1).log() * 2,
     "pow unsqueeze_copy mean log", "x relu mul"),
    ("a factor that halves do not hold", lambda x: x.relu() * 1e6 + 1, "mul", "x relu add"),
    ("the largest factor that is 0 in halves", lambda x: x.relu() * 2.0**-25 + 1, "mul", "x relu add"),
    ("a factor that is 2**-24 in halves", lambda x: x.relu() * (1.001 * 2.0**-25) + 1, "", "x relu mul add"),
    ("a divisor that is 0 in halves", lambda x: x.relu() / 1e-9 + 1, "div", "x relu add"),
    ("a mask that halves do not hold", lambda x: x.relu() + -1e9, "", "x relu add"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "inside", "outside"), [each[1:] for each in CASES], ids=[each[0] for each in CASES]
)
def test_what_is_in_float32(function: Any, inside: str, outside: str) -> None:
    assert wide(function) == (inside.split(), outside.split())


def test_what_is_of_another_dtype_is_not_asked_about() -> None:
    assert wide(lambda x: torch.exp(x.half()).sum())[0] == []
