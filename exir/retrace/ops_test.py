# SPDX-License-Identifier: BSD-3-Clause
"""One row per piece of torch code: its edge program computes what eager computes, and lowers to a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from executorch.exir import to_edge
from executorch.exir.dialects._ops import ops
from executorch.exir.retrace import template
from executorch.runtime import Runtime


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def _randn(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def _inplace_views(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    z = y.view(-1)
    z.add_(1)
    y[0].mul_(3)
    return y + z.view(y.shape)


def _inplace_chain(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    y += x
    y.mul_(2).relu_()
    y.clamp_(max=3.0)
    return y


def _index_put(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[torch.tensor([0, 2])] = 5.0
    y[:, 1] = 7.0
    return y


def _no_grad(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x.sin()
        z = y * 2
    return z + x


def _fill(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    y.fill_(2.5)
    y.zero_()
    return y + x


def _copy_broadcast(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(3, 4, dtype=torch.float32)
    y.copy_(x[0])
    return y + 1


X34 = _randn(3, 4)
X = _randn(2, 3, 8, 8)
IDS = torch.tensor([[1, 2, 0], [3, 1, 1]])
MASK = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
LABELS = torch.tensor([[3, 1, -1, 0], [2, -1, -1, -1], [-1, 0, 1, 2]])


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "scalar_arithmetic": (lambda x: (x + 1) * 2.5 - 3 / (x.abs() + 2) // 1, (X34,)),
    "int_and_float": (lambda x: x * 1.5 + x, (torch.arange(6),)),
    "bool_plus_int": (lambda x: (x > 0) + 1, (X34,)),
    "rsub": (lambda x: 1 - x, (X34,)),
    "rdiv": (lambda x: 2 / x.exp(), (X34,)),
    "pow": (lambda x: x.abs() ** 2 + x.abs() ** 0.5 + 2**x, (X34,)),
    "remainder": (lambda x: torch.remainder(x, 2) + torch.fmod(x, 3) + x % 1.5, (X34,)),
    "compare": (lambda x: (x > 0, x >= 0.5, x < 1, x <= 2, x == 0, x != 0), (X34,)),
    "logical": (lambda x: torch.logical_and(x > 0, x < 1) | ~(x > 2) ^ (x > 0), (X34,)),
    "where": (lambda x: torch.where(x > 0, x, -1.0) + torch.where(x > 0, 1, 0), (X34,)),
    "masked_fill": (lambda x: x.masked_fill(x > 0, float("-inf")).softmax(-1), (X34,)),
    "clamp": (lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0) + x.clamp(max=torch.ones(4)), (X34,)),
    "unary": (lambda x: x.sin() + x.cos() + x.tanh() + x.erf() + x.abs().sqrt() + x.exp(), (X34,)),
    "log_family": (lambda x: (x.abs() + 1).log() + x.abs().log1p() + (x.abs() + 1).log2(), (X34,)),
    "rounding": (lambda x: x.round() + x.floor() + x.ceil() + x.trunc() + x.sign(), (X34,)),
    "activations": (
        lambda x: F.gelu(x) + F.silu(x) + F.elu(x) + F.leaky_relu(x) + F.hardswish(x) + F.mish(x),
        (X34,),
    ),
    "more_activations": (
        lambda x: (
            F.hardsigmoid(x)
            + F.relu6(x)
            + F.softplus(x)
            + F.selu(x)
            + F.gelu(x, approximate="tanh")
        ),
        (X34,),
    ),
    "glu": (lambda x: F.glu(x, -1), (X34,)),
    "prelu": (nn.PReLU(), (X34,)),
    "reductions": (
        lambda x: (x.sum(), x.sum(1), x.mean((0, 1)), x.amax(1), x.amin(0), x.prod(1)),
        (X34,),
    ),
    "max_min": (
        lambda x: (x.max(), x.max(1), x.min(0, keepdim=True), x.argmax(1), x.argmin()),
        (X34,),
    ),
    "var_std_norm": (lambda x: (x.var(1), x.std(0), x.norm(dim=1), torch.var_mean(x, 1)), (X34,)),
    "any_all": (lambda x: ((x > 0).any(), (x > 0).all(), (x > 0).any(1), (x > 5).all(0)), (X34,)),
    "cumsum_topk_sort": (lambda x: (x.cumsum(1), x.topk(2, 1)), (X34,)),
    "softmax": (lambda x: F.softmax(x, 0) + F.log_softmax(x, -1).exp(), (X34,)),
    "logsumexp": (lambda x: torch.logsumexp(x, 1), (X34,)),
    "views": (lambda x: x.view(2, 24, 8).transpose(1, 2).reshape(-1).unflatten(0, (16, 24)), (X,)),
    "permute_chain": (lambda x: x.permute(0, 2, 3, 1).contiguous().flatten(1, 2).mT, (X,)),
    "squeeze": (lambda x: x.unsqueeze(1).squeeze(1).unsqueeze(-1).squeeze(), (X34,)),
    "expand": (lambda x: x[:1].expand(3, 4) + x.unsqueeze(0).expand(2, -1, -1), (X34,)),
    "repeat": (lambda x: (x.repeat(2, 3), x.repeat_interleave(2, 0), x.tile(2)), (X34,)),
    "slices": (lambda x: (x[1:], x[:, ::2], x[-1], x[..., 0], x[0:2, 1:3]), (X34,)),
    "split_chunk": (
        lambda x: (*x.split(2), *x.chunk(2, 1), *x.unbind(0), *x.split([1, 3], 1)),
        (X34,),
    ),
    "cat_stack": (
        lambda x: (torch.cat([x, x], 1), torch.stack([x, x * 2], 1), torch.hstack([x, x])),
        (X34,),
    ),
    "narrow_select": (
        lambda x: x.narrow(0, 1, 2) + x.select(0, 0) + x.index_select(0, torch.tensor([2, 1])),
        (X34,),
    ),
    "gather_scatter": (lambda x: x.gather(1, torch.tensor([[0], [1], [2]])), (X34,)),
    "index": (lambda x: (x[torch.tensor([0, 2])], x[:, torch.tensor([1, 1])]), (X34,)),
    "index_put": (_index_put, (X34,)),
    "flip_roll": (lambda x: x.flip(0) + x.roll(1, 1), (X34,)),
    "tril_triu": (lambda x: x.tril() + x.triu(1), (X34,)),
    "diagonal": (lambda x: x.diagonal() + x.diagonal(1), (X34,)),
    "pad": (lambda x: F.pad(x, (1, 2), value=3.0), (X34,)),
    "pad_reflect": (lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), (X,)),
    "einsum": (lambda x: torch.einsum("ij,kj->ik", x, x), (X34,)),
    "matmul": (lambda x: (x @ x.t(), x[0] @ x[1], x @ x[0], X.to(x.dtype) @ _MAT), (X34,)),
    "baddbmm": (lambda x: torch.baddbmm(x, x, x, beta=0.5, alpha=2), (_randn(2, 4, 4),)),
    "addmm": (lambda x: torch.addmm(x, x, x), (_randn(4, 4),)),
    "creation": (
        lambda x: x + torch.arange(4) + torch.ones(4) + torch.zeros(3, 1) + torch.full((4,), 2),
        (X34,),
    ),
    "like": (
        lambda x: torch.ones_like(x) + torch.zeros_like(x) + torch.full_like(x, 3) + x.new_ones(4),
        (X34,),
    ),
    "linspace_eye": (lambda x: x @ torch.eye(4) + torch.linspace(0, 1, 4), (X34,)),
    "dtype_changes": (
        lambda x: (x.half().float(), x.to(torch.int32), x.double(), x.bool(), x.long() + 1),
        (X34,),
    ),
    "one_hot": (lambda x: F.one_hot(x, 5), (IDS,)),
    "embedding": (nn.Embedding(10, 4), (IDS,)),
    "linear": (nn.Linear(4, 5), (X34,)),
    "linear_no_bias": (nn.Linear(4, 5, bias=False), (X34,)),
    "bilinear": (nn.Bilinear(4, 4, 2), (X34, X34)),
    "conv1d": (nn.Conv1d(3, 4, 3, padding=1), (_randn(2, 3, 8),)),
    "conv2d_same": (nn.Conv2d(3, 6, 3, padding="same", groups=3), (X,)),
    "conv_transpose": (nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), (X,)),
    "batch_norm": (nn.BatchNorm2d(3).eval(), (X,)),
    "layer_norm": (nn.LayerNorm(8), (X,)),
    "group_norm": (nn.GroupNorm(3, 3), (X,)),
    "instance_norm": (nn.InstanceNorm2d(3).eval(), (X,)),
    "rms_norm": (nn.RMSNorm(8), (X,)),
    "pools": (
        lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, 1)),
        (X,),
    ),
    "adaptive_pool": (lambda x: F.adaptive_avg_pool2d(x, 4), (X,)),
    "upsample": (
        lambda x: F.interpolate(x, scale_factor=2) + F.interpolate(x, size=16, mode="bilinear"),
        (X,),
    ),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x.reshape(2, 12, 4, 4), 2), (X,)),
    "channels_last": (
        nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last),
        (X.to(memory_format=torch.channels_last),),
    ),
    "to_channels_last": (lambda x: x.to(memory_format=torch.channels_last) * 2, (X,)),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x), (X,)),
    "attention_causal": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), (X,)),
    "attention_masked": (
        lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=MASK),
        (_randn(2, 2, 3, 4),),
    ),
    "attention_biased": (
        lambda x, m: F.scaled_dot_product_attention(x, x, x, attn_mask=m, scale=0.3),
        (_randn(2, 2, 3, 4), _randn(3, 3)),
    ),
    "multihead_attention": (
        nn.MultiheadAttention(8, 2, batch_first=True).eval(),
        (X[0], X[0], X[0]),
    ),
    "transformer_layer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), (X[0],)),
    "lstm": (nn.LSTM(8, 4, batch_first=True), (X[0],)),
    "gru": (nn.GRU(8, 4), (X[0],)),
    "dropout_eval": (nn.Dropout(0.5).eval(), (X34,)),
    "losses": (
        lambda x: (F.mse_loss(x, x * 2), F.l1_loss(x, x + 1), F.smooth_l1_loss(x, x * 3)),
        (X34,),
    ),
    "copies_that_nobody_waits_for": (
        lambda x: (x.to(torch.float64, non_blocking=True), x.to("cpu", non_blocking=True) * 2),
        (X34,),
    ),
    "masks_larger_than_what_they_select_from": (
        lambda x, m: (x[0].masked_select(m), x[:, :1].masked_select(m), m[0, 0].masked_select(m)),
        (X34, X34 > -9),
    ),
    "whole_numbers_between_others": (
        lambda x: (
            torch.linspace(4.3, 0, 50, dtype=torch.int64),
            torch.linspace(x.shape[0], 0.5, 7, dtype=torch.int32),
            torch.arange(0.1, -7.9, -4.0, dtype=torch.int64),
        ),
        (X34,),
    ),
    "multilabel_margin": (
        lambda x: [
            *(F.multilabel_margin_loss(x, LABELS, reduction=r) for r in ("none", "mean", "sum")),
            F.multilabel_margin_loss(x[1], LABELS[1]),
        ],
        (X34,),
    ),
    "cross_entropy": (lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2])), (X34,)),
    "cosine": (lambda x: F.cosine_similarity(x, x + 1) + F.normalize(x).sum(1), (X34,)),
    "inplace_chain": (_inplace_chain, (X34,)),
    "inplace_views": (_inplace_views, (X34,)),
    "no_grad": (_no_grad, (X34,)),
    "fill": (_fill, (X34,)),
    "copy_broadcast": (_copy_broadcast, (X34,)),
    "return_input": (lambda x: (x, x.clone(), x + 0), (X34,)),
    "none_and_numbers": (lambda x, n: (x * n, None, 3), (X34, 2)),
    "bitwise": (lambda x: (x & 1) | (x ^ 3) | (x << 1), (IDS,)),
    "views_of_everything": (
        lambda x: (
            torch.cat([x.expand(3, 4).reshape(3, 4), x.permute(0, 1).view_as(x)])
            @ x.expand(3, 4).t()
        ),
        (X34,),
    ),
    "grouped_attention": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
        (_randn(1, 4, 3, 8), _randn(1, 2, 3, 8)),
    ),
    "unfold": (lambda x: F.unfold(x, 3), (X,)),
    "meshgrid": (lambda x: torch.meshgrid(x[0], x[1], indexing="ij")[0], (X34,)),
    "outer": (lambda x: torch.outer(x[0], x[1]) + torch.ger(x[0], x[2]), (X34,)),
    "lerp_addcmul": (
        lambda x: (
            torch.lerp(x, x * 2, 0.3) + torch.addcmul(x, x, x, value=2) + torch.addcdiv(x, x, x + 9)
        ),
        (X34,),
    ),
    "minimum_maximum": (lambda x: torch.minimum(x, x * 2) + torch.maximum(x, -x), (X34,)),
    "addmv_dist": (lambda x: torch.addmv(x[:, 0], x, x[0]) + torch.dist(x, x + 1), (X34,)),
    "tril_indices": (lambda x: x[0] + torch.tril_indices(3, 3).sum(), (X34,)),
    "conjugates": (
        lambda z: (z.conj(), z.conj() * z, z.conj().imag + 1, torch._neg_view(z.real)),
        (torch.complex(_randn(3), _randn(3)),),
    ),
    "complex_numbers": (
        lambda z, x: (z * 2j, 1j - z, z / (1 + 1j), x * 0.5j, torch.view_as_real(x + 1j), z * -1j),
        (torch.complex(_randn(3), _randn(3)), X34[0, :3]),
    ),
    "complex_numbers_in_a_branch": (
        lambda z, x: torch.cond(x.sum() > 9, lambda z: z * 1j, lambda z: z - 2j, (z,)),
        (torch.complex(_randn(3), _randn(3)), X34),
    ),
    "isnan_isinf": (lambda x: (x.isnan(), x.isinf(), torch.nan_to_num(x)), (X34,)),
}
_MAT = _randn(8, 8)


def _leaves(tree: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(tree, is_leaf=lambda x: isinstance(x, torch.Tensor))


@pytest.mark.parametrize("name", CASES)
def test_edge_program_computes_what_eager_computes(name: str) -> None:
    function, inputs = CASES[name]
    module = function if isinstance(function, nn.Module) else Call(function)
    with torch.no_grad():
        expected = module(*inputs)
        edge = to_edge(torch.export.export(module, inputs))
        found = edge.exported_program().module()(*inputs)
    for want, have in zip(_leaves(expected), _leaves(found), strict=True):
        if isinstance(want, torch.Tensor):
            assert have.dtype == want.dtype
            torch.testing.assert_close(have, want, equal_nan=True, check_stride=False)
        else:
            assert have == want
    found = (
        Runtime.get()
        .load_program(edge.to_executorch().buffer)
        .load_method("forward")
        .execute(_leaves(inputs))
    )
    for want, have in zip(_leaves(expected), found, strict=True):
        if isinstance(want, torch.Tensor):
            torch.testing.assert_close(have, want, equal_nan=True, check_stride=False)


def test_linear_of_a_vector_is_one_of_a_row() -> None:
    linear = torch.nn.Linear(3, 4)
    x = torch.randn(3)
    program = to_edge(torch.export.export(linear, (x,))).exported_program()
    (call,) = program.graph.find_nodes(op="call_function", target=ops.edge.aten.linear.default)
    assert call.args[0].meta["val"].shape == (1, 3)
    torch.testing.assert_close(program.module()(x), linear(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_the_fake_result_of_batch_norm_is_what_torch_says(
    dtype: torch.dtype, layout: torch.memory_format
) -> None:
    op = torch.ops.aten._native_batch_norm_legit_no_training.default
    with FakeTensorMode():
        image = torch.empty(2, 3, 4, 5, dtype=dtype).to(memory_format=layout)
        each = torch.empty(3)
        args = (image, each, None, each, each, 0.1, 1e-5)
        expected, found = op(*args), template._RESULTS[op](*args)
    for left, right in zip(expected, found, strict=True):
        assert left.shape == right.shape and left.dtype == right.dtype
        assert left.stride() == right.stride()
