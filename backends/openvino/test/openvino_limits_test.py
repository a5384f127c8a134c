# SPDX-License-Identifier: BSD-3-Clause
"""Both sides of every condition: calls that are not delegated for its reason, and calls beside them, at the limit, that
are. Nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional as F

from executorch.backends.openvino.aot import ops, pools, quantized
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.test.conformance.condition_cases import (
    Case,
    among,
    claimed_by,
    without_case,
)
from executorch.backends.test.conformance.single_call import Call, Data
from executorch.backends.test.corpus.row import numbers
from executorch.exir.backend.lowering.op_table import Row
from executorch.exir.graph_facts import op_name

X, IMAGE, LONG = numbers(3, 4, 6), numbers(1, 2, 9, 12), numbers(3, 4, 6).round().long()
q = torch.ops.quantized_decomposed
aten = torch.ops.aten
U8 = (0.0322, 127, 0, 255, torch.uint8)
OTHER = (0.05, 3, 0, 255, torch.uint8)
KINDS = ("per_tensor.default", "per_channel.default")
QUANTIZE, DEQUANTIZE = (
    [f"quantized_decomposed.{name}_{kind}" for kind in KINDS] for name in ("quantize", "dequantize")
)
ROWS = ({0: Dim("rows", min=2, max=9)},)
BYTES = torch.arange(-36, 36, dtype=torch.int8).reshape(3, 4, 6)
FOUR = (torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.zeros(4, dtype=torch.int64), 1, -128, 127, torch.int8)  # fmt: skip


def stored(x: Tensor) -> Tensor:
    return q.quantize_per_tensor.default(x, *U8)


def read(x: Tensor) -> Tensor:
    return q.dequantize_per_tensor.default(x, *U8)


def rounded(x: Tensor) -> Tensor:
    return read(stored(x))


def by_channel(x: Tensor) -> Tensor:
    return q.dequantize_per_channel.default(q.quantize_per_channel.default(x, *FOUR), *FOUR)


def call(name: str, *args: Any) -> Call:
    return Call(f"aten.{name}", args)


def tensors() -> list[Case]:
    sized, typed, shaped = ops.TABLE.of_tensors
    nine = torch.zeros([2] * 9)
    return [
        Case(sized.reason, [among("mul.Scalar", lambda x: aten.mul.Scalar(x, x.sum().item()), X)],
             [among("view_copy.default", lambda x: x.view(x.shape[0], 24), X, dynamic_shapes=(ROWS,))]),
        Case(typed.reason, [call("abs.default", X.double()), call("permute_copy.default", X.short(), [2, 0, 1])],
             [call("abs.default", X.half()), call("permute_copy.default", X.char(), [2, 0, 1])]),
        Case(shaped.reason, [call("abs.default", nine), call("abs.default", X[:, :0])],
             [call("abs.default", nine[0]), call("abs.default", torch.tensor(1.0))]),
    ]  # fmt: skip


def dtypes() -> list[Case]:
    reads = {name: row.conditions[0] for name, row in ops.TABLE.items()}
    gives = {name: row.conditions[1] for name, row in ops.TABLE.items()}
    indices, mask = torch.tensor([[0, 1]]), X > 0
    reading = [
        ("exp", [call("exp.default", X.int())], [call("exp.default", X.half())]),
        ("abs", [call("abs.default", LONG)], [call("abs.default", X.int())]),
        ("eq.Tensor", [call("eq.Tensor", X, X)], [call("eq.Tensor", X.int(), X.int())]),
        ("bitwise_not", [call("bitwise_not.default", X.int())], [call("bitwise_not.default", mask)]),
        ("mul.Scalar", [call("mul.Scalar", X.half(), 2.0)], [call("mul.Scalar", X, 2.0)]),
        ("where.self", [call("where.self", mask, LONG, LONG)], [call("where.self", mask, X.char(), X.char())]),
        # What an index is, another operand is not. What is computed ahead may have any dtype.
        ("gather", [call("gather.default", LONG, 1, LONG * 0)], [call("gather.default", X, 1, LONG * 0)]),
        ("index_select", [call("index_select.default", LONG, 1, indices[0])],
         [call("index_select.default", X, 1, indices[0])]),
        ("embedding", [call("embedding.default", X[0].int(), indices)], [call("embedding.default", X[0], indices)]),
        ("index.Tensor", [call("index.Tensor", LONG, [indices])], [call("index.Tensor", X, [None, indices])]),
        ("add.Tensor", [call("add.Tensor", LONG, Data(LONG))], [call("add.Tensor", Data(LONG), Data(LONG + 1))]),
        ("bitwise_and.Scalar", [call("bitwise_and.Scalar", X.char(), 3)], [call("bitwise_and.Scalar", Data(BYTES), 3)]),
    ]  # fmt: skip
    giving = [
        ("_to_copy", [among("dim_order_ops._to_dim_order_copy.default", lambda x: x.to(torch.uint8), X)],
         [among("dim_order_ops._to_dim_order_copy.default", lambda x: x.to(torch.int32), X)]),
        ("max.dim", [], [among("max.dim", lambda x: x.max(1), X), among("max.dim", lambda x: x.max(1)[0], X),
                         among("max.dim", lambda x: x.max(1)[1], X)]),
        ("argmax", [], [call("argmax.default", X, 1)]),
        ("isnan", [], [call("isnan.default", X)]),
    ]  # fmt: skip

    def reason(rows: dict[str, Any], name: str) -> Any:
        return rows[f"aten.{name if '.' in name else f'{name}.default'}"]

    return [Case(reason(reads, name), no, yes) for name, no, yes in reading] + [
        Case(reason(gives, name), no, yes) for name, no, yes in giving
    ]


def calls() -> list[Case]:
    total = "sum.dim_IntList"
    bilinear = "upsample_bilinear2d.vec"
    flat, images = X[None], numbers(1, 2, 1, 6)
    most = 2**31
    made = [
        Case(ops.ONE_DTYPE, [call("add.Tensor", X, X.int()), call("mm.default", X[0], X[0].T.half())],
             [call("add.Tensor", X.int(), X.int()), call("mm.default", X[0], X[0].T)]),
        Case(ops.OF_NUMBERS, [call("full.default", [2], most), call("full.default", [2], -most),
                              call("arange.start_step", most, most + 3),
                              among("full.default", lambda x: x.new_full((x.shape[0],), 2.0), X,
                                    dynamic_shapes=(ROWS,))],
             [call("full.default", [2], most - 1), call("full.default", [2], 1 - most),
              call("full.default", [2], 2.0**40), call("scalar_tensor.default", 3)]),
        Case(ops.ONE_INDEX, [among("index.Tensor", lambda x, i: x[i, i], X, LONG[0, 0].abs() % 3)],
             [among("index.Tensor", lambda x, i: x[:, i], X, LONG[0, 0].abs() % 3)]),
        Case(ops.OF_EXPONENTIAL, [call("log1p.default", X)], [among("log1p.default", lambda x: x.exp().log1p(), X)]),
        Case(ops.PLAIN_SUM, [among(total, lambda x: x.sum(1) * 2, X), among(total, lambda x: x.sum(-2) + 2, X),
                             among(total, lambda x: x.sum((2, 1)) / x[0, 0, 0], X),
                             among("prod.dim_int", lambda x: x.prod(1) * 2, X),
                             among("amax.default", lambda x: x.amax(1) - x[0], X[:, :3, :3]),
                             among("linalg_vector_norm.default", lambda x: aten.linalg_vector_norm(x, 2, [1]) * 2, X)],
             [among(total, lambda x: x.sum(1), X), among(total, lambda x: x.sum(1).relu(), X),
              among(total, lambda x: x.sum(2) * 2, X), among(total, lambda x: x.sum((1, 0)) * 2, X),
              among(total, lambda x: x.sum(1) * 2, X[:1]), among(total, lambda x: x.sum(1) * 2, X[0]),
              among(total, lambda x: x.sum(1) * 2, flat), among("sum.default", lambda x: aten.sum.default(x) * 2, X),
              among("amax.default", lambda x: x.amax() * 2, X),
              among("mean.dim", lambda x: aten.mean.dim(x, None) * 2, X),
              among("linalg_vector_norm.default", lambda x: aten.linalg_vector_norm(x, 1, [2]) * 2, X)]),
        Case(ops.MORE_THAN_ONE,
             [call(bilinear, IMAGE, [1, 4], False, None), call(bilinear, IMAGE, [4, 1], False, None)],
             [call(bilinear, IMAGE, [2, 2], False, None), call(bilinear, IMAGE, [1, 4], True, None),
              call(bilinear, images, [1, 4], False, None), call(bilinear, images.mT, [4, 1], False, None)]),
    ]  # fmt: skip
    return made


def windows() -> list[Case]:
    """The last window of 9 elements with 1 of padding ends with the padding, of 12 behind it: 6 * 2 + 3 > 14."""

    def pool(*args: Any, x: Tensor = IMAGE) -> Call:
        return call("avg_pool2d.default", x, *args)

    square, photo = (
        IMAGE[..., :9],
        among("avg_pool2d.default", lambda x: F.avg_pool2d(x, 3, 2, 1), IMAGE),
    )
    varies, odd = ({2: Dim("height", min=4, max=20)},), ({2: 2 * Dim("half", min=3, max=10) - 1},)
    return [
        Case(pools.ENDS_INSIDE,
             [pool([3, 3], [2, 2], [1, 1], True), pool([3], [2], [1], True, True), pool([3, 3], [], [1, 1], True),
              pool([3, 3], [2, 2], [0, 1], True, True), pool([3, 3], [2, 2], [1, 1], True, True, 5),
              call("avg_pool1d.default", IMAGE[0], [3], [2], [1], True)],
             [pool([3, 3], [2, 2], [1, 1], True, x=square), pool([3, 3], [2, 2], [1, 1], True, False),
              pool([3, 3], [2, 2], [0, 0], True), pool([3, 3], [2, 2], [1, 1]),
              pool([3, 3], [], [1, 1], True, x=IMAGE[..., :7, :10]),
              pool([3], [2], [1], True, x=square), call("avg_pool1d.default", IMAGE[0], [3], [2], [1]), photo,
              among("avg_pool2d.default", lambda x: F.avg_pool2d(x, 3, 2, 1, True), square, dynamic_shapes=(odd,)),
              call("avg_pool3d.default", X[None, None], [2, 2, 2], [1, 2, 2], [0, 0, 1], True),
              among("avg_pool2d.default", lambda x: F.avg_pool2d(x, 3, 2, 1), square, dynamic_shapes=(varies,))]),
    ]  # fmt: skip


def quantizing() -> list[Case]:
    none = quantized.DEQUANTIZED
    put, get = (names[0] for names in (QUANTIZE, DEQUANTIZE))
    channel = [among(name, lambda x: x * by_channel(X), X) for name in (QUANTIZE[1], DEQUANTIZE[1])]
    return [
        Case(none,
             [among(put, stored, X), among(get, read, stored(X)), among(put, lambda x: stored(x).permute(1, 0, 2), X),
              among(put, lambda x: q.dequantize_per_tensor.default(stored(x), *OTHER), X),
              among(put, lambda x: (y := stored(x), read(y), q.dequantize_per_tensor.default(y, *OTHER))[1:], X),
              among(get, lambda x: (y := stored(x), read(y))[:2], X),
              among(get, lambda x: read(stored(x).permute(1, 0, 2)), X),
              among(QUANTIZE[1], lambda x: (x, q.quantize_per_channel.default(X, *FOUR)), X)],
             [among(put, rounded, X), among(get, rounded, X), *channel,
              among(put, lambda x: (y := stored(x), read(y).relu(), read(y).abs())[1:], X),
              among("permute_copy.default", lambda x: read(stored(x).permute(1, 0, 2)), X),
              among(get, lambda x: x * q.dequantize_per_tensor.default(BYTES, 0.1, 0, -128, 127, torch.int8), X),
              among(put, lambda x: x * rounded(X), X), among(get, lambda x: x * rounded(X), X)]),
    ]  # fmt: skip


SINGULAR: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    **{name: (lambda z, x, op=name: getattr(torch, op)(z)) for name in "sqrt rsqrt log log2 log10 reciprocal".split()},
    "power of a number": lambda z, x: aten.pow.Tensor_Scalar(z, -1.5),
    "power": lambda z, x: aten.pow.Tensor_Tensor(z, x),
    "quotient": lambda z, x: x / z,
    "fmod": lambda z, x: torch.fmod(x, z),
    "remainder": lambda z, x: torch.remainder(x, z),
}  # fmt: skip
SMOOTH: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "exponent": lambda z, x: aten.pow.Tensor_Tensor(x, z),
    "divided": lambda z, x: z / x,
    "fmod of": lambda z, x: torch.fmod(z, x),
    "remainder of": lambda z, x: torch.remainder(z, x),
    "times": lambda z, x: z * x,
    "sqrt of another": lambda z, x: (z + x).sqrt(),
    "exp of": lambda z, x: z.exp().sqrt(),
}
HANDED_ON: dict[str, Callable[[Tensor], Tensor]] = {
    "view": lambda z: z.view(4, 18),
    "clone": torch.clone,
    "relu": torch.relu,
    "abs": torch.abs,
    "neg": torch.neg,
    "cat": lambda z: torch.cat([z, z]),
    "flip": lambda z: z.flip(0),
    "pool": lambda z: F.max_pool2d(z, 2),
    "largest": lambda z: F.max_pool2d(z.relu(), 2)[0],
}


def zeros() -> list[Case]:
    """A zero that an operator makes large, directly or behind what hands it on."""
    large = [lambda x, op=op: op(rounded(x), x) for op in SINGULAR.values()]
    small = [lambda x, op=op: op(rounded(x), x) for op in SMOOTH.values()]
    behind = [lambda x, op=op: op(rounded(x)).sqrt() for op in HANDED_ON.values()]
    plain = [lambda x, op=op: op(rounded(x)) * 2 for op in HANDED_ON.values()]
    get = DEQUANTIZE[0]
    return [
        Case(quantized.KEEPS_ZERO,
             [*(among(get, each, X) for each in (*large, *behind)), among(QUANTIZE[0], large[0], X),
              among(DEQUANTIZE[1], lambda x: x * by_channel(X).sqrt(), X)],
             [among(get, each, X) for each in (*small, *plain)]),
    ]  # fmt: skip


def paddings() -> list[Case]:
    weight, square = numbers(2, 2, 1, 1), IMAGE[..., :9]
    bytes_of = (BYTES.reshape(72)[:2].reshape(1, 2, 1, 1), 0.1, 0, -128, 127, torch.int8)
    pool, pad = "avg_pool2d.default", "constant_pad_nd.default"

    def padded(x: Tensor) -> Tensor:
        return F.pad(x, (1, 1))

    return [
        Case(quantized.PADS_FLOATS,
             [among(pool, lambda x: F.avg_pool2d(rounded(x), 3, 2, 1), square),
              among(pool, lambda x: F.avg_pool2d(rounded(x).relu(), 4, 3, 0, True), square)],
             [among(pool, lambda x: F.avg_pool2d(x, 3, 2, 1), square),
              among(pool, lambda x: F.avg_pool2d(rounded(x), 3, 2), square),
              among(pool, lambda x: F.avg_pool2d(rounded(x), 3, 2, 1, True, False), square)]),
        Case(quantized.OF_FLOATS,
             [among(pad, lambda x: padded(rounded(x)), IMAGE),
              among(pad, lambda x: padded((x + rounded(x)).relu()), IMAGE)],
             [among(pad, padded, IMAGE), among(pad, lambda x: padded((x + x.relu()) * x), IMAGE),
              among(pad, lambda x: padded(F.conv2d(rounded(x), weight)), IMAGE),
              among(pad, lambda x: padded(torch.mm(rounded(x), x.T)), X[0]),
              among(pad, lambda x: padded(aten.linear.default(rounded(x), x)), X[0]),
              among(pad, lambda x: padded(x * q.dequantize_per_tensor.default(*bytes_of)), IMAGE)]),
    ]  # fmt: skip


GROUPS = (tensors, dtypes, calls, windows, quantizing, zeros, paddings)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_calls_on_both_sides(group: Callable[[], list[Case]]) -> None:
    why_not = claimed_by(OpenvinoPartitioner([]))
    assert [text for case in group() for text in case.disagreements(why_not)] == []


def test_every_condition_has_calls_on_both_sides() -> None:
    rows: list[Row] = list(ops.TABLE.values())
    own = {each.reason: each for row in rows for each in row.conditions[2:]}.values()
    assert without_case(own, [case for group in GROUPS for case in group()]) == set()


def test_a_quantize_and_its_dequantizes_are_claimed_together() -> None:
    """Also of data; a dequantize of what is no quantize alone."""
    program = among(
        QUANTIZE[0], lambda x: (read(y := stored(x)).relu(), read(y).abs()), X
    ).program()
    partitioner = OpenvinoPartitioner([])
    constants = partitioner.analyze(program)
    nodes = [node for node in program.graph.nodes if op_name(node).startswith("quantized")]
    claims = [set(partitioner.claim(node, program, constants)) for node in nodes]
    assert claims and all(claimed == set(nodes) for claimed in claims)
    (other,) = program.graph.find_nodes(op="call_function", target=_target(program, "relu"))
    assert partitioner.claim(other, program, constants) == [other]


def _target(program: Any, name: str) -> Any:
    return next(node.target for node in program.graph.nodes if name in op_name(node))
