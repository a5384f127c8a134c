# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what OpenVINO's frontend for PyTorch translates and computes as PyTorch does.

Its CPU library computes int64 in int32, float64 in float32 and narrow integers with saturation; so only such dtypes
are taken as make no difference: floats and int32 where an operator computes, what does not change when it is moved,
int64 where it is an index. Comparisons and signs of floats are not: NaN is equal to numbers and larger there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.openvino.aot.pools import ENDS_INSIDE
from executorch.backends.openvino.aot.quantized import (
    DEQUANTIZED,
    KEEPS_ZERO,
    OF_FLOATS,
    PADS_FLOATS,
)
from executorch.exir.backend.lowering.op_table import (
    Condition,
    Constants,
    OpTable,
    Row,
    TensorCondition,
    has_dtype_of,
    has_elements,
    has_rank_up_to,
    is_tensor_or_size,
    tensors_of,
)
from executorch.exir.graph_facts import arguments_by_name, op_name

FLOATS = (torch.float32, torch.float16)
INTS = (torch.int32,)
NUMBERS = (*FLOATS, *INTS)
NARROW = (torch.int8, torch.uint8, torch.bool)
MOVED = (*NUMBERS, *NARROW)
BOOLS = (torch.bool,)
INDICES = (torch.int64, torch.int32)
DTYPES = (*MOVED, torch.int64)
MAX_RANK = 8


def compiled(*_: object) -> None:
    """OpenVINO reads the call itself."""


def _names(dtypes: Iterable[torch.dtype]) -> str:
    names = [str(dtype).removeprefix("torch.") for dtype in dtypes] or ["a constant"]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _dtype(node: Node) -> torch.dtype | None:
    return getattr(node.meta.get("val"), "dtype", None)


def _has_sizes_that_fit(tensor: Node, call: Node) -> bool:
    return has_elements(tensor, call) and has_rank_up_to(MAX_RANK)(tensor, call)


def _is_static(node: Node, constants: Constants) -> bool:
    return all(each in constants for each in node.all_input_nodes)


def _reads(node: Node, allowed: tuple[torch.dtype, ...], but: tuple[int, ...]) -> bool:
    """Whether all tensors that a call reads have one of the dtypes; those of arguments `but` are indices."""
    indices = {id(each) for place in but for each in _flat(node.args[place])}
    return all(
        _dtype(each) in (None, *(INDICES if id(each) in indices else allowed))
        for each in node.all_input_nodes
    )


def _gives(node: Node, allowed: tuple[torch.dtype, ...], items: tuple[int, ...]) -> bool:
    values = node.meta["val"]
    if not isinstance(values, tuple | list):
        return values.dtype in allowed
    used = {user.args[1] for user in node.users}
    return all(values[item].dtype in allowed or item in items for item in used)


def _flat(value: object) -> list[Node]:
    return [
        each
        for each in (value if isinstance(value, list | tuple) else [value])
        if isinstance(each, Node)
    ]


def row(
    reads: tuple[torch.dtype, ...],
    *conditions: Condition,
    gives: tuple[torch.dtype, ...] | None = None,
    indices: tuple[int, ...] = (),
    index_items: tuple[int, ...] = (),
    whole: bool = False,
) -> Row:
    """`indices`: arguments that may be int64; `index_items`: results that may be."""
    given = reads if gives is None else gives
    checks = (
        Condition(
            partial(_check, _reads, reads, indices),
            f"operands of dtype {_names(reads)} are expected",
        ),
        Condition(
            partial(_check, _gives, given, index_items),
            f"a result of dtype {_names(given)} is expected",
        ),
    )
    return Row(compiled, (*checks, *conditions), preserved=whole)


def _check(
    test: Callable[..., bool],
    dtypes: tuple[torch.dtype, ...],
    but: tuple[int, ...],
    node: Node,
    constants: Constants,
) -> bool:
    """What is computed once, when it is compiled, may have any dtype."""
    return _is_static(node, constants) or test(node, dtypes, but)


def _same_dtypes(node: Node, constants: Constants) -> bool:
    return len({_dtype(each) for each in tensors_of(node)} - {None}) == 1


def _fits_in_32_bits(node: Node, constants: Constants) -> bool:
    """What is made of numbers alone. OpenVINO holds int64 in 32 bits."""
    args = [each for each in node.args if isinstance(each, int)]
    return not node.all_input_nodes and all(abs(each) < 2**31 for each in args)


def _has_one_index(node: Node, constants: Constants) -> bool:
    return sum(index is not None for index in node.args[1]) == 1


