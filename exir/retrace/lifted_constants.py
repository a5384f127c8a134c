# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that a pass left in the graph module become constants of the program.

before: %c = get_attr[_tensor_constant0]         after: %c = placeholder, a constant tensor of the signature
"""

from __future__ import annotations

import torch
from torch._guards import detect_fake_mode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
)
from torch.fx import Node

from executorch.exir.graph_facts import attribute_of


def lift_tensor_attributes(program: ExportedProgram) -> None:
    """Works in place; attributes that are modules (branches, lowered modules) stay."""
    module, graph = program.graph_module, program.graph
    readers: dict[str, list[Node]] = {}
    for node in graph.find_nodes(op="get_attr"):
        if isinstance(attribute_of(module, node.target), torch.Tensor):
            readers.setdefault(node.target, []).append(node)
    if not readers:
        return
    first = next(node for node in graph.nodes if node.op != "get_attr")
    specs = []
    for target, nodes in readers.items():
        placeholder, spec = _make_constant(program, first, target)
        specs.append(spec)
        for node in nodes:
            node.replace_all_uses_with(placeholder)
            graph.erase_node(node)
        owner, _, name = target.rpartition(".")
        delattr(module.get_submodule(owner), name)
    signature = program.graph_signature
    program._graph_signature = ExportGraphSignature(
        [*specs, *signature.input_specs], list(signature.output_specs)
    )
    module.recompile()


def _make_constant(program: ExportedProgram, first: Node, target: str) -> tuple[Node, InputSpec]:
    tensor = attribute_of(program.graph_module, target).detach()
    mode = detect_fake_mode([n.meta.get("val") for n in program.graph.find_nodes(op="placeholder")])
    name = _free_name(program, target)
    with program.graph.inserting_before(first):
        placeholder = program.graph.placeholder(name)
    placeholder.meta["val"] = mode.from_tensor(tensor, static_shapes=True) if mode else tensor
    program.constants[name] = tensor
    argument = TensorArgument(placeholder.name)
    return placeholder, InputSpec(InputKind.CONSTANT_TENSOR, argument, name)


def _free_name(program: ExportedProgram, target: str) -> str:
    taken = {*program.constants, *program.state_dict, *(node.name for node in program.graph.nodes)}
    wanted = f"lifted{target}".replace(".", "_")
    candidates = (
        wanted if number == 0 else f"{wanted}_{number}" for number in range(len(taken) + 1)
    )
    return next(name for name in candidates if name not in taken)
