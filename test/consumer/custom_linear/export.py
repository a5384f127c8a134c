# SPDX-License-Identifier: BSD-3-Clause
"""Replaces the linear layers of a model by the operator, exports it, and prints its first number on ones.

export.py <libcustom_linear.so> <model.pte to write>
"""

import sys

import torch
from torch import nn

from executorch.exir import to_edge

torch.ops.load_library(sys.argv[1])


class CustomLinear(nn.Module):
    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().t().contiguous())
        self.bias = linear.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.myop.custom_linear(self.weight, x, self.bias)


def replace_linear_with_custom_linear(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, CustomLinear(child))
        else:
            replace_linear_with_custom_linear(child)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2))).eval()
inputs = (torch.ones(3, 4),)
expected = model(*inputs)[0, 0].item()
replace_linear_with_custom_linear(model)
program = to_edge(torch.export.export(model, inputs)).to_executorch()
names = {operator.name for operator in program.executorch_program.execution_plan[0].operators}
assert "myop::custom_linear" in names and "aten::linear" not in names, names
program.save(sys.argv[2])
print(expected)
