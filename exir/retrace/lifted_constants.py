# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that torch or a pass left in a graph module become constants of the program.

before: %c = get_attr[_tensor_constant0]         after: %c = placeholder, a constant tensor of the signature
In a branch or in the body of a loop it becomes an operand.
"""

from __future__ import annotations

import torch
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
)
from torch.fx import GraphModule, Node

from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.graph_facts import attribute_of
from executorch.exir.graph_module import get_control_flow_submodules
from executorch.exir.program_copies import own_copy


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


def with_lifted_branch_constants(program: ExportedProgram) -> ExportedProgram:
    """A copy of `program` in which branches and bodies get their tensors as operands; `program` if they have none."""
    inner = _all_inner(program.graph_module)
    readers = [(reader, body, call) for _, body, call in inner for reader in _tensors_read_in(body)]
    if not readers:
        return program
    for reader, body, call in readers:
        if isinstance(attribute_of(body, reader.target), FakeTensor):
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"torch.export has kept no data of the tensor {reader.target} that {call.name}{source_line(call)} "
                "reads inside of its graph; give it to the call as an operand",
            )
    program = own_copy(program)
    _lift_out_of_inner(program.graph_module)
    lift_tensor_attributes(program)
    return program


def _all_inner(module: GraphModule) -> list[tuple[str, GraphModule, Node]]:
    found = get_control_flow_submodules(module)
    return [*found, *(each for _, body, _ in found for each in _all_inner(body))]


def _tensors_read_in(module: GraphModule) -> list[Node]:
    nodes = module.graph.find_nodes(op="get_attr")
    return [node for node in nodes if isinstance(attribute_of(module, node.target), torch.Tensor)]


def _lift_out_of_inner(module: GraphModule) -> None:
    """Attributes of the graphs inside of `module` become its own, read where the graphs are called. All graphs of a
    call take the same operands, which end with those given to every turn."""
    calls: dict[Node, list[GraphModule]] = {}
    for _, body, call in get_control_flow_submodules(module):
        _lift_out_of_inner(body)
        calls.setdefault(call, []).append(body)
    for call, bodies in calls.items():
        for owner in bodies:
            for reader in _tensors_read_in(owner):
                _to_operand(module, call, bodies, owner, reader)


def _to_operand(
    module: GraphModule, call: Node, bodies: list[GraphModule], owner: GraphModule, reader: Node
) -> None:
    tensor = attribute_of(owner, reader.target)
    numbers = range(len(dict(module.named_buffers())) + len(module.__dict__) + 1)
    name = next(n for n in (f"_branch_constant{i}" for i in numbers) if not hasattr(module, n))
    module.register_buffer(name, tensor)
    with module.graph.inserting_before(call):
        operand = module.graph.get_attr(name)
    operand.meta["val"] = reader.meta.get("val")
    call.args = (*call.args[:-1], [*call.args[-1], operand])
    for body in bodies:
        last = body.graph.find_nodes(op="placeholder")
        with body.graph.inserting_after(last[-1]) if last else body.graph.inserting_before():
            placeholder = body.graph.placeholder(name)
        placeholder.meta["val"] = reader.meta.get("val")
        if body is owner:
            reader.replace_all_uses_with(placeholder)
            body.graph.erase_node(reader)
        body.recompile()


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
