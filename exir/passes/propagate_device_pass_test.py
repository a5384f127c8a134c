# SPDX-License-Identifier: BSD-3-Clause
"""Delegates of a device: where values lie, where they are copied, what the file says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import ExportedProgram, export

from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, to_edge
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.passes.propagate_device_config import PropagateDeviceConfig
from executorch.exir.passes.propagate_device_pass import (
    TARGET_DEVICE_COMPILE_SPEC_KEY,
    PropagateDevicePass,
    _parse_device_spec_value,
)
from executorch.exir.passes.spec_prop_pass import SpecPropPass
from executorch.exir.schema import DeviceType, NonConstBufferDevice

X, Y = torch.ones(2), torch.full((2,), 3.0)


class OnDevice(BackendDetails):
    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[Any]) -> PreprocessResult:
        return PreprocessResult(b"blob")


class Sums(Partitioner):
    """Each sum to a delegate of its own, on cuda:0."""

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        device = CompileSpec(TARGET_DEVICE_COMPILE_SPEC_KEY, b"cuda:0")
        tags = {}
        for node in exported_program.graph.nodes:
            if "add" in node.name:
                node.meta["delegation_tag"] = node.name
                tags[node.name] = DelegationSpec("OnDevice", [device])
        return PartitionResult(exported_program, tags)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = x + y
        b = a + x
        return b.sin(), b


class OneSum(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def lowered() -> EdgeProgramManager:
    return to_edge(export(Model(), (X, Y))).to_backend(Sums())


def copies(**options: bool) -> list[str]:
    program = lowered().exported_program()
    module = SpecPropPass()(program.graph_module).graph_module
    PropagateDevicePass(**options)(module)
    torch.testing.assert_close(program.module()(X, Y), Model()(X, Y))
    return [n.target.__name__.split(".")[0] for n in module.graph.nodes if "copy" in n.name]


def test_copies_stand_where_memory_changes() -> None:
    """x and y go in, x again for the second delegate; what lies on the device stays there; the result comes back."""
    assert copies(enable_non_cpu_memory_planning=True) == ["_h2d_copy"] * 3 + ["_d2h_copy"]
    assert copies() == []


def test_the_file_names_the_device() -> None:
    manager = lowered().to_executorch(ExecutorchBackendConfig(allow_missing_kernels=True))
    plan = manager.executorch_program.execution_plan[0]
    assert [op.name for op in plan.operators] == [
        "et_copy::_h2d_copy",
        "et_copy::_d2h_copy",
        "aten::sin",
    ]
    assert plan.non_const_buffer_device == [NonConstBufferDevice(2, DeviceType.CUDA, 0)]
    found = [getattr(value.val, "extra_tensor_info", None) for value in plan.values]
    assert sum(info is not None and info.device_type == DeviceType.CUDA for info in found) == 5
    config = ExecutorchBackendConfig(
        allow_missing_kernels=True, enable_non_cpu_memory_planning=False
    )
    (plan,) = lowered().to_executorch(config).executorch_program.execution_plan
    assert plan.non_const_buffer_device is None and len(plan.non_const_buffer_sizes) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["_h2d_copy", "_d2h_copy"]),
        ({"enable_non_cpu_memory_planning": False}, []),
        (
            {"propagate_device_config": PropagateDeviceConfig(skip_d2h_for_method_outputs=True)},
            ["_h2d_copy"],
        ),
        (
            {"propagate_device_config": {"forward": PropagateDeviceConfig({"forward": True})}},
            ["_d2h_copy"],
        ),
    ],
    ids=["default", "no device memory", "outputs stay on the device", "inputs lie there"],
)
def test_the_options_of_to_executorch_reach_the_pass(
    options: dict[str, Any], expected: list[str]
) -> None:
    config = ExecutorchBackendConfig(allow_missing_kernels=True, **options)
    program = to_edge(export(OneSum(), (X, Y))).to_backend(Sums()).to_executorch(config)
    names = [op.name for op in program.executorch_program.execution_plan[0].operators]
    assert names == [f"et_copy::{name}" for name in expected]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="only meaningful when"):
        PropagateDevicePass(skip_h2d_for_method_inputs=True)
    with pytest.raises(RuntimeError, match="exactly one user"):
        copies(skip_h2d_for_method_inputs=True, enable_non_cpu_memory_planning=True)
    assert _parse_device_spec_value(b"cuda:1") == (DeviceType.CUDA, 1)
    assert _parse_device_spec_value(b"cpu") == (DeviceType.CPU, 0)
    with pytest.raises(ValueError, match="Unknown device type 'tpu'. Valid types: CPU, CUDA"):
        _parse_device_spec_value(b"tpu:0")