def _is_plain_sum(node: Node, constants: Constants) -> bool:
    """With arithmetic behind it OpenVINO 2026.4 computes the first of the samples alone and leaves 0 for the others,
    where the second of three dimensions is reduced."""
    value = node.args[0].meta["val"]
    if value.dim() != 3 or value.shape[0] == 1:
        return True
    given = arguments_by_name(node).get("dim")  # all without one, or with an empty list
    dims = {dim % 3 for dim in ([given] if isinstance(given, int) else given or ())}
    return 1 not in dims or 0 in dims or not any(op_name(user) in ARITHMETIC for user in node.users)


def _gives_more_than_one(node: Node, constants: Constants) -> bool:
    """Of one sample PyTorch takes the middle of what is read, OpenVINO 2026.4 the first."""
    source, _, aligns_corners, *_ = node.args
    sizes, results = (each.meta["val"].shape[2:] for each in (source, node))
    return aligns_corners or all(
        statically_known_true(result > 1) or statically_known_true(size == 1)
        for size, result in zip(sizes, results, strict=True)
    )


def _is_of_an_exponential(node: Node, constants: Constants) -> bool:
    """In softplus. OpenVINO 2026.4 computes log(1 + x), of which a small x is gone."""
    return op_name(node.args[0]) == "aten.exp.default"


OF_EXPONENTIAL = Condition(
    _is_of_an_exponential, "an exponential is expected, not what may be small"
)
MORE_THAN_ONE = Condition(
    _gives_more_than_one, "a result of more than one row and column is expected"
)
PLAIN_SUM = Condition(
    _is_plain_sum,
    "a reduction of the second of three dimensions without arithmetic behind it is expected",
)
OF_NUMBERS = Condition(_fits_in_32_bits, "numbers of 32 bits are expected, known ahead")
ONE_INDEX = Condition(_has_one_index, "one tensor of indices is expected")
ONE_DTYPE = Condition(_same_dtypes, "operands and result of one dtype are expected")

UNARY = """abs acos acosh asin asinh atanh ceil cos cosh erf exp floor log log10 log2 neg reciprocal relu round
    rsqrt sigmoid sin sinh sqrt tan tanh hardsigmoid hardswish silu gelu elu leaky_relu hardtanh"""
EXACT_UNARY = "abs neg relu"
BINARY = "add.Tensor sub.Tensor mul.Tensor maximum.default minimum.default"
FLOAT_BINARY = "div.Tensor pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar fmod.Tensor remainder.Tensor rsub.Tensor"
WITH_A_NUMBER = (
    "add.Scalar sub.Scalar mul.Scalar div.Scalar rsub.Scalar fmod.Scalar remainder.Scalar"
)
ARITHMETIC = {f"aten.{name}" for name in f"{BINARY} {FLOAT_BINARY} {WITH_A_NUMBER}".split()}
COMPARISONS = "eq ne lt le gt ge"
DATA_MOVEMENT = """alias_copy.default clone.default permute_copy.default select_copy.int slice_copy.Tensor
    split_copy.Tensor split_with_sizes_copy.default squeeze_copy.dims squeeze_copy.dim squeeze_copy.default
    unsqueeze_copy.default view_copy.default expand_copy.default repeat.default flip.default transpose_copy.int
    t_copy.default unbind_copy.int roll.default cat.default select_scatter.default slice_scatter.default where.self"""
MATRICES = "addmm.default bmm.default mm.default baddbmm.default linear.default convolution.default"
POOLS = "avg_pool1d.default avg_pool2d.default avg_pool3d.default"
ADAPTIVE_POOLS = (
    "_adaptive_avg_pool2d.default _adaptive_avg_pool3d.default adaptive_avg_pool1d.default"
)
RESIZES = "pixel_shuffle.default upsample_nearest2d.default upsample_nearest2d.vec"
INTERPOLATIONS = "upsample_bilinear2d.default upsample_bilinear2d.vec"
NORMS = """_log_softmax.default _softmax.default native_group_norm.default native_layer_norm.default
    _native_batch_norm_legit_no_training.default logsumexp.default"""
REDUCTIONS = """amax.default amin.default mean.dim mean.default sum.dim_IntList sum.default prod.default prod.dim_int
    linalg_vector_norm.default"""


MAKERS = ("aten.full.default", "aten.arange.start_step", "aten.scalar_tensor.default")


