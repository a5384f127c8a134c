# SPDX-License-Identifier: BSD-3-Clause
"""Each step of a quantized network for itself: what a TOSA graph stores behind it, beside float64 on the operands that
the graph stored before. The expected integer is the exact result, rounded; `off` of 0.5 is right, a tie aside.

before: %x = dequantize(%a, 0.1, 3); %y = sigmoid(%x); %b = quantize(%y, 1/256, -128)     in the quantized module
off:    the graph's b less (1 / (1 + exp(-(a - 3) * 0.1)) * 256 - 128), where a is the graph's, too

What the module quantizes between two operators that are one step of the graph stays exact there: the step is the row,
and rounds once."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_arg

from executorch.backends.arm.aot.lowering import written
from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.backends.arm.test.arm_reference import delegates, first_delegate, run, run_on
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.exir import EdgeProgramManager
from executorch.exir.backend.lowering.layout import dims_in
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.graph_facts import op_name

# Quanta by which a step may be further from what is exact than half a quantum, by the operator that ends it. Others:
# multipliers of 31 bits, at most 2^8 quanta of 2^-31, and sums of two operands that are rounded to 2^-19 of the larger.
OF_SCALES = 2.0**-15
# A quotient has 15 bits; exp, reciprocal and rsqrt in softmax and norms are tables of 16 bits.
OF_8_BITS = {"div": 0.02, "_softmax": 2e-3, "native_layer_norm": 1e-3, "native_group_norm": 1e-3}
OF_8_BITS |= {"maximum": 2.0**-8, "minimum": 2.0**-8}  # operands in 2^-8 quanta of the finer one
# Multipliers behind sums of 48 bits have 15: up to 2^15 quanta times 2^-16.
OF_16_BITS = dict.fromkeys(("convolution", "linear", "bmm", "mm", "matmul"), 0.5)
# Tables of 16 bits, whose points are rounded: exp and reciprocal, and the quotients by a number.
OF_16_BITS |= dict.fromkeys(("_softmax", "_log_softmax", "div"), 0.5)
_SEGMENT = 128  # values of 16 bits between two points of a table
_UNTAGGED = {"hardswish", "log_sigmoid"}  # element by element, which PyTorch does not say
_NO_TABLES = {"relu", "hardtanh", "clamp", "abs", "neg", "add", "sub", "mul"}


@dataclass(frozen=True)
class Step:
    """`off`: quanta from what is exact, where it is furthest beyond what is `allowed`."""

    name: str
    off: float
    allowed: float

    @property
    def why_wrong(self) -> str:
        is_right = self.off <= self.allowed
        return (
            "" if is_right else f"{self.name}: {self.off:.5f} quanta off, expected {self.allowed:g}"
        )


class _Exact(Interpreter):
    """In float64. A quantize gives what the graph stored there, or, where it stored nothing, what is not rounded."""

    def __init__(self, module: GraphModule, found: dict[str, torch.Tensor]) -> None:
        super().__init__(module, garbage_collect_values=False)
        self._found = found
        self.steps: list[Step] = []

    def run_node(self, node: Node) -> Any:
        if is_dequantize(node):
            qparams = quantization_of(node)
            return self._real(qparams, self._value(qparams.source))
        if is_quantize(node):
            return self._stored(node)
        value = super().run_node(node)
        is_single = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.double() if is_single else value

    def _stored(self, node: Node) -> torch.Tensor:
        qparams = quantization_of(node)
        exact = self._quanta(qparams, self._value(qparams.source))
        if node.name not in self._found:
            return exact
        found = self._found[node.name].double()
        off = (found - exact).abs()
        allowed = 0.5 + self._loss(node, qparams, exact)
        place = int((off - allowed).argmax())
        name = f"{_operator(node)}: {node.name}"
        self.steps.append(Step(name, float(off.flatten()[place]), float(allowed.flatten()[place])))
        return found

    def _loss(self, node: Node, qparams: Quantization, exact: torch.Tensor) -> torch.Tensor:
        name, is_wide = _operator(node), qparams.dtype == torch.int16
        known = (OF_16_BITS if is_wide else OF_8_BITS).get(name, OF_SCALES)
        if is_wide and name in ("relu", "hardtanh") and _operator(node.args[0]) in OF_16_BITS:
            known = OF_16_BITS["linear"]
        source = _only_operand(node.args[0]) if is_wide else None
        is_table = source is not None and (
            name not in _NO_TABLES or _only_operand(node.args[0], 1) is None
        )
        chord = self._chord(node, source, qparams) if is_table else 0.0
        return torch.full_like(exact, known) + (0.5 if is_table else 0.0) + chord

    def _chord(self, node: Node, operand: Node, qparams: Quantization) -> torch.Tensor:
        """How far a straight line between two points of the table is from the function; both points are rounded."""
        given = quantization_of(operand)
        codes = self._value(given.source).double()
        first = (codes / _SEGMENT).floor() * _SEGMENT

        def at(code: torch.Tensor) -> torch.Tensor:
            env = {operand: self._real(given, code.clamp(given.quant_min, given.quant_max))}
            return self._quanta(qparams, self._again(node.args[0], env))

        below, above = at(first), at(first + _SEGMENT)
        line = below + (above - below) * (codes - first) / _SEGMENT
        return (line - at(codes)).abs().nan_to_num(math.inf)

    def _again(self, node: Node, env: dict[Node, Any]) -> Any:
        if node not in env:
            args, kwargs = map_arg(
                (node.args, node.kwargs),
                lambda each: self._again(each, env) if _reads(each, env) else self.env[each],
            )
            env[node] = node.target(*args, **kwargs)
        return env[node]

    def _value(self, source: Any) -> Any:
        return self.env[source] if isinstance(source, Node) else source

    def _real(self, qparams: Quantization, stored: torch.Tensor) -> torch.Tensor:
        scale, point = self._numbers(qparams, stored)
        return (stored.double() - point) * scale

    def _quanta(self, qparams: Quantization, values: torch.Tensor) -> torch.Tensor:
        scale, point = self._numbers(qparams, values)
        return (values / scale + point).clamp(qparams.quant_min, qparams.quant_max)

    def _numbers(self, qparams: Quantization, values: torch.Tensor) -> list[Any]:
        """Scale and zero point, by the index of the axis where there are several."""
        sizes = [-1 if dim == qparams.axis else 1 for dim in range(values.dim())]
        found = [self._value(each) for each in (qparams.scale, qparams.zero_point or 0)]
        return [
            each.double().reshape(sizes if each.dim() else [])
            if isinstance(each, torch.Tensor)
            else each
            for each in found
        ]


def _only_operand(node: Node, most: int = 9) -> Node | None:
    """The dequantize that an element by element function of one value reads, at most so many calls before."""
    if is_dequantize(node):
        return node
    tags = getattr(getattr(node.target, "_op", node.target), "tags", ())
    if most == 0 or not (torch.Tag.pointwise in tags or _name(node) in _UNTAGGED):
        return None
    found = {
        _only_operand(each, most - 1) for each in node.all_input_nodes if each.op == "call_function"
    }
    return found.pop() if len(found) == 1 else None


def _reads(node: Node, env: dict[Node, Any]) -> bool:
    return node in env or any(_reads(each, env) for each in node.all_input_nodes)


def steps_of(edge: EdgeProgramManager, inputs: Sequence[torch.Tensor]) -> list[Step]:
    """Of the first delegate; `sigmoid: quantize_3`, the operator and the quantize behind it. Results that no quantize
    makes, truth values and indices, are steps that are exact or not."""
    delegate = delegates(edge)[0]
    program = delegate.original_module
    spec = TosaCompileSpec._from_list(delegate.compile_specs).tosa_spec
    _, arguments = first_delegate(edge, inputs)
    writer = written(program, spec, "TOSABackend")
    found, results = _stored_values(writer, program.graph.nodes, arguments)
    beside = _Exact(program.graph_module, found)
    pairs = zip(_inputs(program), arguments, strict=True)
    expected = run_on(beside, program, [_as_called(*each) for each in pairs])
    outputs = program.graph.output_node().args[0]
    for node, given, each in zip(outputs, results, expected, strict=True):
        if not is_quantize(node):
            same = torch.equal(_as_called(node, given).double(), each.double())
            beside.steps.append(Step(node.name, 0.0 if same else math.inf, 0.0))
    return beside.steps


def _inputs(program: ExportedProgram) -> list[Node]:
    names = set(program.graph_signature.user_inputs)
    return [node for node in program.graph.nodes if node.name in names]


def _as_called(node: Node, value: torch.Tensor) -> torch.Tensor:
    """With PyTorch's dimensions, of one whose dimensions are in the order of memory."""
    order = list(node.meta["val"].dim_order())
    return value.permute([order.index(dim) for dim in range(len(order))])


