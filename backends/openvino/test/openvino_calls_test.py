# SPDX-License-Identifier: BSD-3-Clause
"""Each call that the table has, delegated and beside eager PyTorch: as it is, and of small and large numbers and
zeros."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from executorch.backends.openvino.aot.ops import TABLE
from executorch.backends.openvino.test.conformance import BACKENDS
from executorch.backends.openvino.test.lowered import needs_compiler, needs_runtime
from executorch.backends.test.conformance.calls import ATTENTION, calls, extremes
from executorch.backends.test.conformance.corpus_values import (
    bad_rows,
    beside_whole,
    chunks,
    taken_by,
)
from executorch.backends.test.corpus import sample
from executorch.backends.test.corpus.row import Row, numbers, row

pytestmark = [needs_compiler, needs_runtime]
(OPENVINO,) = BACKENDS
X, WHOLE, MASK = numbers(3, 4, 6), numbers(3, 4, 6).round().int(), numbers(3, 4, 6) > 0
OWN = (
    row("whole numbers compared", lambda i, j: (i == j, i != j, i < j, i <= j, i > j, i >= j), WHOLE, WHOLE.flip(0)),
    row("whole numbers compared with one", lambda i: (i == 1, i != 1, i < 1, i <= 1, i > 1, i >= 1), WHOLE),
    row("whole numbers", lambda i, j: (i + j, i * j, i - j, -i, i.abs(), torch.maximum(i, j)), WHOLE, WHOLE.flip(0)),
    row("masks", lambda m, n: (m & n, m | n, m ^ n, ~m, m.any(1), torch.where(m, X, -X)), MASK, ~MASK.flip(0)),
    row("sums of powers", lambda x: (
        torch.linalg.vector_norm(x, dim=1), torch.logsumexp(x, 2), x.mean(), x.sum(), x.prod()), X),
    row("by numbers", lambda x: (
        2 - x, 2 ** x, torch.addcmul(x, x, x, value=3), x.clamp_min(0.1), x.clamp_max(0.2)), X),
    row("pools of volumes", lambda x: (F.avg_pool3d(x, 2), F.adaptive_avg_pool3d(x, 1)), numbers(1, 2, 4, 4, 6)),
    row("split and unbound", lambda x: (*(each * 2 for each in x.split(2, 2)), *(each * 2 for each in x.unbind(0))), X),
    row("selected into", lambda x: torch.select_scatter(x, x[0] * 2, 0, 1), X),
    row("resized to sizes", lambda x: (
        torch.ops.aten.upsample_bilinear2d(x, [5, 7], False), torch.ops.aten.upsample_nearest2d(x, [5, 7])),
        numbers(1, 2, 4, 6)),
    row("baddbmm", lambda x: torch.baddbmm(x @ x.mT, x, x.mT, beta=0.5, alpha=2), X),
)  # fmt: skip
CALLS = (*OWN, *calls(), *extremes())
# OpenVINO 2026.4's erf is 1e-7 off, its topk takes others of equal numbers, and it makes one softmax of exp(x) over
# sum(exp(x)).
AS_THEY_ARE = {*ATTENTION, "functions", "largest", "softmax by hand"}
# What stays outside by its condition, or has no row.
LEFT = {
    "sums of powers": {"aten.sum.dim_IntList": 1, "aten.eq.Scalar": 1},
    "compare with a number": {"aten.gt.Scalar": 1, "aten.sign.default": 1},
    "numbers of two dtypes": {"aten.eq.Scalar": 2},
    "bool and numbers": {"aten.gt.Scalar": 1, "aten.lt.Scalar": 1, "aten.mul.Tensor": 1},
    "integers": {"aten.mul.Tensor": 1, "aten.sub.Tensor": 1, "aten.bitwise_and.Scalar": 1,
        "aten.bitwise_or.Scalar": 1, "aten.bitwise_xor.Scalar": 1, "aten.bitwise_not.default": 1,
        "aten.neg.default": 1, "aten.remainder.Scalar": 1, "aten.fmod.Scalar": 1},
    "integers divided": {"aten.div.Tensor": 1},
    "integers with floats": {"aten.add.Tensor": 1},
    "functions of integers": {"aten.sqrt.default": 1, "aten.sigmoid.default": 1},
    "rounded divisions": {"aten.div.Tensor_mode": 2},
    "to bool": {"dim_order_ops._to_dim_order_copy.default": 3},
    "from bool": {"aten.gt.Scalar": 1},
    "functions": {"aten.exp2.default": 1, "aten.atan.default": 1},
    "powers": {"aten.sign.default": 1},
    "comparisons": {"aten.eq.Tensor": 1, "aten.ne.Tensor": 1, "aten.ge.Tensor": 1, "aten.gt.Tensor": 1,
        "aten.le.Tensor": 1, "aten.lt.Tensor": 1},
    "comparisons with a number": {"aten.eq.Scalar": 1, "aten.ne.Scalar": 1, "aten.ge.Scalar": 1,
        "aten.gt.Scalar": 1, "aten.le.Scalar": 1, "aten.lt.Scalar": 1},
    "bits": {"aten.add.Tensor": 1, "aten.bitwise_and.Tensor": 1, "aten.bitwise_or.Tensor": 1,
        "aten.bitwise_xor.Tensor": 1},
    "averages behind": {"aten.avg_pool2d.default": 1},
    "averages of all": {"aten.avg_pool2d.default": 2},
    "averages by a number": {"aten.avg_pool2d.default": 1},
    "means": {"aten.mean.dim": 1},
    "index of two dimensions": {"aten.view_copy.default": 1},
    "put": {"aten.index_put.default": 2},
    "put values of fewer dimensions": {"aten.index_put.default": 1},
    "cat of dtypes": {"dim_order_ops._to_dim_order_copy.default": 1, "aten.cat.default": 1},
    "made of numbers": {"aten.arange.start_step": 1, "dim_order_ops._to_dim_order_copy.default": 1,
        "aten.add.Tensor": 1, "aten.full_like.default": 1},
    "numbers without dimensions": {"aten.gt.Scalar": 1},
    "identity": {"dim_order_ops._clone_dim_order.default": 1},
    "any and all": {"aten.gt.Scalar": 3, "aten.any.default": 1},
    "logic": {"aten.gt.Scalar": 1, "aten.lt.Scalar": 2},
    "activations": {"aten.le.Scalar": 1},
    "filled": {"aten.full_like.default": 2},
    "gathered": {"aten.view_copy.default": 1, "aten.expand_copy.default": 1},
    "logarithms": {"aten.log1p.default": 1},
    "log1p and expm1": {"aten.log1p.default": 1, "aten.expm1.default": 1},
    "softplus": {"aten.gt.Scalar": 4},
    "logit": {"aten.lt.Scalar": 2, "aten.gt.Scalar": 2},
    "angles": {"aten.atan2.default": 1},
    "cosine of small ones": {"aten.clamp.Tensor": 2},
    "variances": {"aten.var.correction": 4},
    "attention that sees nothing": {"aten.ne.Scalar": 1},
    "attention by numbers": {"aten.ne.Scalar": 1},
}  # fmt: skip


@pytest.mark.parametrize("chosen", chunks(CALLS), ids=lambda chosen: chosen[0].name)
def test_each_call_is_taken_and_right(chosen: list[Row]) -> None:
    left = {row.name: LEFT[row.name] for row in chosen if row.name in LEFT}
    assert beside_whole(chosen, OPENVINO, AS_THEY_ARE) == left


# What PyTorch or to_edge writes otherwise today, and quantized calls, which other tests have.
WITHOUT_A_CALL = {f"aten.{name}" for name in (
    "_adaptive_avg_pool3d.default", "_to_copy.default", "adaptive_avg_pool1d.default", "addcmul.default",
    "alias_copy.default", "avg_pool1d.default", "baddbmm.default", "bitwise_and.Scalar",
    "bitwise_right_shift.Tensor_Scalar", "clamp_max.default", "clamp_min.default", "clone.default", "div.Scalar",
    "glu.default", "hardsigmoid.default", "hardswish.default", "linalg_vector_norm.default", "logsumexp.default",
    "mul.Scalar", "reflection_pad2d.default", "remainder.Scalar", "roll.default", "rsub.Scalar", "rsub.Tensor",
    "scalar_tensor.default", "select_scatter.default", "silu.default", "split_copy.Tensor", "squeeze_copy.default",
    "squeeze_copy.dim", "sub.Scalar", "sum.default", "t_copy.default", "transpose_copy.int", "tril.default",
    "triu.default", "unbind_copy.int",
)}  # fmt: skip


def test_every_row_has_a_call() -> None:
    taken = {name for row in CALLS for name in taken_by(OPENVINO, row)}
    missing = {name for name in set(TABLE) - taken if name.startswith("aten.")}
    assert missing == WITHOUT_A_CALL


@pytest.mark.parametrize("chosen", chunks(sample(), 3), ids=lambda chosen: chosen[0].family)
def test_a_row_of_each_family_is_right(chosen: list[Row]) -> None:
    assert bad_rows(chosen, OPENVINO) == {}
