# SPDX-License-Identifier: BSD-3-Clause
"""Gives every node its TensorSpec.

before: node.meta["val"] = FakeTensor(2, 3)      after: node.meta["spec"] = TensorSpec(float32, [2, 3])
getitem nodes and cond outputs share the spec of what they pick.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.export import ExportedProgram, ExportGraphSignature
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import DATA_KINDS, changing_data, input_specs
from executorch.exir.graph_module import is_control_flow
from executorch.exir.pass_base import ExportPass
from executorch.exir.tensor import TensorSpec, contiguous_stride_from_shape, dim_order_from_stride

_CHANNELS_LAST = frozenset({(0, 2, 3, 1), (0, 2, 3, 4, 1)})


def make_spec(x: Any) -> Any:
    """The spec of a fake value; lists and tuples give lists, scalars and None give None."""
    if isinstance(x, torch.Tensor):
        return TensorSpec.from_tensor(x)
    if isinstance(x, list | tuple):
        return [make_spec(item) for item in x]
    return None


class SpecPropPass(ExportPass):
    """Adds specs in place; nodes that have one keep it (aliases share)."""

    def __call__(self, graph_module: GraphModule) -> PassResult:
        return self.call(graph_module)

    def call(self, graph_module: GraphModule) -> PassResult:
        for module in graph_module.modules():
            if isinstance(module, GraphModule):
                for node in module.graph.nodes:
                    node.meta["spec"] = spec_of(node)
        return PassResult(graph_module, True)

    def update_placeholder_tensor_specs(
        self, exported_program: ExportedProgram, graph_module: GraphModule
    ) -> None:
        mark_constants(exported_program, graph_module)


def mark_constants(exported_program: ExportedProgram, graph_module: GraphModule) -> None:
    """Marks the specs of parameters, constants and buffers nobody writes as constants."""
    signature = exported_program.graph_signature
    specs = input_specs(signature)
    written = changing_data(signature)
    for node in graph_module.graph.nodes:
        if node.op != "placeholder":
            break
        input_spec = specs.get(node.name)
        spec = node.meta.get("spec")
        if input_spec is None or spec is None or input_spec.kind not in DATA_KINDS:
            continue
        spec.const = input_spec.target not in written
        _make_storable(spec)


def _is_mutable_buffer(node: Node, graph_signature: ExportGraphSignature) -> bool:
    """Whether a placeholder is a buffer that the program writes. The exporter of transformers asks it."""
    name = graph_signature.inputs_to_buffers.get(node.name)
    return name is not None and name in graph_signature.buffers_to_mutate.values()


def spec_of(node: Node) -> Any:
    """What a node's spec is; of items, and of the output, that of what they stand for."""
    if node.op == "output":
        result = node.args[0]
        values = result if isinstance(result, list | tuple) else [result]  # a loop's condition
        return [arg.meta.get("spec") if isinstance(arg, Node) else None for arg in values]
    if node.target is operator.getitem:
        return node.args[0].meta["spec"][node.args[1]]
    if node.op == "get_attr":
        return None
    spec = make_spec(node.meta.get("val"))
    # Conditions and loops have one for each result, as planners of others expect them.
    return tuple(spec) if is_control_flow(node) and isinstance(spec, list) else spec


def _make_storable(spec: TensorSpec) -> None:
    """Constants in an order no kernel reads (transposed, expanded) are stored contiguous."""
    dense = all(step != 0 for step in spec.stride)
    order = dim_order_from_stride(spec.stride) if dense else None
    if order != tuple(range(len(spec.shape))) and order not in _CHANNELS_LAST:
        spec.stride = contiguous_stride_from_shape(spec.shape)
        spec.dim_order = tuple(range(len(spec.shape)))
