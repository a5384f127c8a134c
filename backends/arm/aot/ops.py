# SPDX-License-Identifier: BSD-3-Clause
"""The table of operators: which calls become TOSA, under which conditions, and how they are quantized."""

from __future__ import annotations

import functools

from executorch.backends.arm.aot import data_movement, integers, matrix, norms, reduce
from executorch.backends.arm.aot import elementwise as of
from executorch.backends.arm.aot.elementwise import either
from executorch.backends.arm.aot.limits import (
    AVERAGE_POOL,
    CONVOLUTION,
    DIVIDES,
    FEW_PLACES,
    FEW_POWERS,
    FEW_RUNS,
    FEW_VALUES,
    GATHERS_ROWS,
    GIVES_INT32,
    GROUP_NORM_CONSTANTS,
    INDEX_OF_ROWS,
    INTERPOLATES,
    LAYER_NORM_CONSTANTS,
    MATRICES,
    MAX_POOL,
    MORE_VALUES,
    NORM_CONSTANTS,
    NUMBER_BEHIND,
    NUMBER_LIMITS,
    ONE_VALUE,
    READS_FLOATS,
    RESIZES,
    RMS_NORM_CONSTANTS,
    ROLLS_DIMENSIONS,
    SMALL_EPS,
    SMALL_RMS_EPS,
    STORED_WEIGHT,
    SUMS_FIT,
    TAKES_BOTH,
    U55_CONVOLUTION,
    U55_POOL,
    WHOLE_WINDOWS,
)
from executorch.backends.arm.aot.rows import (
    BETWEEN,
    BOOL,
    FLOATS,
    INT32,
    MOVED,
    NOT_U55,
    NUMBERS,
    ArmRow,
    ArmTable,
    Lower,
    row,
)
from executorch.backends.arm.aot.steps import AS_INT32
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.lowering.annotation import (
    ARITHMETIC,
    GEMM,
    SHARED,
    SHARED_FLOATS,
    Annotation,
)
from executorch.exir.backend.lowering.layout import NHWC, channels_last
from executorch.exir.backend.lowering.mode_steps import static_qparams
from executorch.exir.backend.lowering.op_table import Condition
from executorch.exir.backend.lowering.quantized import is_dequantize
from executorch.exir.backend.lowering.steps import LIMITS, NORM_AND_LIMITS

_QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
_DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"

FIRST_OPERAND = Annotation(ARITHMETIC.kind, operands=(0,))
OF_ONE_VALUE = Annotation(
    ARITHMETIC.kind,
    when=lambda call: sum(each.op != "get_attr" for each in call.all_input_nodes) == 1,
)

# Functions of one value -> in floats. Quantized, each is a table of its own results.
_FUNCTIONS: dict[str, of.Unary] = {
    **{
        name: of.direct(name.upper())
        for name in ("ceil", "cos", "erf", "exp", "floor", "log", "rsqrt", "sin", "tanh", "sigmoid")
    },
    "reciprocal": of.direct("RECIPROCAL"),
    "sqrt": of.sqrt,
    "silu": of.silu,
    "hardsigmoid": of.hardsigmoid,
    "hardswish": of.hardswish,
    "log2": of.log_to(2),
    "log10": of.log_to(10),
    "log1p": of.log1p,
    "expm1": of.expm1,
    "sinh": of.sinh,
    "cosh": of.cosh,
    "tan": of.tan,
    "sign": of.sign,
    "round": of.round_half_to_even,
}
_WHOLE = (
    "silu",
    "hardsigmoid",
    "hardswish",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sinh",
    "cosh",
    "tan",
)
# Those that floats are taken apart for: of stored values they are tables, too.
_BY_TABLE_ALONE = (
    *"""acos acosh asin asinh atan atanh deg2rad digamma erfc erfinv exp2 floor_divide frac i0 lgamma log_sigmoid logit
    mish nan_to_num rad2deg sgn sinc softplus softshrink special_entr special_erfcx special_i0e special_i1 special_i1e
    special_log_ndtr special_ndtri trunc""".split(),
    *"div.Scalar_mode div.Tensor_mode fmod.Scalar pow.Scalar remainder.Scalar remainder.Tensor round.decimals".split(),
    *"xlogy.Scalar_Other xlogy.Scalar_Self".split(),
)
_COMPARISONS = {
    "eq": ("EQUAL", False, False),
    "ge": ("GREATER_EQUAL", False, False),
    "gt": ("GREATER", False, False),
    "le": ("GREATER_EQUAL", True, False),
    "lt": ("GREATER", True, False),
    "ne": ("EQUAL", False, True),
}


