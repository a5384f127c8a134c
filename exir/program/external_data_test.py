# SPDX-License-Identifier: BSD-3-Clause
"""What goes to data files, under which names, and what must have a name. Expected maps were printed by upstream."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import export
from torch.export.experimental import _export_forward_backward

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, to_edge
from executorch.exir.error import InternalError
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


def lowered(module: torch.nn.Module, inputs: Any, **options: Any) -> ExecutorchProgramManager:
    return to_edge(export(module, inputs)).to_executorch(ExecutorchBackendConfig(**options))


class WithWeights(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("scale", torch.full((3,), 5.0))
        self.shift = torch.full((3,), 7.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * torch.tensor([1, 2, 3]) + 1 + self.scale * self.shift


def test_data_files_have_the_models_data_by_its_names_and_no_numbers() -> None:
    """Also where two of them could be one constant: other programs and trainers look for the names."""
    torch.manual_seed(0)
    model, x = WithWeights(), torch.ones(1, 3)
    names = ["linear.weight", "linear.bias", "scale", "shift"]
    program = lowered(model, (x,), external_constants=True)
    emitted = program._emitter_output
    assert emitted.external_constant_map == {
        "_default_external_constant": {name: place for place, name in enumerate(names)}
    }
    sizes = [len(each.storage) for each in program.executorch_program.constant_buffer]
    assert sizes == [0, 24]  # [1, 2, 3]
    chosen = lowered(model, (x,), external_constants=lambda node: f"file_{node.name}")
    assert sorted(chosen._emitter_output.external_constant_map) == [
        "file_b_scale",
        "file_c_shift",
        "file_p_linear_bias",
        "file_p_linear_weight",
    ]
    (data,) = program._tensor_data.values()
    loaded = _load_for_executorch_from_buffer(program.buffer, bytes(data))
    torch.testing.assert_close(loaded.forward((x,)), [model(x)])


def test_weights_that_are_trained_go_to_data_files_too() -> None:
    class Loss(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)
            self.one.requires_grad_(False)

        def forward(self, x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(self.two(self.one(x)), label)

    inputs = (torch.ones(1, 3), torch.ones(1, dtype=torch.int64))
    joint = _export_forward_backward(export(Loss(), inputs))
    names = {}
    for option in ("external_constants", "external_mutable_weights"):
        program = to_edge(joint).to_executorch(ExecutorchBackendConfig(**{option: True}))
        (files,) = program._emitter_output.external_constant_map.values()
        names[option] = sorted(files)
    trained = ["two.bias", "two.weight"]
    assert names["external_mutable_weights"] == trained
    assert names["external_constants"] == ["one.bias", "one.weight", *trained]


def test_a_buffer_without_memory_has_a_name() -> None:
    class Count(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x + self.count

    planning = MemoryPlanningPass(alloc_mutable_buffers=False)
    with pytest.raises(InternalError, match="neither memory .* nor a name"):
        lowered(Count(), (torch.ones(1),), memory_planning_pass=planning)
    named = lowered(
        Count(), (torch.ones(1),), memory_planning_pass=planning, emit_mutable_buffer_names=True
    )
    assert len(named.buffer) > 0
