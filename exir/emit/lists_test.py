# SPDX-License-Identifier: BSD-3-Clause
"""Lists of one thing under operators that want lists of different kinds: each kind has a value of its own."""

from __future__ import annotations

import torch
from torch.export import export

from executorch.exir import schema, to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


class Lists(torch.nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """One list of tensors, one of tensors that may be missing; the same slots as lists of numbers."""
        return x[i], torch.cat([i]), torch.stack([i]), x.sum([0]), x.flip([0])


def test_lists_of_different_kinds_share_no_value() -> None:
    inputs = (torch.arange(6.0).reshape(2, 3), torch.tensor([1, 0, 1]))
    manager = to_edge(export(Lists(), inputs)).to_executorch()
    values = [value.val for value in manager.executorch_program.execution_plan[0].values]
    index = next(v.items for v in values if isinstance(v, schema.OptionalTensorList))
    assert any(isinstance(v, schema.TensorList) and v.items == index for v in values)
    results = _load_for_executorch_from_buffer(manager.buffer).forward(inputs)
    torch.testing.assert_close(tuple(results), Lists()(*inputs))