def _table_row(lower: Lower | None, *conditions: Condition, **more: object) -> ArmRow:
    """A function of one value."""
    checks = (ONE_VALUE, NUMBER_BEHIND, INTERPOLATES)
    settings = {"annotation": ARITHMETIC, "layouts": either, "when_quantized": checks, **more}
    return row(lower, *conditions, quantized=integers.table, **settings)


def _functions() -> dict[str, ArmRow]:
    rows = {
        f"aten.{name}.default": _table_row(of.unary(formula), whole=name in _WHOLE)
        for name, formula in _FUNCTIONS.items()
    }
    for name in _BY_TABLE_ALONE:
        overload = name if "." in name else f"{name}.default"
        rows[f"aten.{overload}"] = _table_row(None, whole=True, annotation=OF_ONE_VALUE)
    rows |= {
        "aten.leaky_relu.default": _table_row(of.leaky_relu, whole=True),
        "aten.elu.default": _table_row(of.elu, whole=True),
        "aten.gelu.default": _table_row(of.gelu, whole=True),
        "aten.prelu.default": _table_row(
            of.prelu, NUMBER_BEHIND, whole=True, annotation=FIRST_OPERAND
        ),
        "aten.pow.Tensor_Scalar": _table_row(of.power),
        "aten.abs.default": row(
            of.unary(of.direct("ABS")),
            quantized=integers.absolute,
            dtypes=NUMBERS,
            layouts=either,
            annotation=ARITHMETIC,
        ),
        "aten.neg.default": row(
            of.unary(lambda w, x: w.negate(x)),
            quantized=integers.negative,
            dtypes=NUMBERS,
            layouts=either,
            annotation=ARITHMETIC,
        ),
    }
    limited = functools.partial(
        row,
        of.limits,
        quantized=integers.limits,
        dtypes=NUMBERS,
        layouts=either,
        annotation=Annotation(SHARED.kind, starts=True),
    )
    rows |= {
        "aten.relu.default": limited(),
        "aten.hardtanh.default": limited(NUMBER_LIMITS),
        "aten.clamp.default": limited(NUMBER_LIMITS),
    }
    return rows


def _binary() -> dict[str, ArmRow]:
    def taken(lower: Lower, quantized: Lower, **more: object) -> ArmRow:
        return row(
            lower,
            quantized=quantized,
            dtypes=NUMBERS,
            layouts=either,
            annotation=ARITHMETIC,
            **more,
        )

    rows = {
        "aten.add.Tensor": taken(of.binary("ADD"), integers.total(), when_quantized=(TAKES_BOTH,)),
        "aten.sub.Tensor": taken(
            of.binary("SUB"), integers.total(is_difference=True), when_quantized=(TAKES_BOTH,)
        ),
        "aten.mul.Tensor": taken(of.product, integers.product),
        "aten.maximum.default": taken(of.binary("MAXIMUM"), integers.extreme("MAXIMUM")),
        "aten.minimum.default": taken(of.binary("MINIMUM"), integers.extreme("MINIMUM")),
        "aten.div.Tensor": row(
            of.quotient,
            quantized=integers.quotient,
            when_quantized=(DIVIDES,),
            layouts=either,
            annotation=ARITHMETIC,
        ),
        "aten.pow.Tensor_Tensor": row(of.power, layouts=either),
    }
    for name in ("add", "sub", "mul", "div"):
        lower = {"mul": of.product, "div": of.quotient}.get(name) or of.binary(name.upper())
        rows[f"aten.{name}.Scalar"] = _table_row(lower, dtypes=NUMBERS if name != "div" else FLOATS)
    for name, (op, swap, negated) in _COMPARISONS.items():
        plain = of.not_equal if negated else of.binary(op, "BOOL", swap)
        for kind in ("Tensor", "Scalar"):
            rows[f"aten.{name}.{kind}"] = row(
                plain,
                quantized=integers.comparison(op, swap, negated),
                dtypes=NUMBERS,
                layouts=either,
                annotation=SHARED_FLOATS,
                u55=(NOT_U55,),
            )
    for name in ("and", "or", "xor"):
        logical = of.binary(f"LOGICAL_{name.upper()}")
        settings = {"dtypes": BOOL, "layouts": either, "u55": (NOT_U55,)}
        rows[f"aten.logical_{name}.default"] = row(logical, **settings)
        rows[f"aten.bitwise_{name}.Tensor"] = row(logical, **settings)
    for name in ("logical_not", "bitwise_not"):
        rows[f"aten.{name}.default"] = row(
            of.unary(of.direct("LOGICAL_NOT")), dtypes=BOOL, layouts=either, u55=(NOT_U55,)
        )
    rows["aten.where.self"] = row(
        of.where,
        beside=(0,),
        quantized=integers.where,
        dtypes=NUMBERS,
        layouts=either,
        annotation=SHARED_FLOATS,
        u55=(NOT_U55,),
    )
    return rows


