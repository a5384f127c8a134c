# SPDX-License-Identifier: BSD-3-Clause
"""Recorded values: which one belongs to which operator of the model, and numbers about pairs of them.

Handles and values are chosen by hand; numbers are arithmetic, or what upstream's functions give for them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.devtools.etdump.schema_flatcc import (
    Bool,
    DebugEvent,
    ETDumpFlatCC,
    Event,
    Int,
    ProfileEvent,
    RunData,
    Value,
    ValueType,
)
from executorch.devtools.etdump.schema_flatcc import Tensor as RecordedTensor
from executorch.devtools.inspector._inspector import EventBlock
from executorch.devtools.inspector._inspector_utils import (
    calculate_cosine_similarity,
    calculate_mse,
    calculate_snr,
    convert_to_float_tensor,
    map_runtime_aot_intermediate_outputs,
    merge_runtime_overlapping_debug_handles,
    propagate_back_debug_handle,
)
from executorch.devtools.inspector.numerical_comparator import (
    L1Comparator,
    MSEComparator,
    SNRComparator,
)
from executorch.exir import to_edge
from executorch.exir.debug_handle_utils import UNSET_DEBUG_HANDLE
from executorch.exir.scalar_type import ScalarType


def of(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32)


# --- events ---


def value(number: int, is_output: bool = False) -> Value:
    empty = dict.fromkeys(("tensor", "tensor_list", "float_value", "double_value", "bool_value"))
    return Value(ValueType.INT.value, int_value=Int(number), output=Bool(is_output), **empty)


def tensor_value() -> Value:
    tensor = RecordedTensor(ScalarType.FLOAT, [1], [1], 0)
    empty = dict.fromkeys(("tensor_list", "int_value", "float_value", "double_value", "bool_value"))
    return Value(ValueType.TENSOR.value, tensor=tensor, output=Bool(False), **empty)


def debug(entry: Value, name: str | None = None, delegate: int | str = -1) -> Event:
    ids = (delegate, "") if isinstance(delegate, int) else (-1, delegate)
    return Event(None, None, DebugEvent(name, 0, 1, *ids, entry))


def times(name: str) -> Event:
    return Event(ProfileEvent(name, 0, 1, -1, "", None, 0, 10), None, None)


def blocks(*runs: list[Event], buffer: bytes | None = b"") -> list[EventBlock]:
    dump = ETDumpFlatCC(0, [RunData("Execute", -1, [], run) for run in runs])
    return EventBlock._gen_from_etdump(dump, output_buffer=buffer)


@pytest.mark.parametrize(
    "recorded, name",
    [
        (debug(value(3), "relu"), "relu"),
        (debug(value(3)), ""),
        (debug(value(3), "relu", 7), "7"),
        (debug(value(3), None, "conv"), "conv"),
    ],
)
def test_events_of_values_alone_have_names(recorded: Event, name: str) -> None:
    ((event,),) = (block.events for block in blocks([recorded]))
    assert (event.name, event.debug_data, event.perf_data) == (name, [3], None)


@pytest.mark.parametrize("buffer", [b"", None])
def test_runs_of_one_block_have_the_same_values(buffer: bytes | None) -> None:
    run = [times("add"), debug(value(3))]
    ((event,),) = (block.events for block in blocks(run, run, run, buffer=buffer))
    assert event.debug_data == [3] and len(event.perf_data.raw) == 3
    with pytest.raises(AssertionError, match="value 0 differs between runs"):
        blocks(run, [times("add"), debug(value(4))], buffer=buffer)


def test_outputs_need_no_buffer_unless_they_are_tensors() -> None:
    (block,) = blocks([debug(value(5, is_output=True))], buffer=None)
    assert block.run_output == [5]
    ((event,),) = (block.events for block in blocks([debug(tensor_value())], buffer=None))
    assert event.debug_data == []
    ((event,),) = (block.events for block in blocks([debug(tensor_value())], buffer=bytes(4)))
    assert event.debug_data == [of(0)]


# --- which belongs to which ---


def mapped(aot: dict[Any, Any], runtime: dict[Any, Any]) -> list[tuple[Any, Any]]:
    found = map_runtime_aot_intermediate_outputs(aot, runtime)
    for (aot_handle, _), (handle, _) in found.items():
        assert aot_handle == handle and handle in runtime
    return [(float(one.sum()), float(other.sum())) for (_, one), (_, other) in found.items()]


ONE_TO_SIX = {(number,): of(number) for number in range(1, 7)}


@pytest.mark.parametrize(
    "handles, given, count, pairs",
    [
        ((1,), of(10), 1, [(1, 10)]),
        ((1,), [of(10)], 1, [(1, 10)]),
        ((1, 2), [of(10), of(20)], 2, [(2, 20), (1, 10)]),
        ((2, 1), [of(10), of(20)], 2, [(1, 20), (2, 10)]),
        ((1, 2), [of(10), of(20)], 1, [(2, 20)]),
        ((1, 2), [of(5), of(10), of(20)], 2, [(2, 20), (1, 10)]),
        ((1, 2, 3), [of(10), of(20)], 2, [(3, 20), (2, 10)]),
        ((6, 7), [of(10)], 1, []),  # the model has no 7, whose value this is
        ((6, 7), [of(10), of(20)], 2, [(6, 10)]),  # the second is of 7
        ((7, 6), [of(20)], 1, [(6, 20)]),
        ((8,), of(10), 1, []),
    ],
)
def test_values_belong_to_the_last_operators(
    handles: tuple[int, ...], given: Any, count: int, pairs: list[Any]
) -> None:
    assert mapped(ONE_TO_SIX, {handles: (given, count)}) == pairs


def test_three_delegates_of_two_values() -> None:
    runtime = {(n, n + 1): ([of(10 * n), of(10 * n + 10)], 2) for n in (1, 3, 5)}
    assert sorted(mapped(ONE_TO_SIX, runtime)) == [(n, 10 * n) for n in range(1, 7)]


def test_a_value_of_other_sizes_is_another_operators() -> None:
    """Of four operators the delegate gives the second and the last."""
    aot = {(1,): of(1), (2,): of(2, 2), (3,): of(3), (4,): of(4, 4, 4)}
    runtime = {(1, 2, 3, 4): ([of(20, 20), of(40, 40, 40)], 2)}
    assert mapped(aot, runtime) == [(12, 120), (4, 40)]


def test_the_value_of_the_right_sizes_is_taken_of_several() -> None:
    assert mapped({(1,): of(1, 2)}, {(1,): ([of(10, 20), of(20)], 1)}) == [(3, 30)]


def test_two_instructions_of_one_handle_must_be_merged() -> None:
    with pytest.raises(ValueError, match="Expected only one runtime debug handle"):
        mapped({(1, 2): of(1)}, {(1,): (of(10), 1), (2,): (of(1), 1)})


@pytest.mark.parametrize(
    "given, handles, kept",
    [
        ({(1, 10): 1, (1, 7, 9): 3}, (10, 1, 7, 9), 3),
        ({(11, 13): 1, (11, 15): 2}, (13, 11, 15), 2),
        ({(11, 15): 2, (11, 13): 1}, (13, 11, 15), 2),
        ({(1, 2): 3, (2, 3): 1, (3, 4): 2}, (4, 3, 1, 2), 3),
        ({(1, 2): 1, (3, 4): 2, (2, 3): 3}, (4, 1, 2, 3), 3),
    ],
)
def test_merged_handles_end_with_those_of_the_last_instruction(
    given: dict[Any, int], handles: tuple[int, ...], kept: int
) -> None:
    runtime = {each: (instruction, f"of {instruction}", 1) for each, instruction in given.items()}
    apart = {(99,): (0, "apart", 2)}
    merged = merge_runtime_overlapping_debug_handles({**runtime, **apart})
    assert merged == {handles: (kept, f"of {kept}", 1), **apart}


# --- numbers about pairs ---


def test_metrics_are_rounded_lists_with_none_for_what_is_no_tensor() -> None:
    reference, found = [of(1, 2, 3), 3.0, None, [of(1)]], [of(1, 2, 4), 3.0, None, [of(2)]]
    assert calculate_mse(reference, found) == [0.33, None, None, None]
    assert calculate_snr(reference, found) == [11.46, None, None, None]  # 10 log10(14)
    cosine = round(17 / math.sqrt(14 * 21), 2)
    assert calculate_cosine_similarity(reference, found) == [cosine, None, None, None]
    whole = torch.tensor([1, 2])
    assert calculate_mse([whole], [whole + 1]) == [1.0]
    assert math.isnan(calculate_cosine_similarity([of(0, 0)], [of(1, 2)])[0])
    assert math.isnan(calculate_mse([of(math.nan)], [of(1)])[0])


@pytest.mark.parametrize("metric", [calculate_mse, calculate_snr, calculate_cosine_similarity])
def test_metrics_refuse_other_shapes(metric: Any) -> None:
    with pytest.raises(ValueError, match=r"the same shape: output 0 has \(3,\) and \(2,\)"):
        metric([of(1, 2, 3)], [of(1, 2)])


@pytest.mark.parametrize(
    "comparator, gap", [(L1Comparator, 1.0), (MSEComparator, 1 / 3), (SNRComparator, 11.4613)]
)
def test_comparators(comparator: Any, gap: float) -> None:
    compare = comparator().element_compare
    assert compare(of(1, 2, 3), of(1, 2, 4)) == pytest.approx(gap, rel=1e-5)
    assert compare(of(1), 1.0) == compare(of(2), of(2))
    for other in (of(1, 2), torch.ones(2, 3)):
        with pytest.raises(ValueError, match="expected values of one shape"):
            compare(of(1, 2, 3), other)


def test_what_becomes_a_float_tensor() -> None:
    assert torch.equal(convert_to_float_tensor(of(math.nan, 1)), torch.tensor([0.0, 1.0]).double())
    assert convert_to_float_tensor(True).item() == 1.0
    for sequence in ([1.0], (of(1),), "3"):
        with pytest.raises(AssertionError):
            convert_to_float_tensor(sequence)
    both = convert_to_float_tensor(torch.tensor([1 + 2j]))
    assert torch.equal(both, torch.tensor([[1.0, 2.0]]).double())  # no part is lost
    for other in (None, {"a": 1}, object(), 1 + 2j):
        with pytest.raises(ValueError):
            convert_to_float_tensor(other)


def test_calls_that_to_edge_removes_have_no_handle() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch._check(x.shape[0] > 1)
            return (x + 1).to(torch.float32).sum(1)

    program = export(Model(), (torch.ones(2, 3),))
    edge = to_edge(program).exported_program()
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    assert propagate_back_debug_handle(program, id(program.graph), edge) is True
    of_edge = {node.meta["debug_handle"] for node in edge.graph.nodes if node.op == "call_function"}
    handles = {node.name: node.meta["debug_handle"] for node in calls}
    assert handles["add"] in of_edge and handles["sum_1"] in of_edge
    removed = {name for name, handle in handles.items() if handle == UNSET_DEBUG_HANDLE}
    assert removed and removed == {name for name in handles if handles[name] not in of_edge}
    assert propagate_back_debug_handle(program, -1, edge) is False
