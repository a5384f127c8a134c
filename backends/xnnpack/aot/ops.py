# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what XNNPACK takes, under which conditions, and as which nodes. The partitioner, preprocess, the
quantizer, the reasons why a node is not delegated and the page of operators all read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torch.fx import Node

from executorch.backends.xnnpack.aot import annotations as q
from executorch.backends.xnnpack.aot import conditions as c
from executorch.backends.xnnpack.aot import layouts
from executorch.backends.xnnpack.aot import pooling_conditions as w
from executorch.backends.xnnpack.aot.conditions import covers_image, is_over_image
from executorch.backends.xnnpack.aot.conv3d import is_3d, is_small_conv3d
from executorch.backends.xnnpack.aot.graph_builder import NHWC, PLAIN, GraphBuilder
from executorch.backends.xnnpack.aot.lower import (
    batch_matrix_multiply,
    clamp,
    clone,
    concatenate,
    constant_pad,
    convert,
    elementwise,
    fully_connected,
    global_average,
    matmul,
    pool,
    repeat,
    reshape,
    resize_bilinear,
    resize_nearest,
    select,
    slice_,
    softmax,
    transpose,
)
from executorch.backends.xnnpack.aot.lower_conv3d import conv3d, max_pool3d
from executorch.backends.xnnpack.aot.lower_convolution import convolution
from executorch.backends.xnnpack.aot.lower_norm import (
    batch_norm,
    group_norm,
    layer_norm,
    mean_of_rows,
    parametric_relu,
    sum_of_rows,
)
from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, QUANTIZE
from executorch.backends.xnnpack.aot.steps import (
    CONVOLUTION,
    LIMITS,
    NORM_AND_LIMITS,
    Step,
)
from executorch.exir.backend.lowering import op_table
from executorch.exir.backend.lowering.annotation import (
    ARITHMETIC,
    LOOKUP,
    NOT_QUANTIZED,
    SHARED,
    Annotation,
)
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.steps import BATCH_NORM


@dataclass(frozen=True)
class Row(op_table.Row):
    """`joins`: goes only where others make a delegate: no arithmetic, or alone it is faster undelegated; where that
    depends on the call, a test. `chooses_layout`: its result may lie channels last where its operands do not.
    `slower`: why it is not delegated unless it is asked for by name, `is_slower`: which calls do.

    On 8-bit values: `scales`, the ratio of scales, of inputs (their product with `multiplies`) to result, that the
    kernels can compute with: the least, and what must not be reached; `int8_when`: for which calls there are kernels.
    """

    joins: bool | Callable[[Node], bool] = False
    chooses_layout: bool = False
    layouts: Callable[[Step, Sequence[Node]], layouts.Candidates] = field(
        default=layouts.either, kw_only=True
    )
    slower: str = ""
    is_slower: Callable[[Node], bool] = lambda node: True
    scales: tuple[float, float] = (2**-10, 256.0)
    multiplies: bool = False
    int8_when: Callable[[Node], bool] = lambda node: True

    def why_slower(self, call: Node) -> str:
        return self.slower if self.slower and self.is_slower(call) else ""

    def only_joins(self, call: Node) -> bool:
        return self.joins(call) if callable(self.joins) else self.joins

    def takes_nhwc(self, call: Node) -> bool:
        """Whether it reads and gives channels last, whatever lies around it."""
        return PLAIN not in self.layouts(Step(call, call), call.all_input_nodes)


def any_convolution(builder: GraphBuilder, step: Step) -> None:
    lower = conv3d if is_3d(step.head) else convolution
    lower(builder, step)


def mean(builder: GraphBuilder, step: Step) -> None:
    lower = global_average if builder.layout == NHWC else mean_of_rows
    lower(builder, step)


def power(builder: GraphBuilder, step: Step) -> None:
    elementwise(c.POWERS[step.head.args[1]])(builder, step)


