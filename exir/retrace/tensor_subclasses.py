# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that are subclasses of Tensor (quantized weights of torchao) become the plain tensors they consist of.

before: %q = export.access_subclass_inner_tensor(%p_weight, 'qdata')       {"weight": IntxUnpackedToInt8Tensor}
after:  %p_parametrizations_weight_original0                               {"parametrizations.weight.original0": int8}

torch's own way, `run_decompositions({})`, gives them the same names; it traces the whole program again and makes writes
functional, and is left to what calls an operator with the subclass itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
)
from torch.fx import Node
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from executorch.exir.program_copies import own_copy

_Path = tuple[str, ...]  # names of attributes, from a subclass to a tensor in it


def with_plain_tensors(program: ExportedProgram) -> ExportedProgram:
    """The program itself when all its tensors are plain; it is not changed."""
    tensors = (*program.state_dict.values(), *program.constants.values())
    if not any(map(_is_subclass, tensors)):
        return program
    if not all(map(_is_accessed_only, program.graph.find_nodes(op="placeholder"))):
        return program.run_decompositions({})
    program = own_copy(program)
    nodes = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
    specs: list[InputSpec] = []
    for spec in program.graph_signature.input_specs:
        node = nodes[spec.arg.name]
        specs += _unwrapped(program, node, spec) if _is_wrapped(node) else [spec]
    outputs = list(program.graph_signature.output_specs)
    program._graph_signature = ExportGraphSignature(specs, outputs)
    program.graph_module.recompile()
    return program


def _is_subclass(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value)


def _is_wrapped(node: Node) -> bool:
    return _is_subclass(node.meta.get("val"))


def _is_access(node: Node) -> bool:
    return str(node.target) == "export.access_subclass_inner_tensor.default"


def _is_accessed_only(node: Node) -> bool:
    """Whether a subclass is asked for nothing but the tensors in it; true of plain tensors."""
    return not _is_wrapped(node) or all(
        _is_access(user) and _is_accessed_only(user) for user in node.users
    )


def _unwrapped(program: ExportedProgram, node: Node, spec: InputSpec) -> list[InputSpec]:
    """Placeholders of the plain tensors in the place of one; those that nothing reads are left out."""
    holder = program.state_dict if spec.target in program.state_dict else program.constants
    whole = holder.pop(spec.target)
    reads = _reads_by_path(node)
    specs = []
    for number, (path, tensor) in enumerate(_plain(whole)):
        if path not in reads:
            continue
        target, name = _names(spec.target, node.name, number)
        if spec.kind == InputKind.PARAMETER:
            tensor = torch.nn.Parameter(tensor, requires_grad=False)
        holder[target] = tensor
        with program.graph.inserting_before(node):
            new = program.graph.placeholder(name)
        new.meta = {
            key: v for key, v in reads[path][0].meta.items() if key in ("val", "tensor_meta")
        }
        if "custom" in node.meta:
            new.meta["custom"] = node.meta["custom"]
        for read in reads[path]:
            read.replace_all_uses_with(new)
        specs.append(InputSpec(spec.kind, TensorArgument(new.name), target, spec.persistent))
    _erase(program.graph, node)
    return specs


def _plain(tensor: torch.Tensor) -> Iterator[tuple[_Path, torch.Tensor]]:
    """The tensors that a subclass consists of, in the order in which torch flattens them."""
    if not is_traceable_wrapper_subclass(tensor):
        yield (), tensor
        return
    for name in tensor.__tensor_flatten__()[0]:
        for path, inner in _plain(getattr(tensor, name)):
            yield (name, *path), inner


def _reads_by_path(node: Node) -> dict[_Path, list[Node]]:
    found: dict[_Path, list[Node]] = {}
    for user in node.users:
        name = user.args[1]
        inner = _reads_by_path(user) if _is_wrapped(user) else {(): [user]}
        for path, reads in inner.items():
            found.setdefault((name, *path), []).extend(reads)
    return found


def _names(target: str, placeholder: str, number: int) -> tuple[str, str]:
    """As torch names the parts of a parametrized weight: in the state dict, and in the graph."""
    module, _, weight = target.rpartition(".")
    part = f"parametrizations.{weight}.original{number}"
    kind = placeholder.partition("_")[0]
    full = f"{module}.{part}".lstrip(".")
    return full, f"{kind}_{full}".replace(".", "_")


def _erase(graph: torch.fx.Graph, node: Node) -> None:
    for user in list(node.users):
        _erase(graph, user)
    graph.erase_node(node)
