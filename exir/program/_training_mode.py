# SPDX-License-Identifier: BSD-3-Clause
"""Says when a model was exported in training mode: dropouts drop, batch norms take statistics of the batch."""

from __future__ import annotations

import warnings

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import GraphModule, Node

from executorch.exir.error import source_line

aten = torch.ops.aten

# Operator -> the argument that is true in training mode.
_TRAINING_ARGUMENT = {
    aten.dropout.default: "train",
    aten.native_dropout.default: "train",
    aten.feature_dropout.default: "train",
    aten.alpha_dropout.default: "train",
    aten.feature_alpha_dropout.default: "train",
    aten.rrelu.default: "training",
    aten.batch_norm.default: "training",
    aten.native_batch_norm.default: "training",
    aten._native_batch_norm_legit.default: "training",
    aten._native_batch_norm_legit_functional.default: "training",
}
_MAX_LINES = 5


class TrainingModeWarning(UserWarning):
    """A model was exported that still trains."""


def training_calls(program: ExportedProgram) -> list[Node]:
    """Calls that drop values or take statistics of the batch. Programs that yield a loss are for training and may be
    so. Normalization without running statistics (of instances, say) is the same in both modes."""
    if any(spec.kind == OutputKind.LOSS_OUTPUT for spec in program.graph_signature.output_specs):
        return []
    return [
        node
        for module in program.graph_module.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
        if _is_training(node)
    ]


def warn_of_training_mode(name: str, program: ExportedProgram, stacklevel: int) -> None:
    nodes = training_calls(program)
    if not nodes:
        return
    lines = [f"  {node.name}{source_line(node)}" for node in nodes[:_MAX_LINES]]
    more = f"\n  and {len(nodes) - _MAX_LINES} more" if len(nodes) > _MAX_LINES else ""
    warnings.warn(
        f"method {name} was exported in training mode; call .eval() on the model before torch.export.export, unless "
        "these are meant to drop values and to take statistics of the batch:\n"
        + "\n".join(lines)
        + more,
        TrainingModeWarning,
        stacklevel=stacklevel,
    )


def _is_training(node: Node) -> bool:
    wanted = _TRAINING_ARGUMENT.get(node.target) if node.op == "call_function" else None
    if wanted is None:
        return False
    arguments = node.target._schema.arguments
    named = {each.name: value for each, value in zip(arguments, node.args, strict=False)}
    named.update(node.kwargs)
    return named.get(wanted) is True and named.get("running_mean", node) is not None
