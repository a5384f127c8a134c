# SPDX-License-Identifier: BSD-3-Clause
"""What is computed ahead of time is what every run would compute."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.exir import to_edge
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.graph_facts import op_name


class Noisy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return (
            x
            + self.weight.sin()
            + torch.rand_like(self.weight)
            + self.weight.clone().exponential_()
        )


def test_random_numbers_are_not_computed_ahead() -> None:
    program = to_edge(torch.export.export(Noisy(), (torch.ones(4),))).exported_program()
    constants = Constants(program, computed=None)
    computed = {op_name(node) for node in constants if constants.is_computed(node)}
    assert "aten.sin.default" in computed
    assert not computed & {"aten.rand_like.default", "aten.exponential.default"}
