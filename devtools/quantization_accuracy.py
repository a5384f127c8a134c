# SPDX-License-Identifier: BSD-3-Clause
"""How exact a quantized model is, layer by layer: both models run on the same inputs, and what each layer gives is
compared. `print(quantization_accuracy(model, quantized, inputs))` shows the worst layers first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves

from executorch.exir.backend.lowering.quantized import form_of, is_dequantize
from executorch.exir.backend.lowering.quantized_steps import quantized_step

_COLUMNS = ("SQNR dB", "own dB", "largest", "operator", "layer", "node")
_BAR_STEP = 5  # dB


@dataclass(frozen=True)
class LayerAccuracy:
    """`sqnr`: signal to quantization noise in dB of the layer's result, with the errors of the layers before it;
    infinite when equal. `own_loss`: by how many dB the result is worse than the worst input. `largest`: the largest
    value of the float result."""

    node: str
    operator: str
    layer: str
    sqnr: float
    own_loss: float
    largest: float


@dataclass(frozen=True)
class AccuracyReport:
    """`layers`: worst first. `output`: SQNR of the model's outputs, the worst of several."""

    layers: tuple[LayerAccuracy, ...]
    output: float

    def table(self, count: int | None = None) -> str:
        """The `count` worst layers, or all."""
        rows = [_COLUMNS, *(_cells(layer) for layer in self.layers[:count])]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
        bars = ["", *("#" * _bar(layer.sqnr) for layer in self.layers[:count])]
        drawn = [f"{line}  {bar}".rstrip() for line, bar in zip(lines, bars)]
        drawn.insert(1, "-" * max(map(len, lines)))
        return "\n".join([*drawn, f"outputs of the model: {_decibel(self.output)} dB"])

    def __str__(self) -> str:
        return self.table()


def quantization_accuracy(
    model: nn.Module,
    quantized: GraphModule,
    inputs: tuple[Any, ...] | Iterable[tuple[Any, ...]],
) -> AccuracyReport:
    """`model`: the float model, or the module captured from it. `quantized`: what convert_pt2e made of the latter.
    `inputs`: the arguments of one run, or an iterable of several. Neither model changes."""
    samples = [inputs] if isinstance(inputs, tuple) else list(inputs)
    if not samples:
        raise ValueError("expected arguments of at least one run, found none")
    captured = model
    if not isinstance(model, GraphModule):
        captured = torch.export.export(model, samples[0]).module()
    pairs = list(_pairs(captured.graph, quantized.graph))
    outputs = _Sums()
    sums = {mine.name: _Sums() for mine, _ in pairs}
    for sample in samples:
        wanted = _values(captured, sample, [mine for mine, _ in pairs])
        found = _values(quantized, sample, [result for _, result in pairs])
        for mine, result in pairs:
            sums[mine.name].add(wanted[mine], found[result])
        for reference, value in zip(wanted[None], found[None], strict=True):
            outputs.add(reference, value)
    layers = [_layer(mine, sums) for mine, _ in pairs if sums[mine.name].count]
    return AccuracyReport(tuple(sorted(layers, key=lambda layer: layer.sqnr)), outputs.sqnr())


class _Sums:
    """Energies of signal and noise over all samples."""

    def __init__(self) -> None:
        self.signal = self.noise = self.largest = 0.0
        self.count = 0

    def add(self, wanted: Tensor, found: Tensor) -> None:
        if not _is_float(wanted) or not _is_float(found) or wanted.shape != found.shape:
            return
        usable = wanted.isfinite() & found.isfinite() & (wanted.abs() < 1e30)  # not what masks hold
        reference, value = wanted[usable].double(), found[usable].double()
        self.signal += reference.square().sum().item()
        self.noise += (reference - value).square().sum().item()
        self.largest = max(self.largest, reference.abs().max().item() if usable.any() else 0.0)
        self.count += 1

    def sqnr(self) -> float:
        if self.noise == 0:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and value.numel() > 0


def _pairs(captured: torch.fx.Graph, quantized: torch.fx.Graph) -> Iterator[tuple[Node, Node]]:
    """A layer's result in both graphs. Nodes keep their names; a batch norm has gone into the layer before it."""
    others = {node.name: node for node in quantized.nodes}
    for node in captured.nodes:
        other = others.get(node.name)
        if node.op != "call_function" or other is None or not _is_quantized(other):
            continue
        mine = node
        for user in node.users:
            if "batch_norm" in str(user.target) and user.name not in others:
                mine = user
        yield mine, _stored(other)


def _is_quantized(node: Node) -> bool:
    step = quantized_step(node)
    return not form_of(node) and bool(step.inputs or step.outputs)


def _stored(node: Node) -> Node:
    """With the rounding of the result, where it is quantized."""
    readers = (reader for stored in quantized_step(node).outputs for reader in stored.users)
    return next(filter(is_dequantize, readers), node)


class _Recorder(Interpreter):
    """Keeps values of the nodes named."""

    def __init__(self, module: GraphModule, wanted: list[Node]) -> None:
        super().__init__(module)
        self._wanted = set(wanted)
        self.found: dict[Node | None, Any] = {}

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        if node in self._wanted:
            self.found[node] = value
        if node.op == "output":
            self.found[None] = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
        return value


def _values(
    module: GraphModule, sample: tuple[Any, ...], wanted: list[Node]
) -> dict[Node | None, Any]:
    recorder = _Recorder(module, wanted)
    with torch.no_grad():
        recorder.run(*tree_leaves(sample))
    return recorder.found


def _layer(node: Node, sums: dict[str, _Sums]) -> LayerAccuracy:
    sqnr = sums[node.name].sqnr()
    before = [sums[each.name].sqnr() for each in node.all_input_nodes if each.name in sums]
    path = [str(where) for where, _ in node.meta.get("nn_module_stack", {}).values()]
    return LayerAccuracy(
        node.name,
        str(node.target).removeprefix("aten.").split(".")[0],
        path[-1] if path else "",
        sqnr,
        max(0.0, min(before, default=math.inf) - sqnr) if math.isfinite(sqnr) else 0.0,
        sums[node.name].largest,
    )


def _cells(layer: LayerAccuracy) -> tuple[str, ...]:
    own = "" if math.isinf(layer.own_loss) else f"{layer.own_loss:.1f}"
    return (
        _decibel(layer.sqnr), own, f"{layer.largest:.3g}", layer.operator, layer.layer, layer.node
    )  # fmt: skip


def _decibel(value: float) -> str:
    return f"{value:.1f}"


def _bar(sqnr: float) -> int:
    """Longer is better, up to 60 dB."""
    return int(max(0.0, min(sqnr, 60.0)) // _BAR_STEP)
