# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of a quantized program against the values that reach them: observers that saw nothing, inputs that calibration
did not see, layers whose values are cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Interpreter, Node

from executorch.devtools.commands import given
from executorch.exir.backend.lowering.quantized_values import StaticRange, static_ranges

UNCALIBRATED, INPUTS, CLIPPED = "uncalibrated", "inputs", "clipped"
CUT = 0.1  # ||values - cut values|| / ||values|| that is more than calibration leaves to outliers
FEW_STEPS = 8  # of 255, of an input that calibration saw larger
_SAME = (
    "permute",
    "transpose",
    "view",
    "reshape",
    "clone",
    "to_copy",
    "to_dim_order_copy",
    "contiguous",
)
STEPS = {
    UNCALIBRATED: "run the prepared model on inputs of the size that it will get before convert_pt2e (`--calibrate`)",
    INPUTS: "give inputs as those of the calibration (the same preprocessing), or calibrate with inputs as these",
    CLIPPED: "calibrate with more inputs, or leave this layer in float (the quantizer's set_module_name)",
}


@dataclass(frozen=True)
class Cut:
    """`node`: what quantizes; `source`: the node with the line of Python that its value is of."""

    kind: str
    node: Node
    source: Node
    why: str

    @property
    def next_step(self) -> str:
        return STEPS[self.kind]


def cuts(program: ExportedProgram, inputs: Sequence[Any]) -> list[Cut]:
    """Of a method's edge program: those without a range, inputs, then layers, each in the order of the program."""
    module = program.module(check_guards=False)
    ranges = {each.node.name: each for each in static_ranges(program)}
    if not ranges:
        return []
    users = _user_inputs(program)
    watch = _Watch(module, set(ranges))
    with torch.no_grad():
        state = [(buffer, buffer.clone()) for buffer in module.buffers()]
        watch.run(*given.copies(inputs))
        for buffer, value in state:
            buffer.copy_(value)
    found = [
        each
        for name, value in watch.values.items()
        if value.is_floating_point() and value.numel()
        if (each := _judge(ranges[name], value, users)) is not None
    ]
    order = (UNCALIBRATED, INPUTS, CLIPPED)
    return sorted(found, key=lambda each: order.index(each.kind))


def _judge(known: StaticRange, value: torch.Tensor, users: set[str]) -> Cut | None:
    source, is_input = _source(known.node, users)
    least, largest = known.limits
    cut = value.clamp(least, largest)
    lost = float((value - cut).double().norm() / value.double().norm().clamp_min(1e-30))
    steps = float(value.abs().max()) / known.qparams.scale
    what = f"input {source.name}" if is_input else f"what {source.name} gives"
    goes = f"{what} goes from {float(value.min()):.3g} to {float(value.max()):.3g}"
    seen = f"calibration saw {least:.3g} to {largest:.3g}"
    if known.is_unseen:
        if lost <= CUT and not 0 < steps < FEW_STEPS:
            return None
        return Cut(
            UNCALIBRATED, known.node, _line(source), f"{goes} and is quantized with {known.why}"
        )
    if lost > CUT:
        share = float(((value - cut).abs() > known.qparams.scale / 2).float().mean())
        why = f"{goes}, {seen}: {share:.0%} of the values are cut"
        return Cut(INPUTS if is_input else CLIPPED, known.node, _line(source), why)
    if is_input and 0 < steps < FEW_STEPS:
        why = f"{goes}, {seen}: {steps:.1f} of its 255 steps are used"
        return Cut(INPUTS, known.node, _line(source), why)
    return None


def _user_inputs(program: ExportedProgram) -> set[str]:
    return {
        spec.arg.name
        for spec in program.graph_signature.input_specs
        if spec.kind == InputKind.USER_INPUT
    }


def _source(quantize: Node, inputs: set[str]) -> tuple[Node, bool]:
    """What gives the value, and whether that is an input of the program, in whatever layout."""
    node = quantize.args[0]
    assert isinstance(node, Node)
    origin = node
    while origin.op == "call_function" and any(each in str(origin.target) for each in _SAME):
        origin = origin.all_input_nodes[0]
    return (origin, True) if origin.name in inputs else (node, False)


def _line(node: Node) -> Node:
    """The nearest with a line of Python: what gives the value, else what reads it."""
    waiting = [node]
    for each in waiting:
        if each.meta.get("stack_trace"):
            return each
        near = each.users if node.op == "placeholder" else each.all_input_nodes
        waiting += [one for one in near if one not in waiting]
    return node


class _Watch(Interpreter):
    """What reaches the nodes named."""

    def __init__(self, module: GraphModule, names: set[str]) -> None:
        super().__init__(module)
        self._names = names
        self.values: dict[str, torch.Tensor] = {}

    def run_node(self, n: Node) -> Any:
        if n.name in self._names:
            (value, *_), _ = self.fetch_args_kwargs_from_env(n)
            self.values[n.name] = value
        return super().run_node(n)
