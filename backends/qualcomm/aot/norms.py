# SPDX-License-Identifier: BSD-3-Clause
"""Rows of norms and softmax."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import float32, uint32, uints
from executorch.backends.qualcomm.aot.rows import Lower, row
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import ARITHMETIC, GEMM, Annotation, Kind
from executorch.exir.backend.lowering.layout import Candidates, channels_last, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import (
    ONLY_FIRST,
    Condition,
    Row,
    has_rank,
    is_constant,
    when,
)
from executorch.exir.graph_facts import argument


def _batch_norm(w: GraphWriter, step: ModeStep) -> None:
    """x * weight + bias, of the statistics."""
    x = step.head.args[0]
    weight, bias, mean, variance = (
        None if each is None else w.data(each).double()
        for each in (argument(step.head, name) for name in _STATISTICS)
    )
    factor = torch.rsqrt(variance + argument(step.head, "eps"))
    factor = factor if weight is None else weight * factor
    added = -mean * factor if bias is None else bias - mean * factor
    source = w.take(x)
    factors = w.vector(factor, "weight")
    scale = w.scale_of(source) * w.scale_of(factors)
    w.give("Batchnorm", source, factors, w.vector(added, "bias", 32, scale))


_STATISTICS = ("weight", "bias", "running_mean", "running_var")


def _parts(w: GraphWriter, step: ModeStep, sizes: Sequence[int]) -> list[int]:
    """Input, weight and bias; weights that are missing are 1, biases 0."""
    weight, bias = argument(step.head, "weight"), argument(step.head, "bias")
    source = w.take(step.head.args[0])
    made = w.vector(torch.ones(*sizes), "weight") if weight is None else w.read(weight)
    if bias is not None:
        return [source, made, w.read(bias)]
    scale = w.scale_of(source) * w.scale_of(made)
    return [source, made, w.vector(torch.zeros(*sizes), "bias", 32, scale)]


def _layer_norm(kind: str) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        x = step.head.args[0]
        sizes = argument(step.head, "normalized_shape")
        eps = argument(step.head, "eps")
        if eps is None:
            eps = torch.finfo(x.meta["val"].dtype).eps
        rank = x.meta["val"].dim()
        axes = range(rank - len(sizes), rank)
        w.give(kind, *_parts(w, step, sizes), epsilon=float32(eps), axes=uints(axes))

    return lower


def _group_norm(w: GraphWriter, step: ModeStep) -> None:
    channels = step.head.args[0].meta["val"].shape[1]
    epsilon = float32(argument(step.head, "eps"))
    groups = uint32(argument(step.head, "group"))
    w.give("GroupNorm", *_parts(w, step, [channels]), epsilon=epsilon, group=groups)


def _instance_norm(w: GraphWriter, step: ModeStep) -> None:
    channels = step.head.args[0].meta["val"].shape[1]
    epsilon = float32(argument(step.head, "eps"))
    w.give("InstanceNorm", *_parts(w, step, [channels]), epsilon=epsilon)


def _softmax(kind: str) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, dim = step.head.args[:2]
        w.give(kind, w.take(x), axis=uint32(w.axis(dim)))

    return lower


def _along_last(step: ModeStep, operands: list[Node]) -> Candidates:
    """The NPU's are along the last dimension: of channels, channels last."""
    is_last = _is_last(step.head)
    return (plain if is_last else channels_last)(step, operands)


# ---- Conditions ----


def _is_last(node: Node) -> bool:
    x, dim = node.args[:2]
    rank = x.meta["val"].dim()
    return dim % max(rank, 1) == max(rank, 1) - 1


def _is_last_or_channels(node: Node) -> bool:
    rank = node.args[0].meta["val"].dim()
    return _is_last(node) or (rank in (4, 5) and node.args[1] % rank == 1)


def _static(*names: str) -> Condition:
    return Condition(is_constant(*names), "weights that are static are expected")


LAST = when(_is_last_or_channels, "softmax along the last dimension, or channels, is expected")
OF_INPUT = when(
    lambda node: argument(node, "use_input_stats", False), "statistics of the input are expected"
)
BEHIND_SIZES = Annotation(Kind.GEMM, places=(0, 2, 3))
WITHOUT_BIAS = Annotation(Kind.GEMM, places=(0, 2, 4))
PARTS = _static("weight", "bias")
IMAGES = has_rank(3, 4, 5)

ROWS: dict[str, Row] = {
    "aten._native_batch_norm_legit_no_training.default": row(
        _batch_norm, has_rank(2, 3, 4, 5), ONLY_FIRST, _static(*_STATISTICS), layouts=channels_last
    ),
    "aten.native_layer_norm.default": row(
        _layer_norm("LayerNorm"), ONLY_FIRST, PARTS, layouts=plain, annotation=BEHIND_SIZES
    ),
    "aten.rms_norm.default": row(
        _layer_norm("RmsNorm"), PARTS, layouts=plain, preserved=True, annotation=WITHOUT_BIAS
    ),
    "aten.native_group_norm.default": row(
        _group_norm, IMAGES, ONLY_FIRST, PARTS, layouts=channels_last, annotation=BEHIND_SIZES
    ),
    "aten.instance_norm.default": row(
        _instance_norm,
        IMAGES,
        OF_INPUT,
        PARTS,
        layouts=channels_last,
        preserved=True,
        annotation=GEMM,
    ),
    **{
        f"aten.{name}.default": row(
            _softmax(kind), LAST, layouts=_along_last, annotation=ARITHMETIC
        )
        for name, kind in {"_softmax": "Softmax", "_safe_softmax": "Softmax"}.items()
    },
    "aten._log_softmax.default": row(
        _softmax("LogSoftmax"), LAST, layouts=_along_last, annotation=ARITHMETIC
    ),
}
