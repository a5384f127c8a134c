# SPDX-License-Identifier: BSD-3-Clause
"""Runs a graph on the CPU: floats in float32; quantized tensors as the integers they hold, with exact sums of products
and results rounded to their encodings. A graph that QNN's definitions do not allow is refused."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from executorch.backends.qualcomm.aot.graph import PACKAGE, Graph, Operator, Tensor, TensorType
from executorch.backends.qualcomm.test.reference import (
    conversions,
    data_movement,
    elementwise,
    gemm,
    images,
    indexing,
    norms,
    pooling,
    reductions,
)
from executorch.backends.qualcomm.test.reference.quantized_values import (
    STORED,
    check_encoding,
    factored,
    kind,
    limits,
    number_of,
    stored_of,
)
from executorch.backends.qualcomm.test.reference.row import Call, Row
from executorch.backends.test.graph_run import (
    InvalidGraph,
    check_dims,
    results_of,
    run_operators,
    where_is,
)

_FAMILIES = (
    elementwise,
    gemm,
    pooling,
    norms,
    reductions,
    data_movement,
    indexing,
    images,
    conversions,
)
OPERATORS: dict[str, Row] = {name: row for each in _FAMILIES for name, row in each.ROWS.items()}


def evaluate(graph: Graph, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """`inputs` and results as they are stored: quantized ones are integers."""
    return results_of(graph, all_values(graph, inputs))


def all_values(graph: Graph, inputs: Sequence[torch.Tensor]) -> dict[int, torch.Tensor]:
    """Of each tensor, by its place."""
    held = {}
    for place, tensor in enumerate(graph.tensors):
        check_encoding(tensor)
        if tensor.type is TensorType.STATIC:
            held[place] = _given(tensor, tensor.data)
    if len(inputs) != len(graph.inputs):
        raise InvalidGraph(f"graph {graph.name}", f"{len(graph.inputs)} inputs", len(inputs))
    for place, value in zip(graph.inputs, inputs, strict=True):
        held[place] = _given(graph.tensors[place], value)
    return run_operators(graph, held, partial(_computed, graph))


def _given(tensor: Tensor, value: torch.Tensor) -> torch.Tensor:
    """Integers may come in a wider type."""
    where, wanted = f"tensor {tensor.name}", STORED.get(tensor.dtype)
    if wanted is None:
        raise InvalidGraph(where, "a type of values", tensor.dtype.name)
    if value is None or tuple(value.shape or (1,)) != tensor.dims:
        raise InvalidGraph(
            where, f"values of {tensor.dims}", None if value is None else value.shape
        )
    is_integer = not value.is_floating_point() and value.dtype is not torch.bool
    wants_integer = not wanted.is_floating_point and wanted is not torch.bool
    if value.dtype is not wanted and not (is_integer and wants_integer):
        raise InvalidGraph(where, f"{wanted} for {tensor.dtype.name}", value.dtype)
    if value.dtype is not wanted and value.numel():
        least, most = limits(tensor.dtype)
        wide = value.to(torch.int64)
        if not least <= int(wide.min()) <= int(wide.max()) <= most:
            raise InvalidGraph(
                where, f"{least} to {most}", f"{int(wide.min())} to {int(wide.max())}"
            )
    return value.reshape(tensor.dims).to(wanted)


def _computed(graph: Graph, operator: Operator, stored: list[torch.Tensor]) -> list[torch.Tensor]:
    where = where_is(operator)
    row = OPERATORS.get(operator.type) if operator.package == PACKAGE else None
    if row is None:
        raise InvalidGraph(where, f"a known operator of {PACKAGE}", operator.package)
    call = Call(operator, tuple(graph.of(operator.inputs)), tuple(graph.of(operator.outputs)))
    _check_tensors(where, row, call)
    rank = len(call.inputs[0].dims) if call.inputs else 0
    parameters = row.read_parameters(operator, rank)
    numbers = _numbers(row, call, stored)
    try:
        found = row.function(*([call] if row.takes_call else []), *numbers, **parameters)
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        found = ", ".join(f"{each.dtype.name}{list(each.dims)}" for each in call.inputs)
        raise InvalidGraph(where, f"inputs that it takes: {error}", found) from error
    results = found if isinstance(found, tuple) else (found,)
    if len(results) != len(call.outputs):
        raise InvalidGraph(where, f"{len(results)} outputs", len(call.outputs))
    return [_stored(where, *each) for each in zip(call.outputs, results, strict=True)]


def _numbers(row: Row, call: Call, stored: list[torch.Tensor]) -> list:
    """Of quantized operators in float64, which holds every sum of products that occurs."""
    is_quantized = any(each.encoding for each in (*call.inputs, *call.outputs))
    real = torch.float64 if is_quantized else torch.float32
    pairs = list(zip(call.inputs, stored, strict=True))
    axes = row.factored_axes or ()
    read = [factored(*pair, real, axis) for pair, axis in zip(pairs, axes, strict=False)]
    return read + [number_of(*pair, real) for pair in pairs[len(axes) :]]


def _stored(where: str, tensor: Tensor, result: torch.Tensor) -> torch.Tensor:
    kinds = {torch.bool: "bool", torch.int64: "integer"}
    found = kinds.get(result.dtype, "float")
    if found != kind(tensor.dtype):
        raise InvalidGraph(f"{where}, output {tensor.name}", f"type {found}", tensor.dtype.name)
    return stored_of(tensor, check_dims(f"{where}, output", tensor, result))


def _check_tensors(where: str, row: Row, call: Call) -> None:
    """Types and encodings fit one another."""
    for name, found, (few, many) in (
        ("inputs", call.inputs, row.inputs),
        ("outputs", call.outputs, row.outputs),
    ):
        if not few <= len(found) <= many:
            raise InvalidGraph(where, f"{few} to {many} {name}", len(found))
    _check_types(where, row, call)
    if row.converts:
        return
    floats = [each for each in (*call.inputs, *call.outputs) if kind(each.dtype) == "float"]
    plain = {each.dtype.name for each in floats if each.encoding is None}
    if len(plain) > 1:
        raise InvalidGraph(where, "one type of floats", sorted(plain))
    # Weights alone may be quantized where activations are floats.
    weights = call.inputs[1:2] if row.factored_axes and not call.outputs[0].encoding else ()
    quantized = [each.name for each in floats if each.encoding and each not in weights]
    if plain and quantized:
        raise InvalidGraph(where, "floats only or quantized tensors only", f"{quantized} quantized")
    first, output = call.inputs[0], call.outputs[0]
    if kind(first.dtype) == kind(output.dtype) == "integer" and first.dtype is not output.dtype:
        raise InvalidGraph(where, f"{output.name} of {first.dtype.name}", output.dtype.name)
    if row.is_data_movement:
        _check_moved(where, call)


def _check_types(where: str, row: Row, call: Call) -> None:
    """That inputs are of the types that the operator is defined for."""
    *first, rest = row.takes
    wanted = [*first, *[rest] * (len(call.inputs) - len(first))]
    for tensor, kinds in zip(call.inputs, wanted, strict=True):
        if not {kind(tensor.dtype), tensor.dtype.name} & set(kinds.split()):
            raise InvalidGraph(where, f"{tensor.name} of {kinds}", tensor.dtype.name)
    plain = {each.dtype.name for each in call.inputs[len(first) :] if each.encoding is None}
    if len(plain) > 1:
        raise InvalidGraph(where, "inputs of one type", sorted(plain))


def _check_moved(where: str, call: Call) -> None:
    """The outputs of input 0's kind are of its type and encoding."""
    first = call.inputs[0]
    for output in call.outputs:
        same = (output.dtype, output.encoding) == (first.dtype, first.encoding)
        if kind(output.dtype) == kind(first.dtype) == "float" and not same:
            wanted = f"{output.name} with {first.dtype.name} {first.encoding}"
            raise InvalidGraph(where, wanted, f"{output.dtype.name} {output.encoding}")
