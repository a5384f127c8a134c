# SPDX-License-Identifier: BSD-3-Clause
"""The dtype validator: silent on what the compiler makes, and exact about what a pass has broken."""

from __future__ import annotations

import pytest
import torch

from executorch.examples.models import make_example
from executorch.exir import to_edge
from executorch.exir.verification.dtypes import dtype_violations


class Mixed(torch.nn.Module):
    """Dtypes that calls decide: casts, sums of integers, numbers beside integers, comparisons."""

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            i.to(torch.float64) + x,
            i.sum(0, dtype=torch.float32),
            i * 2.5,
            i.sum(0),
            torch.where(x > 0, x, i),
            torch.full_like(x, 3, dtype=torch.int64),
            x.half() + 1,
        )


@pytest.mark.req("KS-014", "CMP-018")
@pytest.mark.parametrize("name", ["mul", "linear", "softmax", "llama_kv"])
def test_programs_of_the_compiler_have_none(name: str) -> None:
    program = to_edge(make_example(name).export()).exported_program()
    assert dtype_violations(program.graph_module) == []


@pytest.mark.req("KS-014", "CMP-018")
def test_calls_that_decide_their_dtype_have_none() -> None:
    inputs = (torch.randn(2, 3), torch.ones(2, 3, dtype=torch.int32))
    program = to_edge(torch.export.export(Mixed(), inputs)).exported_program()
    assert dtype_violations(program.graph_module) == []


class Multiply(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.mm(a, b)


@pytest.mark.req("KS-014", "CMP-018")
@pytest.mark.parametrize("broken", ["b", "mm"])
def test_a_pass_that_breaks_a_dtype_is_told(broken: str) -> None:
    """One operand, or the result, gets another dtype than the row of `mm` allows."""
    inputs = (torch.randn(2, 3), torch.randn(3, 4))
    program = to_edge(torch.export.export(Multiply(), inputs)).exported_program()
    module = program.graph_module
    (node,) = [n for n in module.graph.nodes if broken in n.name.split("_")]
    node.meta["val"] = node.meta["val"].to(torch.float64)
    (text,) = dtype_violations(module)
    name = "mat2" if broken == "b" else "__ret_0"
    assert "aten.mm.default: expected" in text and "found self float32" in text
    assert f"{name} float64" in text and "torch.mm(a, b)" in text
