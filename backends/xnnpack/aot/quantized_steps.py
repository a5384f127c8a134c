# SPDX-License-Identifier: BSD-3-Clause
"""Finds the steps that compute on 8-bit values, with the calls around them that they make superfluous.

before: %d = dequantize(%x); %c = conv(%d, dequantize(%w)); %r = relu(%c); %q = quantize(%r)
after:  Step(head=%c, result=%q, (0, inf), mode=STATIC), which reads %x and %w as they are stored"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, Node

from executorch.backends.transforms.duplicate_dynamic_quant_chain import (
    DuplicateDynamicQuantChainPass,
)
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.ops import TABLE, Row
from executorch.backends.xnnpack.aot.quantization import (
    DEQUANTIZE,
    QUANTIZE,
    dynamic_source,
    parameters_of,
)
from executorch.backends.xnnpack.aot.steps import CONVOLUTION, Mode, Step, limits_of
from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    quantizes_back,
    weight_of,
)
from executorch.exir.backend.lowering.quantized_steps import (
    CHAIN_OPS,
    QuantizedStep,
    chain_of,
    copy_for_each_reader,
    quantized_step,
)
from executorch.exir.backend.lowering.steps import nodes_of
from executorch.exir.graph_facts import op_name

LINEAR = "aten.linear.default"


def quantized_steps_of(graph: Graph, constants: Constants) -> list[Step]:
    """All steps of a graph; dequantize is one only where somebody reads floats."""
    steps = [in_its_mode(step, constants) for step in TABLE.steps(graph, constants)]
    written = {step.result for step in steps if step.mode is Mode.STATIC}
    static = {step.head for step in steps if step.mode is Mode.STATIC}
    return [
        step
        for step in steps
        if op_name(step.head) not in CHAIN_OPS
        and not (step.mode is Mode.FLOAT and step.head in written)
        and not (op_name(step.head) == DEQUANTIZE and _reads_as_stored(step.head, static))
    ]


def _reads_as_stored(dequantize: Node, static: set[Node]) -> bool:
    """Whether nobody reads its floats: `static` heads do not, nor what quantizes them back."""
    return all(user in static or quantizes_back(user) for user in dequantize.users)


def quantized_group(node: Node, constants: Constants) -> list[Node]:
    """A call with what must be in its delegate so that it computes on 8-bit values; empty for any other call."""
    if TABLE.why_not(node, constants):
        return []
    step = in_its_mode(TABLE.step_at(node), constants)
    match step.mode:
        case Mode.STATIC:
            sources = [each for each in _operands(node) if is_dequantize(each)]
            return [*sources, *nodes_of(step)]
        case Mode.DYNAMIC:
            chain = chain_of(node.args[0])
            return [*chain.nodes, node]
    return []


def mode_of(node: Node, constants: Constants) -> Mode:
    """How a call that a row takes would run."""
    if op_name(node) in (QUANTIZE, DEQUANTIZE):
        return Mode.STATIC
    return in_its_mode(TABLE.step_at(node), constants).mode


def in_its_mode(step: Step, constants: Constants) -> Step:
    if TABLE.why_not(step.head, constants) or step.batch_norm is not None:
        return step
    if not TABLE.row(step.head).int8_when(step.head):
        return step
    around = quantized_step(step.head, step.result)
    if around.result is not None and _is_static(step, around, constants):
        return replace(step, result=around.result, mode=Mode.STATIC)
    return replace(step, mode=Mode.DYNAMIC) if _is_dynamic(step, constants) else step


def _operands(node: Node) -> list[Node]:
    """Tensors that are computed on, but for weights and biases."""
    if TABLE.row(node).annotation.kind is Kind.GEMM:
        return [node.args[0]]
    return list(node.all_input_nodes)


def _is_static(step: Step, around: QuantizedStep, constants: Constants) -> bool:
    out = parameters_of(around.result)
    operands = _operands(step.head)
    inputs = [parameters_of(each) for each in operands if each in around.inputs]
    row = TABLE.row(step.head)
    if out is None or not inputs or len(inputs) != len(operands) or None in inputs:
        return False
    if not _has_room(step.limits or limits_of(step.head), out):
        return False
    match row.annotation.kind:
        case Kind.GEMM:
            weight = weight_of(step.head.args[1], constants)
            return weight is not None and _weight_fits(step.head, weight, inputs[0], out)
        case Kind.ARITHMETIC:
            return _scales_fit(row, inputs, out)
        case Kind.SHARED:
            return all(each == out for each in inputs)
        case kind:
            return kind is Kind.LOOKUP


def _weight_fits(node: Node, weight: Quantization, source: Quantization, out: Quantization) -> bool:
    if weight.group_size or weight.bits < 8 or not _axis_fits(node, weight):
        return False
    least, most = TABLE.row(node).scales
    return least <= float(weight.scale.max()) * source.scale / out.scale < most


def _axis_fits(node: Node, weight: Quantization) -> bool:
    """One scale per output channel. Groups of a transposed convolution have their channels interleaved."""
    if weight.axis is None:
        return True
    if op_name(node) == CONVOLUTION and node.args[6]:
        return weight.axis == 1 and node.args[8] == 1
    return weight.axis == 0


def _scales_fit(row: Row, inputs: list[Quantization], out: Quantization) -> bool:
    scales = [each.scale for each in inputs]
    if row.multiplies:
        scales = [scales[0] * scales[-1]]
    least, most = row.scales
    return all(least <= scale / out.scale < most for scale in scales)


def _has_room(limits: tuple[float, float] | None, out: Quantization) -> bool:
    """Some 8-bit values must lie between the limits."""
    low, high = limits or (-inf, inf)
    lowest = max(-128.0, low / out.scale + out.zero_point)
    return lowest + 1 <= min(127.0, high / out.scale + out.zero_point)


def _is_dynamic(step: Step, constants: Constants) -> bool:
    name = op_name(step.head)
    if name not in (LINEAR, CONVOLUTION) or dynamic_source(step.head.args[0]) is None:
        return False
    weight = weight_of(step.head.args[1], constants)
    if weight is None or not _axis_fits(step.head, weight):
        return False
    if name == CONVOLUTION:
        transposed, groups = step.head.args[6], step.head.args[8]
        # transposed ones have results of float32 alone
        plain = weight.source.dim() == 4 and groups == 1
        known = not transposed or step.head.meta["val"].dtype == torch.float32
        return weight.bits == 8 and not weight.group_size and plain and known
    return weight.group_size == 0 or (weight.bits < 8 and weight.group_size % 32 == 0)


def own_dequantized_inputs(program: ExportedProgram) -> None:
    """Every reader of what is dequantized gets a dequantize of its own: then groups of calls share none."""
    DuplicateDynamicQuantChainPass()(program.graph_module)
    constants = Constants(program)
    copy_for_each_reader(
        program, lambda node: op_name(node) == DEQUANTIZE or constants.is_computed(node)
    )
