# SPDX-License-Identifier: BSD-3-Clause
"""Annotations beside the table's, for add_custom_quant_annotations: caches of 8 bits in a model of 16."""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.observer import MinMaxObserver
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.qualcomm.quantizer.qconfig import (
    get_8a8w_qnn_ptq_config,
    get_16a8w_qnn_ptq_config,
)
from executorch.exir.backend.lowering.quantizer.captured import function_name

_DATA_MOVEMENT = (
    "transpose",
    "permute",
    "expand",
    "repeat_interleave",
    "view",
    "reshape",
    "unsqueeze",
)


def annotate_kv_8bit(gm: GraphModule, is_qat: bool = False) -> None:
    """Keys and values that are inputs of a program, those that join them, and the products that read both: the second
    operand has 8 bits, the first one and the result 16."""
    if is_qat:
        raise RuntimeError("annotate_kv_8bit: expected quantization after training, is_qat=False")
    # Not a moving average: caches are empty in the first calls.
    few = get_8a8w_qnn_ptq_config(act_observer=MinMaxObserver)
    many = get_16a8w_qnn_ptq_config(act_observer=MinMaxObserver)
    for cat in gm.graph.nodes:
        if function_name(cat) != "cat" or not _joins_a_cache(cat):
            continue
        cache, *new = cat.args[0]
        shared = SharedQuantizationSpec((cache, cat))
        _annotate(cat, {cache: few.input_activation, **dict.fromkeys(new, shared)}, shared)
        for product, rows in _products(cat):
            inputs = {product.args[0]: many.input_activation, rows: few.input_activation}
            _annotate(product, inputs, many.output_activation)


def _joins_a_cache(cat: Node) -> bool:
    first, *others = cat.args[0]
    return first.op == "placeholder" and all(each.op == "call_function" for each in others)


def _products(rows: Node) -> list[tuple[Node, Node]]:
    """That have cached rows, moved, as their second operand, and these."""
    found = []
    for user in rows.users:
        if function_name(user) in _DATA_MOVEMENT:
            found += _products(user)
        elif function_name(user) in ("matmul", "bmm") and user.args[1] is rows:
            found.append((user, rows))
    return found


def _annotate(
    node: Node, inputs: dict[Node, QuantizationSpecBase], output: QuantizationSpecBase
) -> None:
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
        input_qspec_map=inputs, output_qspec=output, _annotated=True
    )