def average(builder: GraphBuilder, step: Step) -> None:
    lower = global_average if covers_image(step.head) else pool("XNNAvgPooling2d")
    lower(builder, step)


def _unary(kind: str, annotation: Annotation = NOT_QUANTIZED) -> Row:
    return Row(elementwise(kind), annotation=annotation)


# CPU time of ViT (25 norms of 197 rows of 192) and BERT (9 of 128 rows of 256) on an AVX-512 machine, norms as
# nine nodes / undelegated, 26 and 9 delegates instead of one: 29.7 / 27.9 ms and 10.5 / 9.8 ms.
_NORM_UNDELEGATED = "one pass of the optimized kernel is faster than XNNPACK's nine"
_SMALL_CONV3D = "conv3d of few channels is faster when it is not delegated"
_CLAMP = Row(clamp, c.CLAMP, annotation=SHARED)
_RESHAPE = Row(reshape, (c.RESHAPED,), joins=True, layouts=layouts.reshape, annotation=SHARED)
_BY_WEIGHTS = (0.0, 256.0)

_ROWS: dict[str, Row] = {
    CONVOLUTION: Row(
        any_convolution,
        c.CONVOLUTION,
        chooses_layout=True,
        layouts=layouts.channels_last,
        slower=_SMALL_CONV3D,
        is_slower=is_small_conv3d,
        tail=NORM_AND_LIMITS,
        annotation=q.CONVOLUTION,
        scales=_BY_WEIGHTS,
    ),
    BATCH_NORM: Row(batch_norm, c.BATCH_NORM, tail=LIMITS),
    QUANTIZE: Row(convert, c.CONVERT, joins=True),
    DEQUANTIZE: Row(convert, c.CONVERT, joins=True),
    c.CONVERSION: Row(convert, c.OTHER_FLOAT, joins=True),
    "aten.linear.default": Row(
        fully_connected,
        c.LINEAR,
        tail=LIMITS,
        layouts=layouts.plain,
        annotation=q.LINEAR,
        scales=_BY_WEIGHTS,
        preserved=True,
    ),
    "aten.addmm.default": Row(matmul, c.PRODUCT_AND_BIAS, tail=LIMITS, layouts=layouts.plain),
    "aten.mm.default": Row(matmul, c.PRODUCT, layouts=layouts.plain),
    "aten.bmm.default": Row(batch_matrix_multiply, (c.NOT_CONSTANT,), layouts=layouts.plain),
    "aten.add.Tensor": Row(elementwise("XNNAdd"), c.ALPHA, tail=LIMITS, annotation=ARITHMETIC),
    "aten.sub.Tensor": Row(elementwise("XNNSubtract"), c.ALPHA, tail=LIMITS),
    "aten.mul.Tensor": Row(
        elementwise("XNNMultiply"),
        tail=LIMITS,
        annotation=ARITHMETIC,
        scales=(2**-16, 256.0),
        multiplies=True,
    ),
    "aten.div.Tensor": Row(elementwise("XNNDiv"), tail=LIMITS),
    "aten.maximum.default": _unary("XNNMaximum"),
    "aten.minimum.default": _unary("XNNMinimum"),
    "aten.abs.default": _unary("XNNAbs"),
    "aten.ceil.default": _unary("XNNCeiling"),
    "aten.cos.default": _unary("XNNCos"),
    "aten.exp.default": _unary("XNNExp"),
    "aten.floor.default": _unary("XNNFloor"),
    "aten.gelu.default": Row(elementwise("XNNGelu"), c.GELU, annotation=LOOKUP),
    "aten.hardswish.default": Row(elementwise("XNNHardswish"), preserved=True, annotation=LOOKUP),
    "aten.log.default": _unary("XNNLog"),
    "aten.neg.default": _unary("XNNNegate"),
    "aten.rsqrt.default": _unary("XNNReciprocalSquareRoot"),
    "aten.pow.Tensor_Scalar": Row(power, c.POWER),
    "aten.sigmoid.default": _unary("XNNSigmoid", LOOKUP),
    "aten.sin.default": _unary("XNNSin"),
    "aten.sqrt.default": _unary("XNNSquareRoot"),
    "aten.tanh.default": _unary("XNNTanh", LOOKUP),
    "aten.prelu.default": Row(parametric_relu, c.PRELU, preserved=True),
    "aten.leaky_relu.default": Row(elementwise("XNNLeakyReLU", "negative_slope", 0.01)),
    "aten.elu.default": Row(elementwise("XNNELU", "alpha", 1.0), c.ELU),
    "aten.relu.default": Row(clamp, annotation=SHARED),
    "aten.hardtanh.default": _CLAMP,
    "aten.clamp.default": _CLAMP,
    "aten._softmax.default": Row(
        softmax,
        c.SOFTMAX,
        joins=c.is_across_rows,
        chooses_layout=True,
        layouts=layouts.softmax,
    ),
    "aten.mean.dim": Row(
        mean,
        c.MEAN,
        chooses_layout=True,
        layouts=layouts.mean,
        annotation=q.MEAN,
        scales=(2**-8, 256.0),
        int8_when=is_over_image,
    ),
    "aten.sum.dim_IntList": Row(sum_of_rows, c.SUM, layouts=layouts.plain),
    "aten.native_layer_norm.default": Row(
        layer_norm, c.LAYER_NORM, slower=_NORM_UNDELEGATED, layouts=layouts.plain
    ),
    "aten.native_group_norm.default": Row(
        group_norm, c.GROUP_NORM, joins=True, chooses_layout=True
    ),
    "aten.max_pool2d_with_indices.default": Row(
        pool("XNNMaxPooling2d"),
        w.MAX_POOL,
        chooses_layout=True,
        layouts=layouts.channels_last,
        annotation=SHARED,
    ),
    "aten.max_pool3d_with_indices.default": Row(
        max_pool3d, w.MAX_POOL_3D, joins=True, chooses_layout=True, annotation=SHARED
    ),
    "aten.avg_pool2d.default": Row(
        average, w.AVERAGE_POOL, chooses_layout=True, layouts=layouts.channels_last
    ),
    "aten.upsample_bilinear2d.vec": Row(
        resize_bilinear,
        w.RESIZE,
        chooses_layout=True,
        layouts=layouts.channels_last,
        preserved=True,
    ),
    "aten.upsample_nearest2d.vec": Row(
        resize_nearest,
        w.RESIZE_NEAREST,
        joins=True,
        chooses_layout=True,
        layouts=layouts.channels_last,
        preserved=True,
        annotation=SHARED,
    ),
    "aten.cat.default": Row(concatenate, c.CONCATENATE, joins=True, annotation=q.CONCATENATION),
    "aten.permute_copy.default": Row(
        transpose, joins=True, chooses_layout=True, layouts=layouts.permute, annotation=SHARED
    ),
    "aten.view_copy.default": _RESHAPE,
    "aten.unsqueeze_copy.default": _RESHAPE,
    "aten.squeeze_copy.dims": _RESHAPE,
    "aten.slice_copy.Tensor": Row(slice_, c.SLICE, joins=True, annotation=SHARED),
    "aten.select_copy.int": Row(select, c.SELECT, joins=True, layouts=layouts.plain),
    "aten.expand_copy.default": Row(repeat, c.EXPAND, joins=True),
    "aten.clone.default": Row(clone, c.CLONE, joins=True),
    "dim_order_ops._clone_dim_order.default": Row(clone, c.CLONE, joins=True),
    "aten.constant_pad_nd.default": Row(constant_pad, c.PAD, joins=True, annotation=SHARED),
}


TABLE = OpTable(_ROWS, of_tensors=c.OF_TENSORS, step=Step)
