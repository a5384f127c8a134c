# SPDX-License-Identifier: BSD-3-Clause
"""Marks constants that go to a data file beside the program.

before: %w = placeholder                         after: %w.meta["constant_tag"] = "model", in model.ptd
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import attribute_of, changing_data, input_specs
from executorch.exir.graph_facts import is_param_node as is_param_node
from executorch.exir.tensor import TensorSpec

_TAG = "delegate_constant_tag"  # of a node, in `custom`, which torch.export takes over
_FILES = "delegate_constant_tags"  # of a graph module: file by name of the tensor
_DEFAULT_TAG = "_default_external_constant"
GenTag = Callable[[Node], str | None]


def external_constants_pass(gm: GraphModule, gen_tag_fn: GenTag | None = None) -> PassResult:
    """Marks all constants (specs say which they are) for the data file that `gen_tag_fn` names; None keeps one
    inside."""
    modified = False
    for node in gm.graph.find_nodes(op="placeholder"):
        spec = node.meta.get("spec")
        if isinstance(spec, TensorSpec) and spec.const and not is_lifted_number(node):
            tag = gen_tag_fn(node) if gen_tag_fn is not None else _DEFAULT_TAG
            if tag is not None:
                node.meta["constant_tag"] = tag
                modified = True
    return PassResult(gm, modified)


def is_lifted_number(node: Node) -> bool:
    """A number, or a tensor made of numbers, of the model's code, which export made data: it stays in the program."""
    return node.name.startswith(("_lifted_tensor_constant", "c_lifted_tensor"))


def external_mutable_weights_pass(gm: GraphModule, ep: ExportedProgram) -> PassResult:
    """Marks parameters that change (the method writes them, or gives their gradients), so that their first values
    come from a data file."""
    signature = ep.graph_signature
    written = changing_data(signature)
    modified = False
    for node in gm.graph.find_nodes(op="placeholder"):
        if signature.inputs_to_parameters.get(node.name) in written:
            node.meta["constant_tag"] = _DEFAULT_TAG
            modified = True
    return PassResult(gm, modified)


def delegate_external_constants_pass(
    gm: GraphModule | ExportedProgram,
    ep: ExportedProgram | None = None,
    gen_tag_fn: GenTag | None = None,
) -> PassResult:
    """Marks the parameters, buffers and constants of a program for delegates, before it is lowered: an exported or edge
    program itself, or its graph module and the program that says which inputs are data. Among the passes of
    to_edge_transform_and_lower it is `partial(delegate_external_constants_pass, ep=program, gen_tag_fn=...)`."""
    if isinstance(gm, ExportedProgram):
        gm, ep = gm.graph_module, gm
    if ep is None:
        raise TypeError(
            "delegate_external_constants_pass: a graph module does not say which of its inputs are data; give the "
            "ExportedProgram, alone or as `ep`"
        )
    modified = False
    for node in gm.graph.find_nodes(op="placeholder"):
        if is_param_node(ep, node):
            modified |= _mark(node, gen_tag_fn)
    return PassResult(gm, modified)


def delegate_external_constants_pass_unlifted(
    module: torch.nn.Module, gen_tag_fn: GenTag | None = None
) -> PassResult:
    """Marks the tensors of an unlifted program (`ep.module()`) for delegates; export it again afterwards."""
    if not isinstance(module, GraphModule):
        raise TypeError(f"expected ep.module(), found a {type(module).__name__}")
    files: dict[str, str] = {}
    for node in module.graph.find_nodes(op="get_attr"):
        is_tensor = isinstance(attribute_of(module, node.target), torch.Tensor)
        if is_tensor and _mark(node, gen_tag_fn):
            files[node.target] = node.meta["custom"][_TAG]
    # torch.export takes over what nodes hold where it finds a node by the tensor's name in small letters; names that
    # begin with a digit or hold capitals it does not find. The module's own it takes over always.
    custom = module.meta.setdefault("custom", {})
    custom[_FILES] = {**custom.get(_FILES, {}), **files}
    return PassResult(module, bool(files))


def _mark(node: Node, gen_tag_fn: GenTag | None) -> bool:
    tag = gen_tag_fn(node) if gen_tag_fn is not None else _DEFAULT_TAG
    if tag is not None:
        node.meta["custom"] = {**(node.meta.get("custom") or {}), _TAG: tag}
    return tag is not None


def mark_as_before_export(program: ExportedProgram, exported: ExportedProgram) -> None:
    """Marks the data of `program`, which was made of `exported`, as delegate_external_constants_pass_unlifted() did."""
    files = (exported.graph_module.meta.get("custom") or {}).get(_FILES, {})
    if not files:
        return
    specs = input_specs(program.graph_signature)
    for node in program.graph.find_nodes(op="placeholder"):
        _mark(node, lambda each: files.get(specs[each.name].target))


def delegate_data_file(node: Node) -> str | None:
    """The data file (without `.ptd`) that a delegate's constant goes to, None for the program; what is computed from
    constants (a dequantized weight) goes where the first of them goes."""
    while node.op == "call_function" and node.all_input_nodes:
        node = node.all_input_nodes[0]
    custom = node.meta.get("custom") or {}
    return node.meta.get(_TAG) or custom.get(_TAG)