def _matrices() -> dict[str, ArmRow]:
    gemm = {
        "when_quantized": STORED_WEIGHT,
        "annotation": GEMM,
    }
    return {
        "aten.convolution.default": row(
            matrix.convolution,
            *CONVOLUTION,
            quantized=matrix.convolution,
            layouts=channels_last,
            tail=NORM_AND_LIMITS,
            u55=(U55_CONVOLUTION,),
            **gemm,
        ),
        "aten.linear.default": row(
            matrix.linear, quantized=matrix.linear, tail=LIMITS, whole=True, **gemm
        ),
        "aten.addmm.default": row(matrix.addmm, tail=LIMITS),
        "aten.mm.default": row(matrix.matmul, quantized=matrix.matmul, annotation=ARITHMETIC),
        "aten.bmm.default": row(matrix.matmul, quantized=matrix.matmul, annotation=ARITHMETIC),
        "aten.matmul.default": row(
            matrix.matmul,
            MATRICES,
            quantized=matrix.matmul,
            whole=True,
            annotation=ARITHMETIC,
        ),
        "aten._native_batch_norm_legit_no_training.default": row(
            matrix.batch_norm,
            NORM_CONSTANTS,
            quantized=norms.batch_norm,
            layouts=either_norm,
            annotation=FIRST_OPERAND,
        ),
    }


def either_norm(step: object, operands: list) -> dict:
    """Of stored values with channels last, where there are more dimensions."""
    candidates = either(step, operands[:1]) if len(operands) == 1 else {}
    return {NHWC: candidates[NHWC]} if step.is_quantized and NHWC in candidates else candidates


