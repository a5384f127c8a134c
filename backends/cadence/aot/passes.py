# SPDX-License-Identifier: BSD-3-Clause
"""The passes that rewrite an edge program, in order: fewer moves, quantizing where tensors are small, own operators."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.cadence.aot.table import QUANTIZE_TABLE, TABLE
from executorch.backends.transforms.edits import compute_value, finished, replace
from executorch.backends.transforms.fuse_cascaded_transpose_or_permute_ops import (
    FuseCascadedTransposeOrPermuteOps,
)
from executorch.backends.transforms.fuse_cascaded_view_ops import FuseCascadedViewOps
from executorch.backends.transforms.fuse_transpose_or_permute_op_pairs_pass import (
    FuseTransposeOrPermuteOpPairsPass,
)
from executorch.backends.transforms.remove_clone_ops import RemoveCloneOpsTransform
from executorch.backends.transforms.remove_permutes_around_elementwise_ops import (
    RemovePermutesAroundElementwiseOps,
)
from executorch.backends.transforms.replace_nop_transpose_or_permute_with_view import (
    ReplaceNopTransposeOrPermuteWithViewPass,
)
from executorch.exir.backend.lowering.kernels.requantization import FoldRequantizationPass
from executorch.exir.backend.lowering.kernels.rows import DATA_MOVEMENT
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize, quantization_of
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import only_user, op_name

# Moves that read one tensor, and may have the shape that they are given.
_OF_ONE = frozenset(DATA_MOVEMENT) - {
    "aten.cat.default",
    "aten.stack.default",
    "aten.constant_pad_nd.default",
}
_NOPS = ("aten.view_copy.default", "aten.expand_copy.default", "aten.slice_copy.Tensor")


def _has_static_quantization(node: Node) -> bool:
    qparams = quantization_of(node)
    return qparams is not None and qparams.is_static


def _copies_one(node: Node) -> bool:
    """Not into another dtype: what is stored has that of a quantize."""
    if op_name(node) not in _OF_ONE:
        return False
    return node.meta["val"].dtype == node.args[0].meta["val"].dtype


class RemoveNopSliceOrViewOpPass:
    """view(x), slice(x) and expand(x) of x's own sizes  ->  x"""

    def __call__(self, graph_module: GraphModule) -> PassResult:
        found = [node for node in graph_module.graph.nodes if self._is_nop(node)]
        for node in found:
            replace(node, node.args[0])
        return finished(graph_module, bool(found))

    def _is_nop(self, node: Node) -> bool:
        if op_name(node) not in _NOPS:
            return False
        before, after = node.args[0].meta["val"], node.meta["val"]
        is_output = any(user.op == "output" for user in node.users)
        return not is_output and before.shape == after.shape and before.dtype == after.dtype


class PostponeDequantizeOpBelowUseChainPass:
    """view(dequantize(x))  ->  dequantize(view(x)): a quarter of the bytes is moved."""

    def __call__(self, graph_module: GraphModule) -> PassResult:
        graph, modified = graph_module.graph, False
        for node in list(graph.nodes):
            if not _copies_one(node) or not is_dequantize(node.args[0]):
                continue
            source = node.args[0]
            if not _has_static_quantization(source):
                continue
            with graph.inserting_before(node):
                moved = graph.node_copy(
                    node, lambda each, s=source: s.args[0] if each is s else each
                )
                compute_value(moved)
                value = graph.call_function(source.target, (moved, *source.args[1:]), source.kwargs)
                value.meta = dict(node.meta)
            replace(node, value)
            modified = True
        return finished(graph_module, modified)


class AdvanceQuantizeOpAboveDefChainPass:
    """quantize(view(x))  ->  view(quantize(x)), where nobody else reads the view."""

    def __call__(self, graph_module: GraphModule) -> PassResult:
        found = [node for node in graph_module.graph.nodes if self._is_behind_move(node)]
        for node in found:
            behind = node
            while self._is_behind_move(behind):
                behind = self._advanced(graph_module.graph, behind)
        return finished(graph_module, bool(found))

    def _is_behind_move(self, node: Node) -> bool:
        if not is_quantize(node) or not _has_static_quantization(node):
            return False
        return _copies_one(node.args[0]) and only_user(node.args[0]) is node

    def _advanced(self, graph: Graph, node: Node) -> Node:
        move = node.args[0]
        with graph.inserting_before(node):
            args = (move.args[0], *node.args[1:])
            stored = graph.call_function(node.target, args, node.kwargs)
            compute_value(stored)
            moved = graph.node_copy(move, lambda each: stored if each is move.args[0] else each)
            moved.meta = dict(node.meta)
        replace(node, moved)
        graph.erase_node(move)
        return stored


class FuseMulScalarIntoDequantPass:
    """dequantize(x, scale) * number  ->  dequantize(x, scale * number)"""

    def __call__(self, graph_module: GraphModule) -> PassResult:
        found = [node for node in graph_module.graph.nodes if self._scales_stored(node)]
        for node in found:
            source, number = node.args
            with graph_module.graph.inserting_before(node):
                args = (source.args[0], source.args[1] * number, *source.args[2:])
                value = graph_module.graph.call_function(source.target, args, source.kwargs)
                value.meta = dict(node.meta)
            replace(node, value)
        return finished(graph_module, bool(found))

    def _scales_stored(self, node: Node) -> bool:
        if op_name(node) != "aten.mul.Scalar" or not is_dequantize(node.args[0]):
            return False
        return _has_static_quantization(node.args[0]) and node.args[1] > 0


# Each with the least level that it runs at.
PASSES: tuple[tuple[int, type[Any]], ...] = (
    (0, RemoveCloneOpsTransform),
    (1, RemoveNopSliceOrViewOpPass),
    (2, RemovePermutesAroundElementwiseOps),
    (1, FuseTransposeOrPermuteOpPairsPass),
    (1, FuseCascadedTransposeOrPermuteOps),
    (1, FuseCascadedViewOps),
    (1, PostponeDequantizeOpBelowUseChainPass),
    (1, AdvanceQuantizeOpAboveDefChainPass),
    (1, FuseMulScalarIntoDequantPass),
    (1, FoldRequantizationPass),
    (1, ReplaceNopTransposeOrPermuteWithViewPass),
    (1, FuseCascadedViewOps),
    (1, RemoveNopSliceOrViewOpPass),
    (1, RemoveCloneOpsTransform),
)


def get_passes_in_default_order(opt_level: int = 1) -> list[type[Any]]:
    return [each for level, each in PASSES if level <= opt_level]


def cadence_passes(program: ExportedProgram, opt_level: int = 1) -> list[Any]:
    made = [each() for each in get_passes_in_default_order(opt_level)]
    return [*made, TablePass(TABLE, program), TablePass(QUANTIZE_TABLE)]


def edge_passes(method_name: str, program: ExportedProgram) -> list[Any]:
    """For `edge_transform_passes` of a recipe."""
    return cadence_passes(program)
