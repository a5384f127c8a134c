# SPDX-License-Identifier: BSD-3-Clause
"""One error names everything that keeps a model from becoming a program: the node, its Python line, the way out."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
from torch.export import Dim, ExportedProgram, export
from torch.nn.attention.flex_attention import flex_attention

from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.error import ExportError
from executorch.exir.program_copies import own_copy

library = torch.library.Library("diagnosed", "DEF")
library.define("odd(Tensor x) -> Tensor")
library.impl("odd", lambda x: x.clone(), "CompositeExplicitAutograd")


class Many(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, ...]:
        odd = torch.ops.diagnosed.odd(x)
        by_data = torch.zeros(n.item()) + 1
        power = torch.zeros(x.shape[0] ** 2, 2)
        strange = (x * 2).to(torch.complex32)
        return odd + 1, by_data, power, torch.view_as_real(strange)


def message_of(program: ExportedProgram) -> str:
    manager = to_edge(program)
    with pytest.raises(ExportError) as caught:
        manager.to_executorch()
    return str(caught.value)


def test_all_diagnostics_are_told_at_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # complex32 is experimental in torch
        program = export(
            Many(), (torch.randn(3, 4), torch.tensor(3)), dynamic_shapes=({0: Dim.DYNAMIC}, None)
        )
        text = message_of(program)
    assert text.startswith(
        "[ExportErrorType.NOT_SUPPORTED]: method forward cannot become a program:\n- "
    )
    for pattern in (
        r"Missing out variants: \{'diagnosed::odd'\}",
        r"diagnosed::odd: node diagnosed_odd_default .*odd = torch\.ops\.diagnosed\.odd\(x\)",
        r"x \(sizes \(s\d+, 4\)\)",
        r"aten_full_default \(sizes \(u0,\)\) .*torch\.zeros\(n\.item\(\)\)",
        r"and \d+ computed from them\. Give one: torch\.export\.Dim\(name, max=\.\.\.\)",
        r"computes pow of sizes, which the runtime cannot: use \+",
        r"pow_1 .*x\.shape\[0\] \*\* 2",
    ):
        assert re.search(pattern, text), (pattern, text)


def test_a_dtype_that_files_cannot_hold_is_named_with_its_node() -> None:
    class Sine(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.diagnosed.odd(torch.sin(x))

    program = own_copy(to_edge(export(Sine(), (torch.ones(2),))).exported_program())
    (sine,) = (node for node in program.graph.nodes if node.name == "aten_sin_default")
    sine.meta["val"] = sine.meta["val"].to(torch.float8_e8m0fnu)
    with pytest.raises(ExportError) as caught:
        EdgeProgramManager(program).to_executorch()
    text = str(caught.value)
    assert "aten_sin_default" in text and "torch.float8_e8m0fnu, which files cannot hold" in text
    assert "torch.sin(x)" in text and "convert it with .to(dtype)" in text
    assert "diagnosed::odd" in text


def test_an_operator_over_graphs_that_nothing_lowers() -> None:
    class Attention(torch.nn.Module):
        def forward(self, q: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return flex_attention(q, q, q), torch.ops.diagnosed.odd(q)

    text = message_of(export(Attention(), (torch.randn(1, 2, 128, 16),)))
    assert "calls higher-order operator flex_attention; programs hold cond, " in text
    assert "give it to a backend" in text and "diagnosed::odd" in text