def _data_movement() -> dict[str, ArmRow]:
    def moved(lower: Lower, *conditions: Condition, **more: object) -> ArmRow:
        settings = {"dtypes": MOVED, "annotation": SHARED, **more}
        return row(lower, *conditions, quantized=lower, **settings)

    rows = {
        f"aten.{name}": moved(data_movement.view, layouts=data_movement.view_ways)
        for name in (
            "view_copy.default",
            "unsqueeze_copy.default",
            "squeeze_copy.dims",
            "squeeze_copy.dim",
            "squeeze_copy.default",
        )
    }
    for name in ("alias_copy", "clone", "detach_copy"):
        rows[f"aten.{name}.default"] = moved(data_movement.same, layouts=either)
    rows |= {
        "dim_order_ops._clone_dim_order.default": moved(data_movement.same, layouts=either),
        "aten.permute_copy.default": moved(
            data_movement.permute, layouts=data_movement.permute_ways
        ),
        "aten.transpose_copy.int": moved(data_movement.transpose),
        "aten.t_copy.default": moved(data_movement.transpose),
        "aten.cat.default": moved(data_movement.concat, layouts=either, annotation=SHARED_FLOATS),
        "aten.stack.default": moved(data_movement.stack, whole=True, annotation=SHARED_FLOATS),
        "aten.slice_copy.Tensor": moved(data_movement.slice_copy, layouts=either),
        "aten.select_copy.int": moved(data_movement.select),
        "aten.split_with_sizes_copy.default": moved(data_movement.split),
        "aten.split_copy.Tensor": moved(data_movement.split),
        "aten.unbind_copy.int": moved(data_movement.unbind),
        "aten.expand_copy.default": moved(data_movement.expand),
        "aten.repeat.default": moved(data_movement.repeat),
        "aten.flip.default": moved(data_movement.flip, layouts=either, u55=(NOT_U55,)),
        "aten.roll.default": moved(
            data_movement.roll, ROLLS_DIMENSIONS, layouts=either, whole=True
        ),
        "aten.constant_pad_nd.default": moved(data_movement.pad, layouts=either),
        "aten.pixel_shuffle.default": moved(
            data_movement.pixel_shuffle, layouts=data_movement.image_ways, whole=True
        ),
        "aten.pixel_unshuffle.default": moved(
            data_movement.pixel_unshuffle, layouts=data_movement.image_ways, whole=True
        ),
        "aten.embedding.default": moved(
            data_movement.embedding, beside=(1,), u55=(NOT_U55,), annotation=SHARED_FLOATS
        ),
        "aten.index_select.default": moved(
            data_movement.index_select, beside=(2,), u55=(NOT_U55,), annotation=SHARED_FLOATS
        ),
        "aten.gather.default": moved(
            data_movement.gather,
            GATHERS_ROWS,
            beside=(2,),
            u55=(NOT_U55,),
            annotation=SHARED_FLOATS,
        ),
        "aten.index.Tensor": moved(
            data_movement.index,
            INDEX_OF_ROWS,
            layouts=either,
            u55=(FEW_RUNS,),
            annotation=SHARED_FLOATS,
        ),
        "dim_order_ops._to_dim_order_copy.default": row(
            of.convert, dtypes=(*MOVED,), layouts=either
        ),
    }
    return rows


