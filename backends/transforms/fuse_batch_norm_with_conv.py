# SPDX-License-Identifier: BSD-3-Clause
"""A batch norm that reads a convolution alone becomes part of its weights.

before: %c = convolution(%x, %w, %b); %n = batch_norm(%c)[0]      after: %n = convolution(%x, %w', %b')
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult
from torch.nn.utils.fusion import fuse_conv_bn_weights, fuse_linear_bn_weights

from executorch.backends.transforms.edits import call_before, data_before, finished, replace
from executorch.backends.transforms.utils import get_param_tensor, is_param_node
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass

BATCH_NORMS = (
    "aten._native_batch_norm_legit_no_training.default",
    "aten._native_batch_norm_legit.no_training",
    "aten.batch_norm.default",
)
CONVOLUTION = "aten.convolution.default"
LINEAR = "aten.linear.default"


def why_not_fused(source: Node, norm: Node, program: ExportedProgram) -> str:
    """Why `norm` cannot go into the weights of `source`; empty when it can."""
    if op_name(source) not in (CONVOLUTION, LINEAR) or op_name(norm) not in BATCH_NORMS:
        return "no batch norm of a convolution or linear"
    if len(source.users) != 1:
        return "others read what the batch norm reads"
    if any("getitem" not in user.name or user.args[1] != 0 for user in norm.users):
        return "statistics of the batch norm are used"
    data = [*source.args[1:3], *norm.args[1:5]]
    if any(each is not None and not is_param_node(program, each) for each in data):
        return "weights or statistics are no data of the program"
    return "" if norm.args[3] is not None and norm.args[4] is not None else "no statistics"


def fused_weights(
    source: Node, norm: Node, program: ExportedProgram
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of `source` with `norm` in them."""
    bias_node = source.args[2] if len(source.args) > 2 else None
    weight, bias = (get_param_tensor(program, each) for each in (source.args[1], bias_node))
    gamma, beta, mean, variance = (get_param_tensor(program, each) for each in norm.args[1:5])
    eps = norm.args[-1]
    with torch.no_grad():
        if op_name(source) == LINEAR:
            return fuse_linear_bn_weights(weight, bias, mean, variance, eps, gamma, beta)
        transposed, groups = source.args[6], source.args[8]
        if transposed and groups > 1:
            parts = zip(
                weight.chunk(groups), *(
                    [None] * groups if each is None else each.chunk(groups)
                    for each in (bias, mean, variance, gamma, beta)
                ), strict=True,
            )  # fmt: skip
            fused = [
                fuse_conv_bn_weights(w, b, m, v, eps, g, t, transpose=True)
                for w, b, m, v, g, t in parts
            ]
            return torch.cat([w for w, _ in fused]), torch.cat([b for _, b in fused])
        return fuse_conv_bn_weights(weight, bias, mean, variance, eps, gamma, beta, transposed)


class FuseBatchNormWithConvPass(ExportPass):
    """The new weights are attributes `_fused_with_bn_weight_N` and `_fused_with_bn_bias_N` of the graph module, which
    the managers lift."""

    sources: tuple[str, ...] = (CONVOLUTION,)

    def __init__(self, exported_program: ExportedProgram) -> None:
        ExportPass.__init__(self)
        self.program = exported_program
        self._count = 0

    @staticmethod
    def can_fuse(conv: Node, bn: Node, program: ExportedProgram) -> bool:
        return op_name(conv) == CONVOLUTION and not why_not_fused(conv, bn, program)

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for norm in list(graph_module.graph.nodes):
            source = norm.args[0] if op_name(norm) in BATCH_NORMS else None
            if op_name(source) not in self.sources or why_not_fused(source, norm, self.program):
                continue
            weight, bias = fused_weights(source, norm, self.program)
            weights = [
                data_before(norm, f"_fused_with_bn_{kind}_{self._count}", data)
                for kind, data in (("weight", weight), ("bias", bias))
            ]
            args = (source.args[0], *weights, *source.args[3:])
            made = call_before(norm, source.target, args, dict(source.kwargs))
            for user in list(norm.users) if isinstance(norm.meta["val"], tuple | list) else [norm]:
                replace(user, made)
            modified = True
            self._count += 1
        return finished(graph_module, modified)