def _operator(node: Node) -> str:
    """Of the call before, whose first result it may be."""
    source = node.args[0]
    if isinstance(source, Node) and source.target is operator.getitem:
        source = source.args[0]
    return _name(source) if isinstance(source, Node) else ""


def _name(node: Node) -> str:
    return op_name(node).removeprefix("aten.").partition(".")[0]


def _stored_values(
    writer: TosaWriter, nodes: Sequence[Node], arguments: Sequence[torch.Tensor]
) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
    """What the graph stores for each quantize, with PyTorch's dimensions; and its results."""
    graph = SCHEMA.unpack(writer.packed())
    (block,) = graph.regions[0].blocks
    computed = {name for each in block.operators for name in each.outputs}
    places = {}
    for node in filter(is_quantize, nodes):
        layout = writer.layout_of(node)
        with contextlib.suppress(KeyError):  # what stands for itself in no step
            name = writer.values[writer.known(node, layout)].name
            if name in computed:
                places[node] = name, layout
    outputs = list(block.outputs)
    block.outputs = list(dict.fromkeys([*outputs, *(name for name, _ in places.values())]))
    results = dict(zip(block.outputs, run(SCHEMA.pack(graph), arguments), strict=True))
    found = {}
    for node, (name, layout) in places.items():
        order = dims_in(layout, node.meta["val"].dim())
        found[node.name] = results[name].permute([order.index(dim) for dim in range(len(order))])
    return found, [results[name] for name in outputs]
