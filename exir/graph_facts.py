# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of graphs: what a node calls, in any dialect, who reads it, whether its sizes are dynamic, and which
placeholders are data of the program."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind
from torch.fx import Node

from executorch.exir.dialects.edge._ops import EdgeOpOverload

# ---- Calls ----


def without_dialect(target: Any) -> Any:
    """The torch operator inside an operator of a dialect; anything else as it is."""
    return target._op if isinstance(target, EdgeOpOverload) else target


def torch_op(target: Any) -> torch._ops.OpOverload | None:
    """The torch operator that a target is, itself or inside an operator of a dialect; None for anything else."""
    op = without_dialect(target)
    return op if isinstance(op, torch._ops.OpOverload) else None


def called_op(node: object) -> torch._ops.OpOverload | None:
    """The torch operator that a node calls; None for anything else."""
    is_call = isinstance(node, Node) and node.op == "call_function"
    return torch_op(node.target) if is_call else None


def is_pure(op: torch._ops.OpOverload) -> bool:
    """Whether it gives the same for equal arguments every time, and writes none of them."""
    return not op._schema.is_mutable and torch.Tag.nondeterministic_seeded not in op.tags


def op_name(node: object) -> str:
    """`aten.add.Tensor`; empty for what is no call of an operator."""
    return str(called_op(node) or "")


def call_name(node: object) -> str:
    """The same, and of a function of Python on sizes `operator.add`."""
    name = op_name(node)
    if name or not isinstance(node, Node) or node.op != "call_function":
        return name
    function = node.target
    is_of_sizes = getattr(function, "__module__", "") in ("_operator", "math")
    return f"{function.__module__.lstrip('_')}.{function.__name__}" if is_of_sizes else ""


def arguments_by_name(call: Node) -> dict[str, Any]:
    """Of a call of an operator, in the order of its schema, with the defaults of those that it leaves out."""
    arguments = called_op(call)._schema.arguments
    given = dict(zip((each.name for each in arguments), call.args, strict=False)) | call.kwargs
    return {each.name: given.get(each.name, each.default_value) for each in arguments}


def argument(call: Node, name: str, default: Any = None) -> Any:
    """By the name that the operator's schema has; `default` for None."""
    found = arguments_by_name(call).get(name)
    return default if found is None else found


def static_sizes(node: Node) -> list[int]:
    """Of a tensor whose sizes are known."""
    return [int(size) for size in node.meta["val"].shape]


def only_user(node: Node) -> Node | None:
    """The call that alone reads a node."""
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].op == "call_function" else None


# ---- Values ----


def num_dynamic_sizes(node: Node) -> int:
    """Of the node's value: how many of its sizes are known only at run time."""
    shape = getattr(node.meta.get("val"), "shape", ())
    return sum(isinstance(size, torch.SymInt) for size in shape)


def is_shape_dynamic(node: Node) -> bool:
    """True when the node's value has a size that is known only at run time."""
    return num_dynamic_sizes(node) > 0


def attribute_of(module: Any, qualified_name: str) -> Any:
    """The attribute that a get_attr node of `module` names, such as "layers.0.weight"."""
    for part in qualified_name.split("."):
        module = getattr(module, part)
    return module


# ---- Data of a program: parameters, buffers, constants ----

DATA_KINDS = frozenset({InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR})


# Outputs that are new values of data or of inputs.
WRITE_BACK = frozenset(
    {
        OutputKind.BUFFER_MUTATION,
        OutputKind.USER_INPUT_MUTATION,
        getattr(OutputKind, "PARAMETER_MUTATION", OutputKind.BUFFER_MUTATION),
    }
)


def input_specs(signature: ExportGraphSignature) -> dict[str, InputSpec]:
    """The signature's inputs by the name of their placeholder."""
    return {spec.arg.name: spec for spec in signature.input_specs}


def data_specs(program: ExportedProgram) -> dict[Node, InputSpec]:
    """The placeholders that are data, in their order."""
    specs = input_specs(program.graph_signature)
    placeholders = program.graph.find_nodes(op="placeholder")
    found = {node: specs[node.name] for node in placeholders if node.name in specs}
    return {node: spec for node, spec in found.items() if spec.kind in DATA_KINDS}


def data_spec_of(program: ExportedProgram, node: Node) -> InputSpec | None:
    """The node's row of the signature, if it is data."""
    spec = input_specs(program.graph_signature).get(node.name)
    return spec if spec is not None and spec.kind in DATA_KINDS else None


def is_param_node(exp_prog: ExportedProgram, node: Node) -> bool:
    """True for data of the program, and for an attribute of its module."""
    return node.op == "get_attr" or data_spec_of(exp_prog, node) is not None


def written_placeholders(signature: ExportGraphSignature) -> dict[int, str]:
    """Place among the outputs -> name of the placeholder that the method overwrites with it. A buffer and an input may
    have the same name, so that a target alone does not say which one is meant."""
    data = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target is not None}
    return {
        place: spec.target
        if spec.kind == OutputKind.USER_INPUT_MUTATION
        else data.get(spec.target, "")
        for place, spec in enumerate(signature.output_specs)
        if spec.kind in WRITE_BACK
    }


def changed_inputs(signature: ExportGraphSignature) -> list[str]:
    """User inputs that the method overwrites, in the order of the inputs."""
    changed = {
        spec.target
        for spec in signature.output_specs
        if spec.kind == OutputKind.USER_INPUT_MUTATION
    }
    return [spec.arg.name for spec in signature.input_specs if spec.arg.name in changed]


def written_data(signature: ExportGraphSignature) -> set[str]:
    """Targets that the method writes."""
    return {*signature.buffers_to_mutate.values(), *signature.parameters_to_mutate.values()}


def changing_data(signature: ExportGraphSignature) -> set[str]:
    """Targets that the method writes, or an optimizer behind it: what has a gradient."""
    gradients = {
        spec.target
        for spec in signature.output_specs
        if spec.kind == OutputKind.GRADIENT_TO_PARAMETER
    }
    return written_data(signature) | gradients


def holder_of(program: ExportedProgram, target: str) -> dict[str, Any]:
    """The program's dictionary that has the tensor, or is to have it."""
    return program.state_dict if target in program.state_dict else program.constants


def replace_data(program: ExportedProgram, target: str, data: torch.Tensor) -> None:
    """Gives the program another tensor; a parameter stays one."""
    holder = holder_of(program, target)
    old = holder[target]
    if isinstance(old, torch.nn.Parameter):
        has_gradient = old.requires_grad and data.is_floating_point()
        data = torch.nn.Parameter(data, has_gradient)
    holder[target] = data
