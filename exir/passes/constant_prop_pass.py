# SPDX-License-Identifier: BSD-3-Clause
"""What depends on constants alone is computed at export.

before: %w = placeholder (parameter); %t = permute_copy(%w, [1, 0])      after: %t = placeholder (constant)
"""

from __future__ import annotations

import importlib
import logging
import operator
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch
from torch._export.utils import is_buffer
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
)
from torch.fx import Node

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import (
    called_op,
    data_specs,
    holder_of,
    is_pure,
    without_dialect,
)
from executorch.exir.graph_module import is_control_flow
from executorch.exir.operator.util import quant_primitives
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.dim_order_ops_registry import DimOrderOpsMap
from executorch.exir.program_copies import drop_unused_data, signature_for
from executorch.exir.retrace.program import fake_mode_of
from executorch.exir.tensor import dim_order_of

_log = logging.getLogger(__name__)
_PREFIX = "_prop_tensor_constant"


# Operators not worth computing ahead: their results are large and cheap to make.
_DEFAULT_SKIP_TARGETS_NO_QUANT: set[EdgeOpOverload] = {edge_op_of(torch.ops.aten.full.default)}


def get_default_skip_targets_no_quant() -> set[EdgeOpOverload]:
    return set(_DEFAULT_SKIP_TARGETS_NO_QUANT)


def __getattr__(name: str) -> Any:
    """`_DEFAULT_SKIP_TARGETS`, with the operators of quantization, of all packages that define any."""
    if name != "_DEFAULT_SKIP_TARGETS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    primitives = importlib.import_module("executorch.exir.operator.util")._QUANT_PRIMITIVES
    return _DEFAULT_SKIP_TARGETS_NO_QUANT | {edge_op_of(op) for op in primitives}


def is_constant_buffer(program: ExportedProgram, node: Node) -> bool:
    """A buffer that the program does not write."""
    name = program.graph_signature.inputs_to_buffers.get(node.name)
    return (
        is_buffer(program, node) and name not in program.graph_signature.buffers_to_mutate.values()
    )


def get_constant_placeholder_dict(
    exported_program: ExportedProgram,
) -> OrderedDict[Node, torch.Tensor]:
    """Placeholders of constants with their data: parameters, buffers that the program does not write, and constants
    that export lifted."""
    program = exported_program
    written = set(program.graph_signature.buffers_to_mutate.values())
    return OrderedDict(
        (node, holder_of(program, spec.target)[spec.target])
        for node, spec in data_specs(program).items()
        if spec.target not in written
    )


def is_const(
    arg: Any, exported_program: ExportedProgram, const_node_to_tensor: Mapping[Node, torch.Tensor]
) -> bool:
    """True when the argument's value is known: a constant's node, or no node at all."""
    if isinstance(arg, list | tuple):
        return all(is_const(item, exported_program, const_node_to_tensor) for item in arg)
    return not isinstance(arg, Node) or arg in const_node_to_tensor


def get_data(
    arg: Any, exported_program: ExportedProgram, const_node_to_tensor: Mapping[Node, torch.Tensor]
) -> Any:
    return torch.fx.node.map_arg(arg, const_node_to_tensor.__getitem__)


def get_propagated_const_tensor_dict(
    exported_program: ExportedProgram, custom_skip_targets: set[EdgeOpOverload] | None
) -> OrderedDict[Node, torch.Tensor]:
    """Calls on constants alone, or on nothing, with what they compute. `custom_skip_targets` stay, instead of the
    default ones; so do random numbers, and conditions and loops with what stands in them."""
    skip = _default_skip_targets() if custom_skip_targets is None else custom_skip_targets
    stays = {without_dialect(target) for target in skip}
    known = get_constant_placeholder_dict(exported_program)
    results: OrderedDict[Node, torch.Tensor] = OrderedDict()
    if any(is_control_flow(node) for node in exported_program.graph.nodes):
        _log.warning("constant_prop_pass does not constant propagate in control flow modules")
    with torch.no_grad():
        for node in exported_program.graph.nodes:
            if without_dialect(node.target) in stays or not _can_be_computed(node):
                continue
            if not is_const((node.args, *node.kwargs.values()), exported_program, known):
                continue
            args, kwargs = get_data((node.args, node.kwargs), exported_program, known)
            value = node.target(*args, **kwargs)
            if isinstance(value, torch.Tensor):
                value = value.contiguous() if 0 in value.stride() else value
                results[node] = value
            known[node] = value
    return results


def _default_skip_targets() -> set[EdgeOpOverload]:
    """`_DEFAULT_SKIP_TARGETS`, as far as this process has defined the operators."""
    return _DEFAULT_SKIP_TARGETS_NO_QUANT | {edge_op_of(op) for op in quant_primitives()}


def _can_be_computed(node: Node) -> bool:
    op = called_op(node)
    return is_pure(op) if op is not None else node.target is operator.getitem


