# SPDX-License-Identifier: BSD-3-Clause
# compat
"""A batch norm by itself becomes a depthwise convolution of one pixel.

before: batch_norm(%x, gamma, beta, mean, variance)[0]
after:  convolution(%x, %w of [channels, 1, 1, 1], %b, groups = channels)
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import (
    call_before,
    data_before,
    finished,
    in_dialect_of,
    replace,
    shape_of,
)
from executorch.backends.transforms.fuse_batch_norm_with_conv import BATCH_NORMS
from executorch.backends.transforms.utils import get_param_tensor, is_param_node
from executorch.backends.xnnpack._passes.xnnpack_pass import XNNPACKPass
from executorch.exir.backend.utils import WhyNoPartition
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name


def _why_not(node: Node, program: ExportedProgram) -> str:
    if op_name(node) not in BATCH_NORMS:
        return "no batch norm"
    if len(shape_of(node.args[0])) not in (3, 4):
        return "a value of three or four dimensions is expected"
    if not isinstance(shape_of(node.args[0])[1], int):
        return "the number of channels is dynamic"
    if any(each is not None and not is_param_node(program, each) for each in node.args[1:5]):
        return "statistics are no data of the program"
    used = [user.args[1] for user in node.users if isinstance(node.meta["val"], tuple | list)]
    return "" if set(used) <= {0} else "statistics of the batch norm are used"


class DecomposeBatchNorm(XNNPACKPass):
    BATCH_NORM_OPS = {exir_ops.edge.aten._native_batch_norm_legit_no_training.default}

    @staticmethod
    def can_decompose_batch_norm(
        node: Node, exported_program: ExportedProgram, why: WhyNoPartition | None = None
    ) -> bool:
        """`why` gets the reason when it cannot."""
        reason = _why_not(node, exported_program)
        if reason and why is not None:
            why(node, reason)
        return not reason

    @staticmethod
    def compute_w_and_b(
        eps: float,
        running_mean: torch.Tensor,
        running_var: torch.Tensor,
        gamma: torch.Tensor | None,
        beta: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """w = gamma / sqrt(variance + eps), b = beta - mean * w."""
        w = torch.rsqrt(running_var + eps) * (1.0 if gamma is None else gamma)
        return w, (0.0 if beta is None else beta) - running_mean * w

    def replace_bn_node_with_conv(self, bn_node: Node, graph_module: GraphModule) -> Node:
        gamma, beta, mean, variance = (
            get_param_tensor(self.exported_program, each) for each in bn_node.args[1:5]
        )
        with torch.no_grad():
            w, b = self.compute_w_and_b(bn_node.args[-1], mean, variance, gamma, beta)
        rank = len(shape_of(bn_node.args[0]))
        w = w.reshape(-1, *[1] * (rank - 1))
        weights = [
            data_before(bn_node, f"{bn_node.name}_decomposed_bn_{kind}", data)
            for kind, data in (("weight", w), ("bias", b))
        ]
        ones, zeros = [1] * (rank - 2), [0] * (rank - 2)
        args = (bn_node.args[0], *weights, ones, zeros, ones, False, zeros, w.shape[0])
        convolution = in_dialect_of(bn_node, torch.ops.aten.convolution.default)
        return call_before(bn_node, convolution, args)

    def decompose_node(self, node: Node, graph_module: GraphModule) -> None:
        made = self.replace_bn_node_with_conv(node, graph_module)
        for user in list(node.users):
            replace(user, made)

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if node.target in self.BATCH_NORM_OPS and not _why_not(node, self.exported_program):
                self.decompose_node(node, graph_module)
                modified = True
        return finished(graph_module, modified)