def _rows() -> dict[str, Row]:
    rows = {f"aten.{name}.default": row(FLOATS) for name in UNARY.split()}
    rows |= {f"aten.{name}.default": row(NUMBERS) for name in EXACT_UNARY.split()}
    rows["aten.log1p.default"] = row(FLOATS, OF_EXPONENTIAL)
    rows |= {f"aten.{name}": row(NUMBERS, ONE_DTYPE) for name in BINARY.split()}
    rows |= {f"aten.{name}": row(FLOATS, ONE_DTYPE) for name in FLOAT_BINARY.split()}
    rows |= {f"aten.{name}": row((torch.float32,)) for name in WITH_A_NUMBER.split()}
    for name in COMPARISONS.split():
        rows |= {f"aten.{name}.{kind}": row(INTS, gives=BOOLS) for kind in ("Tensor", "Scalar")}
    for name in ("and", "or", "xor"):
        rows[f"aten.bitwise_{name}.Tensor"] = row(BOOLS)
        rows[f"aten.logical_{name}.default"] = row(BOOLS)
    rows |= {f"aten.{name}.default": row(BOOLS) for name in ("bitwise_not", "logical_not")}
    rows |= {f"aten.{name}.default": row(FLOATS, gives=BOOLS) for name in ("isinf", "isnan")}
    rows |= {f"aten.{name}": row(MOVED) for name in DATA_MOVEMENT.split()}
    for group, more in (
        (MATRICES, ()),
        (POOLS, (PADS_FLOATS, ENDS_INSIDE)),
        (ADAPTIVE_POOLS, ()),
        (NORMS, ()),
        (REDUCTIONS, (PLAIN_SUM,)),
    ):
        rows |= {f"aten.{name}": row(FLOATS, ONE_DTYPE, *more) for name in group.split()}
    rows |= {f"aten.{name}": row(FLOATS, whole=True) for name in RESIZES.split()}
    rows |= {
        f"aten.{name}": row(FLOATS, MORE_THAN_ONE, whole=True) for name in INTERPOLATIONS.split()
    }
    rows |= {name: row(DTYPES, OF_NUMBERS) for name in MAKERS}
    rows["aten.stack.default"] = row(MOVED, whole=True)
    rows |= {f"aten.{name}.default": row(FLOATS) for name in ("clamp", "clamp_min", "clamp_max")}
    rows |= {
        "aten.max_pool2d_with_indices.default": row(FLOATS, index_items=(1,)),
        "aten.max.dim": row(FLOATS, index_items=(1,)),
        "aten.min.dim": row(FLOATS, index_items=(1,)),
        "aten.topk.default": row(FLOATS, index_items=(1,)),
        "aten.argmax.default": row(FLOATS, gives=(torch.int64,)),
        "aten.argmin.default": row(FLOATS, gives=(torch.int64,)),
        "aten.embedding.default": row(FLOATS, indices=(1,)),
        "aten.gather.default": row(MOVED, indices=(2,)),
        "aten.index_select.default": row(MOVED, indices=(2,)),
        "aten.index.Tensor": row(MOVED, ONE_INDEX, indices=(1,)),
        "aten.any.dim": row(BOOLS),
        "aten.grid_sampler_2d.default": row(FLOATS),
        "aten.glu.default": row(FLOATS),
        "aten.addcmul.default": row(FLOATS, ONE_DTYPE),
        "aten.cumsum.default": row(FLOATS, ONE_DTYPE),
        "aten.constant_pad_nd.default": row(MOVED, OF_FLOATS),
        "aten.reflection_pad2d.default": row(FLOATS),
        "aten.tril.default": row(MOVED),
        "aten.triu.default": row(MOVED),
        "aten._to_copy.default": row(MOVED, gives=NUMBERS),
        "aten.bitwise_and.Scalar": row(()),  # of weights in 4 bits
        "aten.bitwise_right_shift.Tensor_Scalar": row(()),
        "dim_order_ops._to_dim_order_copy.default": row(MOVED, gives=NUMBERS),
        "dim_order_ops._clone_dim_order.default": row(MOVED),
        "quantized_decomposed.quantize_per_tensor.default": row(FLOATS, DEQUANTIZED, gives=NARROW),
        "quantized_decomposed.quantize_per_channel.default": row(FLOATS, DEQUANTIZED, gives=NARROW),
    }
    for kind in ("tensor", "channel"):
        name = f"quantized_decomposed.dequantize_per_{kind}.default"
        rows[name] = row(NARROW, DEQUANTIZED, KEEPS_ZERO, gives=FLOATS)
    return rows


TABLE = OpTable(
    _rows(),
    of_tensors=(
        TensorCondition(is_tensor_or_size, "a tensor or a size is expected"),
        TensorCondition(has_dtype_of(DTYPES), f"dtype {_names(DTYPES)} is expected"),
        TensorCondition(
            _has_sizes_that_fit, f"1 to {MAX_RANK} dimensions with elements, or none, are expected"
        ),
    ),
)
