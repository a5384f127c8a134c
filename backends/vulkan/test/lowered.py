# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the backend share: lowering a model, the chains of its payloads, and running them in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.test.reference import Machine, graph_of
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.runtime import Runtime


def lower(
    model: nn.Module,
    inputs: tuple[Any, ...],
    options: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    **lists: Any,
) -> EdgeProgramManager:
    exported = torch.export.export(_evaluated(model), inputs, dynamic_shapes=dynamic_shapes)
    return to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner(options, **lists)])


def _evaluated(model: nn.Module) -> nn.Module:
    """Captured graphs are what they are."""
    return model if isinstance(model, torch.fx.GraphModule) else model.eval()


def delegates(edge: EdgeProgramManager) -> list[Any]:
    return get_lowered_backend_modules(edge.exported_program().graph_module)


def left(edge: EdgeProgramManager) -> list[str]:
    """Operators outside of delegates."""
    names = [op_name(node) for node in edge.exported_program().graph.nodes]
    return [name for name in names if name]


def graphs(edge: EdgeProgramManager) -> list[Any]:
    return [graph_of(each.processed_bytes) for each in delegates(edge)]


def chain(edge: EdgeProgramManager) -> list[str]:
    """Operators of all payloads, but for copies of constants to the device."""
    names = [call.name for graph in graphs(edge) for call in graph.chain]
    return [name for name in names if name != "et_vk.prepack.default"]


def machine(edge: EdgeProgramManager) -> Machine:
    """Of a program that is one delegate."""
    (module,) = delegates(edge)
    store = module.named_data_store_output
    data = {key: bytes(store.buffers[entry.buffer_index]) for key, entry in store.pte_data.items()}
    return Machine(module.processed_bytes, data)


def method_on_device(edge: EdgeProgramManager) -> Any:
    """The whole program, loaded; None where it needs a device and none is."""
    runtime = Runtime.get()
    if delegates(edge) and not runtime.backend_registry.is_available("VulkanBackend"):
        return None
    return runtime.load_program(edge.to_executorch().buffer).load_method("forward")


def check_values(
    model: nn.Module, inputs: tuple[Any, ...], edge: EdgeProgramManager | None = None,
    runs: Sequence[tuple[Any, ...]] = (), rtol: float = 1e-4, atol: float = 1e-5,
) -> EdgeProgramManager:  # fmt: skip
    """Payload and model give the same, in every run of `runs` or for `inputs`: read in Python, and on a device."""
    edge = lower(model, inputs) if edge is None else edge
    loaded = machine(edge)
    device = method_on_device(edge)
    for each in runs or [inputs]:
        expected = model(*each)
        values = expected if isinstance(expected, tuple | list) else [expected]
        found = loaded.run(each)
        if device is not None:
            found += device.execute(list(each), copy=True)
            values = [*values, *values]
        for one, other in zip(found, values, strict=True):
            if other.dtype == torch.int64:
                one = one.to(other.dtype)  # as the runtime gives it
            torch.testing.assert_close(one, other, rtol=rtol, atol=atol, check_stride=False)
    return edge


def payloads(file: bytes) -> list[bytes]:
    """Of a program file."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    program = deserialize_pte_binary(file).program
    found = [each for plan in program.execution_plan for each in plan.delegates]
    data = program.backend_delegate_data
    return [bytes(data[each.processed.index].data) for each in found if each.id == "VulkanBackend"]


def kernels_of(file: bytes) -> Counter[str]:
    """Operators that a program file runs outside of delegates."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    found: Counter[str] = Counter()
    for plan in deserialize_pte_binary(file).program.execution_plan:
        for chain in plan.chains:
            calls = (each.instr_args for each in chain.instructions)
            kernels = (each for each in calls if type(each).__name__ == "KernelCall")
            found.update(plan.operators[each.op_index].name for each in kernels)
    return found