def _along_axes() -> dict[str, ArmRow]:
    def reduced(lower: Lower, *conditions: Condition, **more: object) -> ArmRow:
        settings = {"layouts": reduce.image_ways, "annotation": ARITHMETIC, **more}
        return row(lower, *conditions, quantized=lower, **settings)

    shared = Annotation(SHARED.kind, starts=True)
    norm = functools.partial(row, when_quantized=(SMALL_EPS, FEW_VALUES), annotation=FIRST_OPERAND)
    rows = {
        "aten.mean.dim": reduced(reduce.mean, when_quantized=(SUMS_FIT,)),
        "aten.mean.default": reduced(reduce.mean, layouts=None, when_quantized=(SUMS_FIT,)),
        "aten.sum.dim_IntList": reduced(
            reduce.reduction("REDUCE_SUM"), dtypes=NUMBERS, when_quantized=(SUMS_FIT,)
        ),
        "aten.amax.default": reduced(
            reduce.reduction("REDUCE_MAX"), dtypes=NUMBERS, annotation=shared
        ),
        "aten.amin.default": reduced(
            reduce.reduction("REDUCE_MIN"), dtypes=NUMBERS, annotation=shared
        ),
        "aten.argmax.default": row(
            reduce.place_of_largest,
            READS_FLOATS,
            GIVES_INT32,
            quantized=reduce.place_of_largest,
            tail=AS_INT32,
            layouts=reduce.last_ways,
            u55=(FEW_PLACES,),
            dtypes=(*FLOATS, *INT32),
            annotation=SHARED_FLOATS,
        ),
        "aten.max.dim": row(reduce.largest_of("REDUCE_MAX")),
        "aten.min.dim": row(reduce.largest_of("REDUCE_MIN")),
        "aten.var.correction": reduced(reduce.variance, MORE_VALUES, when_quantized=(FEW_VALUES,)),
        "aten.var.dim": reduced(reduce.variance, MORE_VALUES, when_quantized=(FEW_VALUES,)),
        "aten._softmax.default": row(
            reduce.softmax,
            quantized=norms.softmax,
            when_quantized=(FEW_POWERS,),
            annotation=ARITHMETIC,
        ),
        "aten._log_softmax.default": row(
            reduce.softmax,
            quantized=norms.log_softmax,
            when_quantized=(FEW_POWERS,),
            annotation=ARITHMETIC,
        ),
        "aten.native_layer_norm.default": norm(
            reduce.layer_norm, LAYER_NORM_CONSTANTS, quantized=norms.layer_norm
        ),
        "aten.native_group_norm.default": norm(
            reduce.group_norm, GROUP_NORM_CONSTANTS, quantized=norms.group_norm
        ),
        "aten.rms_norm.default": row(
            reduce.rms_norm,
            RMS_NORM_CONSTANTS,
            quantized=norms.rms_norm,
            whole=True,
            when_quantized=(SMALL_RMS_EPS, FEW_VALUES),
            annotation=FIRST_OPERAND,
        ),
        "aten.cumsum.default": reduced(reduce.running_sum, layouts=None),
        "aten.max_pool2d_with_indices.default": reduced(
            reduce.max_pool,
            MAX_POOL,
            layouts=channels_last,
            u55=(U55_POOL,),
            annotation=shared,
        ),
        "aten.max_pool2d.default": reduced(
            reduce.max_pool,
            MAX_POOL,
            layouts=channels_last,
            u55=(U55_POOL,),
            annotation=shared,
            whole=True,
        ),
        "aten.avg_pool2d.default": reduced(
            reduce.avg_pool, AVERAGE_POOL, layouts=channels_last, u55=(U55_POOL,)
        ),
        "aten._adaptive_avg_pool2d.default": reduced(
            reduce.adaptive_avg_pool,
            WHOLE_WINDOWS,
            layouts=channels_last,
            when_quantized=(SUMS_FIT,),
        ),
        "aten.upsample_nearest2d.vec": reduced(
            reduce.resize("NEAREST"),
            *RESIZES,
            layouts=channels_last,
            u55=(NOT_U55,),
            whole=True,
            annotation=shared,
        ),
        "aten.upsample_bilinear2d.vec": reduced(
            reduce.resize("BILINEAR"),
            *RESIZES,
            layouts=channels_last,
            u55=(NOT_U55,),
            whole=True,
        ),
    }
    for name in ("any.dim", "any.dims", "any.default"):
        rows[f"aten.{name}"] = row(reduce.any_of, dtypes=BOOL, u55=(NOT_U55,))
    return rows


def _between(spec: TosaSpecification) -> dict[str, ArmRow]:
    """What quantizes. A delegate of integers alone begins and ends with what is stored."""
    both = spec.support_float() and spec.support_integer()

    def rescales(node: object, constants: object) -> bool:
        return both or (is_dequantize(node.args[0]) and static_qparams(node.args[0]) is not None)

    between = Condition(rescales, BETWEEN)
    outside = Condition(lambda node, constants: both, BETWEEN)
    types = {"dtypes": MOVED, "layouts": either}
    return {
        _QUANTIZE: row(of.quantize, between, quantized=integers.requantize, **types),
        _DEQUANTIZE: row(of.dequantize, outside, **types),
    }


def rows(spec: TosaSpecification) -> dict[str, ArmRow]:
    return {
        **_functions(),
        **_binary(),
        **_matrices(),
        **_data_movement(),
        **_along_axes(),
        **_between(spec),
    }


@functools.cache
def _table(spec: str) -> ArmTable:
    found = TosaSpecification.create_from_string(spec)
    return ArmTable(rows(found), found)


def table_of(spec: TosaSpecification) -> ArmTable:
    return _table(str(spec))


# What the pages of operators list.
INT_TABLE = table_of(TosaSpecification.create_from_string("TOSA-1.0+INT+int16"))
FP_TABLE = table_of(TosaSpecification.create_from_string("TOSA-1.0+FP"))
VGF_TABLE = table_of(TosaSpecification.create_from_string("TOSA-1.0+FP+INT+int16"))
U55_TABLE = table_of(TosaSpecification.create_from_string("TOSA-1.0+INT+int16+u55"))
