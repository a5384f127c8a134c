# SPDX-License-Identifier: BSD-3-Clause
"""A delegate's program as coremltools' frontend for PyTorch reads it: arguments that a schema has defaults for are
written out where the frontend expects them, and numbers that meet floats are floats.

before: max_pool2d(%x, [2, 2])     after: max_pool2d(%x, [2, 2], [2, 2], [0, 0], [1, 1], False)
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.apple.coreml.aot.translations import TRANSLATIONS
from executorch.exir.graph_facts import arguments_by_name, called_op, op_name

# The frontend counts the arguments of these, and reads no keywords.
_WRITTEN_OUT = {
    f"aten.{name}.default"
    for name in (
        "max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices "
        "avg_pool1d avg_pool2d avg_pool3d"
    ).split()
} | {"aten.conv_transpose1d.default", "aten.conv_transpose2d.input"}
# Those of our own take all of them.
_WRITTEN_OUT |= {f"aten.{name if '.' in name else name + '.default'}" for name in TRANSLATIONS} | {
    "aten.log_softmax.int"
}
# Of these, None is 1 for PyTorch, and 0 for the frontend.
_CORRECTED = {"aten.var.correction", "aten.std.correction"}
# What it says where it counts those of others.
_COUNTED = re.compile(r"node (\w+) \(\w+\) got \d+ input\(s\), expected \[(\d+)\]")


def adapt(program: ExportedProgram) -> None:
    for node in program.graph.nodes:
        if op_name(node) in _WRITTEN_OUT:
            _write_out(node)
        if op_name(node) in _CORRECTED and node.kwargs.get("correction") is None:
            node.kwargs = {**node.kwargs, "correction": 1}
        _numbers_as_floats(node)


def adapt_more(program: ExportedProgram, error: Exception) -> bool:
    """Whether another try is of use: the call that the frontend counted has as many arguments now as it expects."""
    found = _COUNTED.search(str(error))
    for node in program.graph.nodes if found else ():
        if node.name == found[1] and len(node.args) < len(arguments_by_name(node)) == int(found[2]):
            _write_out(node)
            return True
    return False


def _numbers_as_floats(node: Node) -> None:
    """hardtanh(%x, 0, 6) -> hardtanh(%x, 0.0, 6.0): the frontend keeps an integer's dtype."""
    value, op = node.meta.get("val"), called_op(node)
    if op is None or not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return
    numbers = {
        each.name for each in op._schema.arguments if isinstance(each.type, torch.NumberType)
    }
    names = [each.name for each in op._schema.arguments]
    node.args = tuple(
        _as_float(given, name in numbers) for name, given in zip(names, node.args, strict=False)
    )
    node.kwargs = {name: _as_float(given, name in numbers) for name, given in node.kwargs.items()}


def _as_float(given: Any, is_number: bool) -> Any:
    return float(given) if is_number and type(given) is int else given


def _write_out(node: Node) -> None:
    values = arguments_by_name(node)
    if "kernel_size" in values and not values["stride"]:
        values["stride"] = values["kernel_size"]
    node.args, node.kwargs = tuple(values.values()), {}
