# SPDX-License-Identifier: BSD-3-Clause
"""Runs a graph on the CPU: in float64 between operators' results, which are rounded to what tensors hold: floats, or
the nearest integers that qparams say. A graph that ENN's definitions do not allow is refused."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import partial
from zipfile import BadZipFile

import torch

from executorch.backends.samsung.aot.graph import (
    AINT8,
    DTYPES,
    FLOATS,
    Graph,
    Operator,
    Tensor,
)
from executorch.backends.samsung.test.reference import compute, movement
from executorch.backends.samsung.test.reference.row import NUMBER, Row, Several
from executorch.backends.test.conformance.backend import Run
from executorch.backends.test.graph_run import (
    InvalidGraph,
    check_dims,
    results_of,
    run_operators,
    where_is,
)

STORED = {name: dtype for dtype, name in DTYPES.items()}
_WHOLE = {name for name in STORED if "INT" in name}
_QUANTIZED = {"scales": Several(NUMBER), "zero_points": Several()}
OPERATORS: dict[str, Row] = {
    **compute.ROWS,
    **movement.ROWS,
    "QUANTIZE": Row(torch.clone, parameters=_QUANTIZED, converts=True, says_quantized=False),
    "DEQUANTIZE": Row(torch.clone, parameters=_QUANTIZED, converts=True, says_quantized=False),
    "CAST": Row(
        torch.clone,
        parameters={"out_dtype": tuple(STORED)},
        converts=True,
        says_quantized=False,
    ),
}


def evaluate(graph: Graph, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """`inputs` and results as they are stored."""
    held = {}
    for place, tensor in enumerate(graph.tensors):
        _check_tensor(tensor)
        if tensor.data is not None:
            held[place] = _given(tensor, tensor.data)
    if len(inputs) != len(graph.inputs):
        raise InvalidGraph("graph", f"{len(graph.inputs)} inputs", len(inputs))
    for place, value in zip(graph.inputs, inputs, strict=True):
        held[place] = _given(graph.tensors[place], value)
    return results_of(graph, run_operators(graph, held, partial(_computed, graph)))


def load(payload: bytes, data: Mapping[str, bytes]) -> Run:
    """The reference of backends/test/conformance, of what the stand-in makes: a line, and a packed graph."""
    try:
        graph = Graph.load(io.BytesIO(payload.partition(b"\n")[2]))
    except (EOFError, BadZipFile) as error:
        raise ValueError(
            f"expected a line and a packed graph, found {len(payload)} bytes"
        ) from error
    return partial(evaluate, graph)


# ---- Tensors ----


def _check_tensor(tensor: Tensor) -> None:
    where, qparams = f"tensor {tensor.name}", tensor.qparams
    if not tensor.dims or min(tensor.dims) < 1:
        raise InvalidGraph(where, "sizes of 1 or more", tensor.dims)
    if tensor.dtype not in STORED:
        raise InvalidGraph(where, f"one of {', '.join(STORED)}", tensor.dtype)
    if qparams in (None, FLOATS):
        return
    if (qparams.type, tensor.dtype) != (AINT8, "INT8"):
        raise InvalidGraph(where, "AINT8 of INT8", f"{qparams.type} of {tensor.dtype}")
    counts = len(qparams.scales), len(qparams.zero_points)
    if counts not in ((1, 1), (tensor.dims[0],) * 2):
        raise InvalidGraph(where, f"1 or {tensor.dims[0]} scales and zero points", counts)
    if not all(0 < scale < float("inf") for scale in qparams.scales):
        raise InvalidGraph(where, "scales above 0", qparams.scales)
    if not all(-128 <= point <= 127 for point in qparams.zero_points):
        raise InvalidGraph(where, "zero points of int8", qparams.zero_points)


def is_quantized(tensor: Tensor) -> bool:
    return tensor.qparams not in (None, FLOATS)


def _given(tensor: Tensor, value: torch.Tensor) -> torch.Tensor:
    if value.dtype is not STORED[tensor.dtype]:
        raise InvalidGraph(f"tensor {tensor.name}", tensor.dtype, value.dtype)
    return check_dims("values of", tensor, value)


def _scale_and_point(tensor: Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sides = (tensor.qparams.scales, torch.float64), (tensor.qparams.zero_points, torch.int64)
    over = [-1] + [1] * (len(tensor.dims) - 1)
    scale, point = (torch.tensor(values, dtype=dtype).reshape(over) for values, dtype in sides)
    return scale, point


def _number(tensor: Tensor, stored: torch.Tensor) -> torch.Tensor:
    if is_quantized(tensor):
        scale, point = _scale_and_point(tensor)
        return (stored.to(torch.int64) - point) * scale
    return stored.to(torch.int64 if tensor.dtype in _WHOLE else torch.float64)


def _rounded(tensor: Tensor, number: torch.Tensor) -> torch.Tensor:
    """The nearest that is stored; of two as near, the even one. Whole numbers lose what is behind the point."""
    if is_quantized(tensor):
        scale, point = _scale_and_point(tensor)
        number = ((number / scale).round() + point).clamp(-128, 127)
    return number.to(STORED[tensor.dtype])


# ---- Operators ----


def _computed(graph: Graph, operator: Operator, stored: list[torch.Tensor]) -> list[torch.Tensor]:
    where, row = where_is(operator), OPERATORS.get(operator.type)
    if row is None:
        raise InvalidGraph(where, "a known operator", operator.type)
    inputs, outputs = graph.of(operator.inputs), graph.of(operator.outputs)
    few, many = row.inputs
    if not few <= len(inputs) <= many or len(outputs) != 1:
        found = f"{len(inputs)} and {len(outputs)}"
        raise InvalidGraph(where, f"{few} to {many} inputs, one output", found)
    (output,) = outputs
    (_check_conversion if row.converts else _check_types)(where, row, operator, inputs, output)
    quantized = is_quantized(output) and not row.converts
    parameters = row.read_parameters(operator, quantized)
    numbers = [_number(*each) for each in zip(inputs, stored, strict=True)]
    _check_constants(where, inputs, parameters.get("constant_index"))
    if row.converts:
        return [_rounded(output, *numbers)]
    try:
        return [_rounded(output, row.function(*numbers, **parameters))]
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        found = ", ".join(f"{each.dtype}{list(each.dims)}" for each in inputs)
        raise InvalidGraph(where, f"inputs that it takes: {error}", found) from error


def _check_constants(where: str, inputs: Sequence[Tensor], constant_index: int | None) -> None:
    """Of a join, at most one is a constant, and it is told."""
    if constant_index is not None:
        found = [place for place, each in enumerate(inputs) if each.data is not None]
        if found != [constant_index]:
            raise InvalidGraph(f"{where}, constant_index", f"[{constant_index}]", found)


def _check_conversion(
    where: str, row: Row, operator: Operator, inputs: list[Tensor], output: Tensor
) -> None:
    (given,) = inputs
    if operator.type == "CAST":
        if is_quantized(given) or is_quantized(output):
            raise InvalidGraph(where, "tensors that are not quantized", "a quantized one")
        if operator.parameters.get("out_dtype") != output.dtype:
            raise InvalidGraph(where, output.dtype, operator.parameters.get("out_dtype"))
        return
    quantized, plain = (output, given) if operator.type == "QUANTIZE" else (given, output)
    if not is_quantized(quantized) or is_quantized(plain) or plain.dtype in _WHOLE:
        raise InvalidGraph(where, "floats and int8", f"{plain.dtype} and {quantized.dtype}")
    wanted = quantized.qparams.scales, quantized.qparams.zero_points
    found = operator.parameters.get("scales"), operator.parameters.get("zero_points")
    if found != wanted:
        raise InvalidGraph(f"{where}, parameters", wanted, found)


def _check_types(
    where: str, row: Row, operator: Operator, inputs: list[Tensor], output: Tensor
) -> None:
    """Values of one type, beside which int8 may have floats as data; those of floats have no int8."""
    values = inputs[: row.data]
    if row.takes_places:
        if values[0].dtype not in _WHOLE or is_quantized(values[0]):
            raise InvalidGraph(where, "whole numbers as places", values[0].dtype)
        values = inputs[row.data :]
    kinds = {(each.dtype, is_quantized(each)) for each in (*values, output)}
    if len(kinds) != 1:
        raise InvalidGraph(where, "values of one type", sorted(kinds))
    if output.dtype in _WHOLE and not is_quantized(output) and not row.is_data_movement:
        raise InvalidGraph(where, "floats or quantized values", output.dtype)
    for each in inputs[row.data :] if row.data else ():
        is_mixed = is_quantized(each) and not is_quantized(output)
        if each.data is None or is_mixed:
            raise InvalidGraph(where, f"{each.name}: a constant as the values are", each.dtype)
    ranges = {each.qparams for each in (*values, output)} - {None, FLOATS}
    if row.is_data_movement and len(ranges) > 1:
        raise InvalidGraph(where, "qparams of the result as of the operands", ranges)
