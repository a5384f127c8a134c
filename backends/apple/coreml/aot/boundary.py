# SPDX-License-Identifier: BSD-3-Clause
"""What a Core ML model can be given and give, and the target that it then needs."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.aot.torch_ops import with_hint
from executorch.backends.apple.coreml.aot.torchao_weights import needed_target
from executorch.exir.backend.lowering.external.compiler import Refused
from executorch.exir.graph_facts import input_specs

_log = logging.getLogger(__name__)
# Of what crosses the edge of a delegate. The runtime converts to what the model has: int64, int16 and bool are int32 or
# float32 there. All values of 64 bits that Core ML computes are of 32 (docs/compatibility.md).
EDGE_DTYPES = (torch.float32, torch.float16, torch.int32, torch.int64, torch.int16, torch.bool)


def check_boundary(program: ExportedProgram, target: ct.target | None) -> ct.target | None:
    """Raises Refused for what cannot be converted for `target`; for None, gives the one that is needed, if any is."""
    specs = input_specs(program.graph_signature)
    placeholders = program.graph.find_nodes(op="placeholder")
    inputs = [node for node in placeholders if specs[node.name].kind is InputKind.USER_INPUT]
    for node in inputs:
        _check(node, node.users)
    results = program.graph.output_node().args[0]
    for node in results:
        _check(node, [node])
    needed = _needed(program, inputs)
    for wanted, why, nodes in needed:
        if target is not None and target < wanted:
            reason = f"{why} needs minimum_deployment_target {wanted.name} or later, {target.name} was asked for"
            raise Refused(
                with_hint(reason),
                [each.name for each in nodes],
                is_final=True,
            )
    if target is not None or not needed:
        return target
    wanted, why, _ = max(needed, key=lambda each: each[0])
    _log.info("Core ML: target %s, which %s needs", wanted.name, why)
    return wanted


def _needed(
    program: ExportedProgram, inputs: list[Node]
) -> list[tuple[ct.target, str, list[Node]]]:
    """(target, what needs it, the calls that would be left without)."""
    found: list[tuple[ct.target, str, list[Node]]] = []
    halves = [node for node in inputs if node.meta["val"].dtype == torch.float16]
    if halves:
        found.append((ct.target.iOS16, "a float16 input", _calls(halves)))
    if not inputs:
        found.append((ct.target.iOS18, "a model without inputs", []))
    if _writes(program):
        found.append((ct.target.iOS18, "a state", []))
    for node in program.graph.nodes:
        if needed := needed_target(node):
            found.append((*needed, [node]))
    return found


def _writes(program: ExportedProgram) -> bool:
    kinds = {spec.kind for spec in program.graph_signature.output_specs}
    return OutputKind.BUFFER_MUTATION in kinds


def _calls(nodes: Iterable[Node]) -> list[Node]:
    return [user for node in nodes for user in node.users if user.op == "call_function"]


def _check(node: Node, calls: Iterable[Node]) -> None:
    value = node.meta.get("val")
    names = [each.name for each in calls if each.op == "call_function"]
    if not isinstance(value, torch.Tensor):
        kind = type(value).__name__
        raise Refused(f"a tensor is expected at the edge of a delegate, found {kind}", names)
    if value.dtype not in EDGE_DTYPES:
        dtypes = ", ".join(str(each).removeprefix("torch.") for each in EDGE_DTYPES)
        found = str(value.dtype).removeprefix("torch.")
        raise Refused(f"dtype {dtypes} is expected at the edge of a delegate, found {found}", names)
    if 0 in [size for size in value.shape if isinstance(size, int)]:
        raise Refused("tensors with elements are expected at the edge of a delegate", names)