def constant_prop_pass(
    exported_program: ExportedProgram,
    custom_skip_targets: set[EdgeOpOverload] | None = None,
    _skip_dim_order: bool = True,
) -> ExportedProgram:
    """Works in place; only results that other calls or the output read become constants, and what nobody reads then
    leaves the program with its data. `_skip_dim_order`: an output is copied by aten.clone, else by _clone_dim_order."""
    computed = get_propagated_const_tensor_dict(exported_program, custom_skip_targets)
    needed = {
        node: value
        for node, value in computed.items()
        if any(user not in computed for user in node.users)
    }
    for node, value in needed.items():
        _copy_to_output(exported_program, node, value, _skip_dim_order)
    put_constants(exported_program, needed)
    return exported_program


def _copy_to_output(
    program: ExportedProgram, node: Node, value: torch.Tensor, skip_dim_order: bool
) -> None:
    """An output that becomes a constant is a copy of it: backends and memory plans know no constant outputs."""
    output = program.graph.output_node()
    if output not in node.users:
        return
    op, kwargs = torch.ops.aten.clone.default, {}
    if isinstance(node.target, EdgeOpOverload) or node.target is operator.getitem:
        op = edge_op_of(op)
        if not skip_dim_order:
            op, kwargs = DimOrderOpsMap[op], {"dim_order": list(dim_order_of(value))}
    with program.graph.inserting_after(node):
        copy = program.graph.call_function(op, (node,), kwargs)
    copy.meta = dict(node.meta)
    node.replace_all_uses_with(copy, delete_user_cb=lambda user: user is output)


def put_constants(program: ExportedProgram, values: Mapping[Node, torch.Tensor]) -> None:
    """A constant for each of these nodes; what only they needed goes. Works in place."""
    specs = create_constant_nodes_and_return_specs(values, program)
    signature = program.graph_signature
    place = next(
        (i for i, s in enumerate(signature.input_specs) if s.kind == InputKind.USER_INPUT),
        len(signature.input_specs),
    )
    inputs = [*signature.input_specs[:place], *specs.values(), *signature.input_specs[place:]]
    program._graph_signature = ExportGraphSignature(inputs, list(signature.output_specs))
    program._graph_signature = signature_for(program.graph_signature, program.graph_module)
    dead_code_elimination_pass(program.graph_module)
    drop_unused_data(program)
    program.graph_module.recompile()


def get_first_user_input(exported_program: ExportedProgram) -> Node:
    """The placeholder that constants stand before; the first call when the program takes no input."""
    users = set(exported_program.graph_signature.user_inputs)
    for node in exported_program.graph.nodes:
        if node.op != "placeholder" or node.name in users:
            return node
    raise ValueError("the program has no nodes")


def get_fake_mode(exported_program: ExportedProgram) -> FakeTensorMode:
    """The mode that the program's values live in."""
    return fake_mode_of(exported_program)


def create_constant_nodes_and_return_specs(
    const_node_to_tensor: Mapping[Node, torch.Tensor], exported_program: ExportedProgram
) -> dict[str, InputSpec]:
    """A constant for each node, which takes its place; the specs by placeholder name are the caller's to add."""
    first, mode = get_first_user_input(exported_program), get_fake_mode(exported_program)
    specs = {}
    for node, value in const_node_to_tensor.items():
        placeholder, name = replace_with_constant_node(node, value, first, mode, exported_program)
        argument = TensorArgument(placeholder.name)
        specs[placeholder.name] = InputSpec(
            InputKind.CONSTANT_TENSOR, argument, name, persistent=True
        )
    return specs


def replace_with_constant_node(
    node: Node,
    prop_constant_tensor: torch.Tensor,
    first_user_input: Node,
    fake_mode: FakeTensorMode,
    exported_program: ExportedProgram,
) -> tuple[Node, str]:
    """A placeholder before `first_user_input`, which every user of `node` reads, and the name of its data."""
    value, name = prop_constant_tensor, _free_name(exported_program)
    with exported_program.graph.inserting_before(first_user_input):
        placeholder = exported_program.graph.placeholder(name)
    with fake_mode:
        placeholder.meta["val"] = torch.empty_strided(
            value.shape, value.stride(), dtype=value.dtype, device=value.device
        )
    exported_program.constants[name] = value
    node.replace_all_uses_with(placeholder)
    return placeholder, name


def erase_constant_node(exported_program: ExportedProgram, node: Node) -> None:
    """Removes a constant's placeholder that nobody reads, and its data."""
    signature = exported_program.graph_signature
    spec = next(spec for spec in signature.input_specs if spec.arg.name == node.name)
    for owner in (exported_program.state_dict, exported_program.constants):
        owner.pop(spec.target, None)
    kept = [each for each in signature.input_specs if each is not spec]
    exported_program._graph_signature = ExportGraphSignature(kept, list(signature.output_specs))
    exported_program.graph.erase_node(node)


def _free_name(program: ExportedProgram) -> str:
    number = 0
    while f"{_PREFIX}{number}" in program.constants:
        number += 1
    return f"{_PREFIX}{number}"
