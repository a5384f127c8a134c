# SPDX-License-Identifier: BSD-3-Clause
"""What NXP's converter makes of a TFLite model: another one, whose only operator is NeutronGraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from executorch.backends.nxp.aot.graph import SCHEMA

OPERATOR = "NeutronGraph"
_CONSTANTS = 3  # microcode, weights, kernels: the last inputs
_EXTRA_OUTPUTS = {1: 0, 3: 1}  # behind those of the graph: scratch; profile, debug, scratch


@dataclass(frozen=True)
class NeutronNodeArtifacts:
    """`input_indices`, `output_indices`: places among the model's inputs and outputs."""

    input_names: list[str]
    input_indices: list[int]
    output_names: list[str]
    output_indices: list[int]
    microcode: bytes
    weights: bytes
    kernels: bytes
    payload_version: int


def artifacts_in(model: bytes) -> NeutronNodeArtifacts:
    """RuntimeError for a model that is not what the converter gives."""
    try:
        root = SCHEMA.unpack(model)
    except ValueError as problem:
        raise RuntimeError(f"the converter's result is no TFLite model: {problem}") from problem
    if len(root.subgraphs or ()) != 1:
        raise RuntimeError(f"expected one subgraph, found {len(root.subgraphs or ())}")
    (graph,) = root.subgraphs
    names = [_kind(root.operator_codes[op.opcode_index]) for op in graph.operators or ()]
    if names != [OPERATOR]:
        raise RuntimeError(
            f"expected one operator {OPERATOR}, found {len(names)}: {', '.join(names)}"
        )
    (op,) = graph.operators
    sources, results = list(op.inputs or ()), list(op.outputs or ())
    data = [_data(root, graph, each) for each in sources[-_CONSTANTS:]]
    if len(data) != _CONSTANTS or not all(data):
        raise RuntimeError(
            "expected microcode, weights and kernels as the last inputs, found no data"
        )
    outside = list(graph.outputs or ())
    extra = len(results) - len(outside)
    if extra not in _EXTRA_OUTPUTS:
        raise RuntimeError(
            f"expected {OPERATOR} to write 1 or 3 tensors beside the {len(outside)} outputs, found {len(results)}"
        )
    inputs, outputs = sources[:-_CONSTANTS], results[: len(outside)]
    return NeutronNodeArtifacts(
        [graph.tensors[each].name for each in inputs],
        _places(graph.inputs or (), inputs, "inputs"),
        [graph.tensors[each].name for each in outputs],
        _places(outside, outputs, "outputs"),
        *data,
        _EXTRA_OUTPUTS[extra],
    )


def _kind(code: Any) -> str:
    return code.custom_code or code.builtin_code.name


def _data(root: Any, graph: Any, place: int) -> bytes:
    return bytes(root.buffers[graph.tensors[place].buffer].data or b"")


def _places(outside: Sequence[int], inside: Sequence[int], what: str) -> list[int]:
    missing = set(inside) - set(outside)
    if missing:
        raise RuntimeError(f"expected {what} of {OPERATOR} that are the model's, found {missing}")
    return [list(outside).index(each) for each in inside]
