# SPDX-License-Identifier: BSD-3-Clause
"""Values that delegates of a device take and give lie in the device's memory.

before: %y = executorch_call_delegate(%m, %x)    after: %d = et_copy._h2d_copy(%x)
        %z = getitem(%y, 0); sin(%z)                    %y = executorch_call_delegate(%m, %d); %z = getitem(%y, 0)
                                                        %h = et_copy._d2h_copy(%z); sin(%h)
A delegate says its device by a compile spec `target_device`, such as b"cuda:0".
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

import executorch.exir.passes._device_copy_ops_registry  # noqa: F401  (defines the operators)
from executorch.exir.lowered_backend_module import get_lowered_submodules
from executorch.exir.passes.propagate_device_config import (
    PropagateDeviceConfig as PropagateDeviceConfig,
)
from executorch.exir.schema import DeviceType
from executorch.exir.tensor import TensorSpec

TARGET_DEVICE_COMPILE_SPEC_KEY = "target_device"
Device = tuple[DeviceType, int]
_CPU: Device = (DeviceType.CPU, 0)


class PropagateDevicePass(PassBase):
    """Works in place, after specs are known. Without `enable_non_cpu_memory_planning` values are marked and not copied:
    the delegate copies. `skip_...`: the method's inputs (outputs) are in the device's memory already."""

    def __init__(
        self,
        skip_h2d_for_method_inputs: bool = False,
        skip_d2h_for_method_outputs: bool = False,
        enable_non_cpu_memory_planning: bool = False,
    ) -> None:
        super().__init__()
        if (
            skip_h2d_for_method_inputs or skip_d2h_for_method_outputs
        ) and not enable_non_cpu_memory_planning:
            raise ValueError(
                "skip_h2d_for_method_inputs and skip_d2h_for_method_outputs are only meaningful when "
                "enable_non_cpu_memory_planning=True: without it no copies are made"
            )
        self.skip_h2d_for_method_inputs = skip_h2d_for_method_inputs
        self.skip_d2h_for_method_outputs = skip_d2h_for_method_outputs
        self.enable_non_cpu_memory_planning = enable_non_cpu_memory_planning

    def call(self, graph_module: GraphModule) -> PassResult:
        found = [
            (call, device)
            for _, lowered, call in get_lowered_submodules(graph_module)
            if (device := _device_of(lowered.compile_specs)) not in (None, _CPU)
        ]
        for call, device in found:
            self._place_inputs(call, device)
            self._place_outputs(call, device)
        if found:
            graph_module.recompile()
        return PassResult(graph_module, bool(found))

    def _place_inputs(self, call: Node, device: Device) -> None:
        for source in list(dict.fromkeys(call.all_input_nodes)):
            if not isinstance(source.meta.get("spec"), TensorSpec):
                continue
            if not self.enable_non_cpu_memory_planning:
                _mark(source.meta["spec"], device)
            elif source.target is torch.ops.et_copy._d2h_copy.default and _is_on(
                source.args[0], device
            ):
                call.replace_input_with(source, source.args[0])
                if not source.users:
                    source.graph.erase_node(source)
            elif source.op == "placeholder" and self.skip_h2d_for_method_inputs:
                _check_single_user(source)
                _mark(source.meta["spec"], device)
            elif not _is_on(source, device):
                call.replace_input_with(source, _copied(source, call, device))

    def _place_outputs(self, call: Node, device: Device) -> None:
        for spec in _specs(call.meta.get("spec")):
            _mark(spec, device)
        for item in list(call.users):
            if item.target is not operator.getitem:
                continue
            for spec in _specs(item.meta.get("spec")):
                _mark(spec, device)
            readers = [user for user in item.users if not self._may_read(user)]
            if self.enable_non_cpu_memory_planning and readers:
                with item.graph.inserting_after(item):
                    copied = item.graph.call_function(torch.ops.et_copy._d2h_copy.default, (item,))
                _describe(copied, item, _CPU)
                for user in readers:
                    user.replace_input_with(item, copied)

    def _may_read(self, user: Node) -> bool:
        return user.op == "output" and self.skip_d2h_for_method_outputs


def _copied(source: Node, before: Node, device: Device) -> Node:
    with before.graph.inserting_before(before):
        node = before.graph.call_function(torch.ops.et_copy._h2d_copy.default, (source,))
    _describe(node, source, device)
    return node


def _describe(node: Node, source: Node, device: Device) -> None:
    node.meta["val"] = source.meta.get("val")
    spec = copy.copy(source.meta["spec"])
    spec.const = False
    spec.init_mem_planning_fields()
    spec.inplace_base = None
    _mark(spec, device)
    node.meta["spec"] = spec


def _check_single_user(placeholder: Node) -> None:
    if len(placeholder.users) > 1:
        raise RuntimeError(
            f"skip_h2d_for_method_inputs=True requires placeholder {placeholder.name!r} to have exactly one user, but "
            f"it has {len(placeholder.users)}: its memory is either the host's or the device's"
        )


def _is_on(node: Node, device: Device) -> bool:
    spec = node.meta.get("spec")
    return isinstance(spec, TensorSpec) and (spec.device, spec.device_index) == device


def _specs(value: Any) -> list[TensorSpec]:
    values = value if isinstance(value, list | tuple) else [value]
    return [spec for spec in values if isinstance(spec, TensorSpec)]


def _mark(spec: TensorSpec, device: Device) -> None:
    spec.device, spec.device_index = device


def _device_of(compile_specs: list[Any]) -> Device | None:
    for spec in compile_specs:
        if spec.key == TARGET_DEVICE_COMPILE_SPEC_KEY:
            return _parse_device_spec_value(spec.value)
    return None


def _parse_device_spec_value(value: bytes) -> Device:
    """`cuda:0`, `cuda` or `cpu` in bytes."""
    name, _, index = value.decode().strip("\0 ").partition(":")
    if name.upper() not in DeviceType.__members__:
        raise ValueError(
            f"Unknown device type {name!r}. Valid types: {', '.join(DeviceType.__members__)}"
        )
    return DeviceType[name.upper()], int(index or 0)
