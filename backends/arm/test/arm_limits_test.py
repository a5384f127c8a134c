# SPDX-License-Identifier: BSD-3-Clause
"""Every condition: calls that are not delegated for that reason, and calls beside them, at the limit, that are. A
condition without a case fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.export import ExportedProgram

from executorch.backends.arm.aot import limits, rows
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.backends.test.conformance.condition_cases import Case, without_case
from executorch.backends.test.conformance.single_call import OPERAND, Call, Data, Numbers
from executorch.backends.test.corpus.row import Function
from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.backend.lowering.op_table import Condition
from executorch.exir.graph_facts import op_name

FP, INT, WIDE, U55 = (f"TOSA-1.0+{each}" for each in ("FP", "INT", "INT+int16", "INT+u55"))
BOTH = "TOSA-1.0+FP+INT+int16"
WIDE_OPERAND: Numbers = (2.0**-9, 0, -32768, 32767, torch.int16)
WIDE_RESULT: Numbers = (2.0**-9, 0, -32768, 32767, torch.int16)


def image(*sizes: int) -> Tensor:
    return torch.zeros(sizes)


def weight(*sizes: int, scale: float = 0.01) -> Data:
    return Data(torch.ones(sizes, dtype=torch.int8), scale)


def floats(*sizes: int) -> Data:
    return Data(torch.ones(sizes))


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(f"aten.{name}", args, kwargs)


def conv(
    x: Tensor, w: Any, stride: Any = 1, pad: Any = 0, gap: Any = 1, out: Any = None, groups: int = 1, bias: Any = None
) -> Call:  # fmt: skip
    """`out`: padding of a transposed one."""
    rank = x.dim() - 2
    lists = [[each] * rank if isinstance(each, int) else each for each in (stride, pad, gap)]
    extra = [0] * rank if out is None else [out] * rank if isinstance(out, int) else out
    return call("convolution.default", x, w, bias, *lists, out is not None, extra, groups)


def case(reason: Condition | str, spec: str, refused: list[Call], taken: list[Call]) -> Case:
    return Case(reason, refused, taken, setting=spec)


def stored(made: Case) -> Case:
    return made.stored()


def wide(made: Case) -> Case:
    return made.stored(WIDE_OPERAND, WIDE_RESULT)


X, V = image(3, 4), image(4)
PHOTO, PLACE = image(1, 2, 6, 6), torch.zeros(2, dtype=torch.int64)
PLACE32 = PLACE.int()


def numbers() -> Iterator[Case]:
    low_high = [
        call("clamp.default", X, 1, 1),
        call("clamp.default", X, None, 2),
        call("hardtanh.default", X),
    ]
    yield case(limits.NUMBER_LIMITS, FP, [call("clamp.default", X, 2, 1)], low_high)
    pairs = [call("div.Tensor", X, X)]
    yield wide(case(limits.DIVIDES, WIDE, pairs, [call("mul.Tensor", X, X)]))
    yield stored(case(limits.DIVIDES, INT, [], pairs))
    steps = [call("sign.default", X), call("exp.default", X)]
    smooth = [call("tanh.default", X), call("abs.default", X)]
    yield wide(case(limits.INTERPOLATES, WIDE, steps, smooth))
    # 8 bits have every result of a sine that falls and rises between 0 and either end
    swings = case(limits.INTERPOLATES, INT, [], [*steps, call("sin.default", X)])
    yield swings.stored(result=(0.005, 0, *OPERAND[2:]))
    # halfway between two points a slope that changes by 4 is 4 * 64 * 64 / 128 = 128 quanta off
    kinks = [call("leaky_relu.default", X, slope) for slope in (-3.05, -3.0)]
    yield case(limits.INTERPOLATES, WIDE, kinks[:1], kinks[1:]).stored(
        (WIDE_OPERAND[0], 64, *WIDE_OPERAND[2:]), WIDE_RESULT
    )
    vectors = [call("matmul.default", X, V), call("matmul.default", V, image(4, 3))]
    yield case(limits.MATRICES, FP, vectors, [call("matmul.default", X, image(4, 3))])
    two = [call("remainder.Tensor", X, X), call("floor_divide.default", X, X)]
    yield stored(case(limits.ONE_VALUE, INT, two, [call("remainder.Scalar", X, 0.5)]))
    slopes = [call("prelu.default", X, floats(4))]
    yield stored(case(limits.NUMBER_BEHIND, INT, slopes, [call("prelu.default", X, floats(1))]))
    yield case(limits.NUMBER_BEHIND, FP, slopes, [call("prelu.default", X, floats(1))])
    alphas = [call("add.Tensor", X, X, alpha=0), call("sub.Tensor", X, X, alpha=0)]
    others = [call("add.Tensor", X, X, alpha=0.5), call("sub.Tensor", X, X, alpha=-2)]
    yield stored(case(limits.TAKES_BOTH, INT, alphas, others))


def norms() -> Iterator[Case]:
    shape, eps = [4], 1e-5
    one, all_of = [floats(2)] * 2, [floats(2), floats(2), floats(2), floats(2)]
    norm = "_native_batch_norm_legit_no_training.default"
    varying = [
        call(norm, PHOTO, *one, image(2), floats(2), 0.1, eps),
        call(norm, PHOTO, *one, floats(2), image(2), 0.1, eps),
        call(norm, PHOTO, image(2), floats(2), *one, 0.1, eps),
        call(norm, PHOTO, floats(2), image(2), *one, 0.1, eps),
    ]
    yield case(limits.NORM_CONSTANTS, FP, varying, [call(norm, PHOTO, *all_of, 0.1, eps)])
    layer, group = "native_layer_norm.default", "native_group_norm.default"
    constant = [
        call(layer, X, shape, None, None, eps),
        call(layer, X, shape, floats(4), floats(4), eps),
    ]
    varying = [call(layer, X, shape, V, None, eps), call(layer, X, shape, None, V, eps)]
    yield case(limits.LAYER_NORM_CONSTANTS, FP, varying, constant)
    photo = (1, 2, 36, 2, eps)
    groups = [
        call(group, PHOTO, image(2), None, *photo),
        call(group, PHOTO, None, image(2), *photo),
    ]
    yield case(limits.GROUP_NORM_CONSTANTS, FP, groups, [call(group, PHOTO, *one, *photo)])
    rms = "rms_norm.default"
    known = [call(rms, X, shape), call(rms, X, shape, floats(4))]
    yield case(limits.RMS_NORM_CONSTANTS, FP, [call(rms, X, shape, V)], known)
    # the least that is too large: 2^30 / (4 * (64 * 16)^2) of quanta of 1/16, (2^29 / 2^12 / 512)^2 of 1/512
    coarse = (2.0**-4, *OPERAND[1:])
    for qparams, spec, most in ((coarse, INT, 256), (WIDE_OPERAND, WIDE, 65536)):
        for name, reason in ((layer, limits.SMALL_EPS), (rms, limits.SMALL_RMS_EPS)):
            head = [name, X, shape, None, *(() if name == rms else (None,))]
            both = [call(*head, most), call(*head, 0.999 * most)]
            yield case(reason, spec, both[:1], both[1:]).stored(qparams, qparams)
    count = 2**17 - 1
    rows_of = [call(layer, image(2, count + n), [count + n], None, None, eps) for n in (0, 1)]
    yield stored(case(limits.FEW_VALUES, INT, rows_of[1:], rows_of[:1]))
    planes = [
        call(group, image(1, 2, count + n), None, None, 1, 2, count + n, 2, eps) for n in (0, 1)
    ]
    yield stored(case(limits.FEW_VALUES, INT, planes[1:], planes[:1]))
    spread = [call("var.dim", image(2, count + n), [1]) for n in (0, 1)]
    yield stored(case(limits.FEW_VALUES, INT, spread[1:], spread[:1]))
    sums = [call("mean.dim", image(1, 2**16 + n), [1]) for n in (0, 1)]
    yield wide(case(limits.SUMS_FIT, WIDE, sums[1:], sums[:1]))
    pools = [
        call("_adaptive_avg_pool2d.default", image(1, 1, 256, 256 + n), [1, 1]) for n in (0, 1)
    ]
    yield wide(case(limits.SUMS_FIT, WIDE, pools[1:], pools[:1]))
    wholes = [call("sum.dim_IntList", image(1, 2**23 + n), [1]) for n in (0, 1)]
    yield stored(case(limits.SUMS_FIT, INT, wholes[1:], wholes[:1]))
    powers = [call("_softmax.default", image(1, 2**16 - n), 1, False) for n in (1, 0)]
    yield stored(case(limits.FEW_POWERS, INT, powers[1:], powers[:1]))
    few = [call("var.correction", image(2, 1), [1]), call("var.correction", X, [1], correction=4)]
    more = [call("var.correction", image(2, 2), [1]), call("var.correction", X, [1], correction=3)]
    yield case(limits.MORE_VALUES, FP, few, more)


def convolutions() -> Iterator[Case]:
    known, transposed, fits_out = limits.CONVOLUTION
    w = floats(3, 2, 3, 3)
    turned = floats(2, 3, 3, 3)
    varying = [conv(PHOTO, image(3, 2, 3, 3)), conv(PHOTO, w, bias=image(3))]
    yield case(known, FP, varying, [conv(PHOTO, w), conv(PHOTO, w, bias=floats(3))])
    line, box = image(1, 2, 6), image(1, 2, 4, 4, 4)
    others = [
        conv(line, floats(2, 3, 3), out=0),
        conv(box, floats(2, 3, 3, 3, 3), out=0),
        conv(PHOTO, turned, gap=2, out=0),
    ]
    yield case(transposed, FP, others, [conv(PHOTO, turned, out=0), conv(PHOTO, turned, 2, out=1)])
    wide_pad = [conv(PHOTO, turned, pad=3, out=0), conv(PHOTO, turned, pad=[0, 3], out=0)]
    wide_pad += [conv(PHOTO, turned, 2, pad=3, out=1)]
    yield case(fits_out, FP, wide_pad, [conv(PHOTO, turned, pad=2, out=0), conv(PHOTO, w, pad=3)])
    eight, scale = limits.STORED_WEIGHT
    words = [conv(PHOTO, w), call("linear.default", X, floats(5, 4))]
    of_16_bits = Data(torch.ones((3, 2, 3, 3), dtype=torch.int16), 0.01)
    yield wide(case(eight, WIDE, [conv(PHOTO, of_16_bits)], [conv(PHOTO, weight(3, 2, 3, 3))]))
    bytes_of = [conv(PHOTO, weight(3, 2, 3, 3)), call("linear.default", X, weight(5, 4))]
    # one for each output channel, which a transposed convolution has second
    for count, axis, out in ((3, 0, None), (2, 1, 0), (2, 1, None), (3, 0, 0)):
        by_channel = Data(torch.ones((3, 2, 3, 3), dtype=torch.int8), (0.01,) * count, axis)
        call_of = conv(image(1, 2 if out is None else 3, 6, 6), by_channel, out=out)
        (bytes_of if (axis == 0) == (out is None) else words).append(call_of)
    by_row = Data(torch.ones((5, 4), dtype=torch.int8), (0.01,) * 5)
    bytes_of += [call("linear.default", X, by_row)]
    words += [call("linear.default", X, Data(by_row.tensor, (0.01,) * 4, 1))]
    yield stored(case(eight, INT, words, bytes_of))
    large = [conv(PHOTO, weight(3, 2, 3, 3, scale=1024.0))]
    yield stored(case(scale, INT, large, [conv(PHOTO, weight(3, 2, 3, 3, scale=1023.0))]))


def u55() -> Iterator[Case]:
    row = image(1, 1, 1, 70)

    def filters(rows_: int, columns: int) -> Data:
        return weight(1, 1, rows_, columns)

    tall = image(1, 1, 70, 70)
    refused = [
        conv(row, filters(1, 65)),
        conv(image(1, 1, 4097, 1), filters(4097, 1)),
        conv(tall, filters(65, 64)),
        conv(tall, filters(2, 2), stride=4, gap=2),
        conv(image(1, 1, 1, 65537), filters(1, 1)),
        conv(image(1, 65537, 1, 1), weight(1, 65537, 1, 1)),
        conv(image(1, 1, 4, 4, 4), weight(1, 1, 1, 1, 1)),
        conv(tall, filters(2, 2), stride=3, out=0),
        conv(tall, filters(2, 2), stride=[1, 2], out=0),
        conv(tall, filters(2, 2), stride=[2, 1], out=0),
        conv(row, filters(1, 2), stride=[1, 3], out=0),
        conv(image(1, 1, 70, 1), filters(2, 1), stride=[3, 1], out=0),
        conv(tall, filters(1, 65), out=0),
    ]
    taken = [
        conv(row, filters(1, 64)),
        conv(image(1, 1, 4096, 1), filters(4096, 1)),
        conv(tall, filters(64, 64)),
        conv(tall, filters(2, 2), stride=3, gap=2),
        conv(tall, filters(2, 2), stride=4),
        conv(image(1, 1, 1, 65536), filters(1, 1)),
        conv(image(1, 1, 70), weight(1, 1, 64)),
        conv(tall, filters(2, 2), stride=2, out=0),
        conv(tall, filters(2, 2), out=0),
        conv(row, filters(1, 2), stride=[1, 2], out=0),
        conv(image(1, 1, 70, 1), filters(2, 1), stride=[2, 1], out=0),
    ]
    yield stored(case(limits.U55_CONVOLUTION, U55, refused, taken))
    average, largest = "avg_pool2d.default", "max_pool2d_with_indices.default"
    pools = [
        call(average, tall, [2, 2], [4, 4]),
        call(largest, tall, [2, 2], [4, 4]),
        call(average, image(2, 1, 6, 6), [2, 2]),
        call(average, tall, [9, 9], [1, 1], [1, 1]),
        call(average, tall, [2, 9], [1, 1], [1, 1]),
        call(average, tall, [2, 2], [4, 4], [1, 1]),
        call(largest, image(1, 1, 2, 300), [1, 257], [1, 1]),
        call(largest, image(1, 1, 1, 65537), [1, 2]),
    ]
    near = [
        call(average, tall, [2, 2], [3, 3]),
        call(largest, image(2, 1, 6, 6), [2, 2]),
        call(average, tall, [8, 8], [1, 1], [1, 1]),
        call(average, image(2, 1, 6, 6), [6, 6]),
        call(largest, image(1, 1, 2, 300), [1, 256], [1, 1]),
        call(largest, image(1, 1, 1, 65536), [1, 2]),
    ]
    yield stored(case(limits.U55_POOL, U55, pools, near))
    every_other = Data(torch.arange(0, 200, 2))
    scattered = [call("index.Tensor", image(200), [Data(every_other.tensor[:n])]) for n in (64, 65)]
    yield stored(case(limits.FEW_RUNS, U55, scattered[1:], scattered[:1]))
    no = [call("flip.default", X, [0]), call("gt.Tensor", X, X)]
    yield stored(case(rows.NOT_U55, U55, no, [call("abs.default", X)]))


def windows() -> Iterator[Case]:
    largest, average = "max_pool2d_with_indices.default", "avg_pool2d.default"
    odd = image(1, 2, 7, 7)
    maxima = [
        call(largest, PHOTO, [2, 2], [2, 2], [0, 0], [2, 2]),
        call(largest, odd, [2, 2], [1, 1], [0, 0], [2, 2], True),
        call(largest, image(2, 6, 6), [2, 2]),
    ]
    plain = [
        call(largest, PHOTO, [2, 2], [1, 1], [0, 0], [2, 2]),
        call(largest, odd, [2, 2], [2, 2], [0, 0], [1, 1], True),
        call(largest, PHOTO, [2, 2], [2, 1], [0, 0], [1, 2]),
        call(largest, PHOTO, [2, 2], [1, 1], [0, 0], [2, 2], False),
    ]
    yield case(limits.MAX_POOL, FP, maxima, plain)
    within = limits.AVERAGE_POOL
    beyond = [
        call(average, PHOTO, [3, 3], [2, 2], [1, 1], True),
        call(average, PHOTO, [3, 3], [2, 2], [1, 1], True, True),
        call(average, image(2, 6, 6), [2, 2]),
    ]
    inside = [
        call(average, odd, [3, 3], [2, 2], [1, 1], True),
        call(average, PHOTO, [3, 3], [2, 2], [1, 1], True, False),
        call(average, odd, [2, 2], [2, 2], [0, 0], True),
    ]
    yield case(within, FP, beyond, inside)
    yield case(within, FP, [], [call(average, PHOTO, [2, 2], [1, 1], [1, 1])])
    adaptive = "_adaptive_avg_pool2d.default"
    long = image(1, 1, 2, 300)
    many = [call(adaptive, long, [1, 257]), call(adaptive, image(1, 40, 40), [5, 5])]
    few = [
        call(adaptive, long, [1, 256]),
        call(adaptive, image(1, 1, 40, 40), [20, 20]),
    ]
    yield case(limits.WHOLE_WINDOWS, FP, many, few)


OF_INT32 = "tensors of dtype bool or int"  # such as indices that vary


def data_movement() -> Iterator[Case]:
    rows_of = [
        call("embedding.default", floats(5, 3), each) for each in (PLACE, PLACE32, Data(PLACE))
    ]
    yield case(OF_INT32, FP, rows_of[:1], rows_of[1:])
    selected = [call("index_select.default", X, 0, each) for each in (PLACE, PLACE32, Data(PLACE))]
    yield case(OF_INT32, FP, selected[:1], selected[1:])
    cut = [torch.zeros(each, dtype=torch.int32) for each in ((3, 2), (2, 4), (2, 2))]
    yield case(
        limits.GATHERS_ROWS,
        FP,
        [
            call("gather.default", X, 1, Data(cut[2].long())),
            call("gather.default", X, 1, Data(cut[1].long())),
            call("gather.default", image(), 0, Data(torch.tensor(0))),
        ],
        [
            call("gather.default", X, 1, Data(cut[0].long())),
            call("gather.default", X, 0, Data(cut[1].long())),
        ],
    )
    known = Data(PLACE)
    indices = [
        call("index.Tensor", X, [PLACE32]),
        call("index.Tensor", X, [known, known]),
        call("index.Tensor", X, [Data(torch.zeros(2, 2, dtype=torch.int64))]),
    ]
    yield case(limits.INDEX_OF_ROWS, FP, indices, [call("index.Tensor", X, [None, known])])
    whole = [call("roll.default", X, [1]), call("roll.default", X, [1], [])]
    yield case(limits.ROLLS_DIMENSIONS, FP, whole, [call("roll.default", X, [1], [1])])
    ratio, factor = limits.RESIZES
    near, between = "upsample_nearest2d.vec", "upsample_bilinear2d.vec"
    sizes = [
        call(near, image(1, 1, 1, 1), [257, 1], None),
        call(near, image(1, 1, 16, 16), [1, 1], None),
        call(near, image(1, 1, 1, 128), [1, 16384], None),
        call(between, image(1, 1, 2, 2), [1026, 2], False, None),
        # corners at corners: by 513 / 2
        call(between, image(1, 1, 3, 3), [514, 514], True, None),
        # 2 * 1025 parts of a step
        call(near, image(1, 1, 1023, 1), [1025, 1], None),
    ]
    taken = [
        call(near, image(1, 1, 1, 1), [256, 1], None),
        call(near, image(1, 1, 15, 15), [1, 1], None),
        call(between, image(1, 1, 4, 4), [7, 7], True, None),
        call(between, image(1, 1, 3, 3), [514, 514], False, None),
        call(near, image(1, 1, 3, 3), None, [172.0, 172.0]),
        call(near, image(1, 1, 1023, 1), [1024, 1], None),
    ]
    yield case(ratio, FP, sizes, taken)
    odd = [call(near, image(1, 1, 5, 5), None, [1.5, 1.5])]
    yield case(factor, FP, odd, [call(near, image(1, 1, 4, 4), None, [1.5, 1.5])])


def modes() -> Iterator[Case]:
    sums = [call("add.Tensor", X, X)]
    yield case(
        "not quantized: a dequantize before each operand and a quantize behind each result are expected",
        INT,
        sums,
        [],
    )
    yield stored(case("quantized values are not taken", INT, [call("max.dim", X, 1)], []))
    yield wide(case("values stored as int8 are expected", INT, sums, []))
    yield wide(case("values stored as int8 or int16 are expected", WIDE, [], sums))
    conditions = [call("mul.Tensor", X > 0, X > 0), call("eq.Tensor", X > 0, X > 0)]
    numbers_alone = "tensors of dtype float32 or float16 or int32 are expected"
    both = [call("logical_and.default", X > 0, X > 0)]
    yield case(numbers_alone, FP, conditions, both)
    chosen = [call("where.self", X > 0, X, each) for each in (X.long(), X)]
    yield stored(case("not quantized", INT, chosen[:1], chosen[1:]))
    halves = [call("add.Tensor", X.double(), X.double())]
    yield case(numbers_alone, FP, halves, sums)
    ranks = [call("abs.default", image(*[1] * rank)) for rank in (6, 7)]
    yield case("at most 6 dimensions are expected", FP, ranks[1:], ranks[:1])
    yield case("a tensor with elements is expected", FP, [call("abs.default", image(0, 3))], sums)
    mixed = [call("where.self", X > 0, X, X.half())]
    yield case("floats of one dtype are expected", FP, mixed, [])


CASES = {
    each.__name__: each
    for each in (numbers, norms, convolutions, u55, windows, data_movement, modes)
}


@pytest.mark.parametrize("kind", CASES)
def test_each_condition_has_calls_on_both_sides(kind: str) -> None:
    wrong = []
    for each in CASES[kind]():
        partitioner = TOSAPartitioner(TosaCompileSpec(each.setting))

        def why_not(program: ExportedProgram, name: str, by: TOSAPartitioner = partitioner) -> str:
            reasons = by.why_not_delegated(program).items()
            return next((reason for node, reason in reasons if op_name(node) == name), "")

        wrong += each.disagreements(why_not)
    assert wrong == []


def found_for(edge: EdgeProgramManager, spec: str, *names: str) -> list[str]:
    """Why calls of such names are left."""
    reasons = TOSAPartitioner(TosaCompileSpec(spec)).why_not_delegated(edge.exported_program())
    return [each for node, each in reasons.items() if any(n in op_name(node) for n in names)]


class Largest(torch.nn.Module):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, x: Tensor) -> Tensor:
        found = x.argmax(1)
        return found if self.dtype == torch.int64 else found.to(self.dtype)


@pytest.mark.parametrize(
    ("dtype", "values", "reason"),
    [
        (torch.int32, X, ""),
        (torch.int32, X.int(), limits.READS_FLOATS.reason),
        (torch.int64, X, "tensors of dtype"),
        (torch.int16, X, "tensors of dtype"),
    ],
)
def test_largest_values_are_counted_in_int32(
    dtype: torch.dtype, values: Tensor, reason: str
) -> None:
    found = found_for(to_edge(torch.export.export(Largest(dtype), (values,))), FP, "argmax")
    assert found == [] if not reason else found[0].startswith(reason)


@pytest.mark.parametrize(("count", "reason"), [(127, ""), (128, limits.FEW_PLACES.reason)])
def test_places_are_counted_to_127_on_ethos_u55(count: int, reason: str) -> None:
    scale, zero_point, *qparams = OPERAND
    dequantize = torch.ops.quantized_decomposed.dequantize_per_tensor.default
    largest = Function(lambda x: dequantize(x, scale, zero_point, *qparams).argmax(1).int())
    program = to_edge(torch.export.export(largest, (torch.zeros(2, count, dtype=torch.int8),)))
    assert found_for(program, U55, "argmax") == ([reason] if reason else [])


NOT_INT64 = "tensors of dtype float32 or float16"


@pytest.mark.parametrize("is_read", [False, True])
def test_places_of_the_largest_are_left_where_they_are_read(is_read: bool) -> None:
    for function in (
        lambda x: F.max_pool2d(x, 2, return_indices=True)[: 1 + is_read],
        lambda x: x.max(1)[: 1 + is_read],
        lambda x: x.min(1)[: 1 + is_read],
    ):
        program = to_edge(torch.export.export(Function(function), (PHOTO,)))
        found = found_for(program, FP, "max", "min")
        assert [each.partition(" are expected")[0] for each in found] == [NOT_INT64] * is_read


# Tests above have these.
UNREACHED = [limits.READS_FLOATS, limits.GIVES_INT32, limits.FEW_PLACES]


def test_no_condition_is_without_a_case() -> None:
    cases = [each for kind in CASES.values() for each in kind()]
    assert without_case(vars(limits).values(), cases) == {each.reason for each in UNREACHED}
