# SPDX-License-Identifier: BSD-3-Clause
"""A delegate's program as coremltools' frontend for PyTorch reads it: arguments that a schema has defaults for are
written out where the frontend expects them, and numbers that meet floats are floats.

before: max_pool2d(%x, [2, 2])     after: max_pool2d(%x, [2, 2], [2, 2], [0, 0], [1, 1], False)
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.graph_facts import arguments_by_name, called_op, op_name

# The frontend counts the arguments of these, and reads no keywords.
_WRITTEN_OUT = {
    f"aten.{name}.default"
    for name in (
        "max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices "
        "avg_pool1d avg_pool2d avg_pool3d gelu"
    ).split()
}
# Of these, None is 1 for PyTorch, and 0 for the frontend.
_CORRECTED = {"aten.var.correction", "aten.std.correction"}


def adapt(program: ExportedProgram) -> None:
    for node in program.graph.nodes:
        if op_name(node) in _WRITTEN_OUT:
            _write_out(node)
        if op_name(node) in _CORRECTED and node.kwargs.get("correction") is None:
            node.kwargs = {**node.kwargs, "correction": 1}
        _numbers_as_floats(node)


def _numbers_as_floats(node: Node) -> None:
    """hardtanh(%x, 0, 6) -> hardtanh(%x, 0.0, 6.0): the frontend keeps an integer's dtype."""
    value, op = node.meta.get("val"), called_op(node)
    if op is None or not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return
    numbers = [isinstance(each.type, torch.NumberType) for each in op._schema.arguments]
    node.args = tuple(
        float(given) if is_number and type(given) is int else given
        for given, is_number in zip(node.args, numbers, strict=False)
    )


def _write_out(node: Node) -> None:
    values = arguments_by_name(node)
    if "kernel_size" in values and not values["stride"]:
        values["stride"] = values["kernel_size"]
    node.args, node.kwargs = tuple(values.values()), {}
