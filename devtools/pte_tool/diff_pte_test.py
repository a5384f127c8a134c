# SPDX-License-Identifier: BSD-3-Clause
"""Programs that differ in one thing, which is what the comparison names."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.devtools.pte_tool._tensors import _metadata
from executorch.devtools.pte_tool.diff_pte import (
    DataDiff,
    ElementDiff,
    FieldDiff,
    OperatorUsage,
    diff_pte,
    format_diff_result,
    main,
)
from executorch.exir import ExecutorchBackendConfig, schema, to_edge
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo
from executorch.exir.scalar_type import ScalarType


class Model(torch.nn.Module):
    def __init__(self, by: Any, top: float = 2.0, op: Any = torch.add) -> None:
        super().__init__()
        self.by = torch.nn.Parameter(torch.as_tensor(by))
        self.top, self.op = top, op

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.op(x, self.by).clamp(0, self.top)


ONES = torch.ones(2, 3)


def program(*given: Any, partitioner: Any = None, x: torch.Tensor = ONES, **named: Any) -> bytes:
    edge = to_edge(export(Model(*given, **named), (x,))).to_backend(partitioner)
    config = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    return edge.to_executorch(config).buffer


BASE = program(ONES)


def only(result: Any) -> Any:
    assert result.error is None and not result.bitwise_equal
    (plan,) = result.plan_diffs
    assert plan.has_differences()
    return plan


def edited(change: Any) -> bytes:
    file = deserialize_pte_binary(BASE)
    change(file)
    return bytes(serialize_pte_binary(file))


def test_equal_files() -> None:
    same = diff_pte(BASE, BASE)
    assert same.bitwise_equal and same.plan_diffs == [] and same.error is None
    assert (same.path_a, same.path_b, same.size_a, same.size_b) == ("A", "B", len(BASE), len(BASE))
    assert "Status: bitwise equal" in format_diff_result(same)


def test_elements_of_a_constant() -> None:
    changed = ONES.clone()
    changed[0, 1], changed[1, 2] = 4.0, -1.0
    plan = only(result := diff_pte(BASE, program(changed)))
    (diff,) = plan.tensor_diffs
    assert diff.bytes_differ and diff.metadata_diffs == [] and plan.evalue_diffs == []
    assert (diff.byte_size_a, diff.byte_size_b) == (24, 24)
    assert (diff.num_elements, diff.num_differing) == (6, 2)
    assert (diff.max_abs_diff, diff.mean_abs_diff) == (3.0, 2.5)  # 3 and 2
    assert diff.element_diffs == [
        ElementDiff(1, (0, 1), 1.0, 4.0),
        ElementDiff(5, (1, 2), 1.0, -1.0),
    ]
    named = diff.tensor_a
    assert (named.scalar_type, named.sizes) == (ScalarType.FLOAT, [2, 3])
    assert named.operator_usages == [OperatorUsage("aten::add.out", 1)]
    text = format_diff_result(result)
    assert "NOT bitwise equal" in text and "Differing tensors" in text and "2 of 6 elements" in text
    assert "[0, 1]: 1.0 vs 4.0" in format_diff_result(result, verbose=True) and "4.0" not in text


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int8, torch.int64])
def test_elements_of_other_types(dtype: torch.dtype) -> None:
    x = ONES.to(dtype)
    a, b = (
        bytes(to_edge(export(Buffered(by.to(dtype)), (x,))).to_executorch().buffer)
        for by in (ONES, 3 * ONES)
    )
    (diff,) = only(diff_pte(a, b)).tensor_diffs
    assert (diff.num_differing, diff.max_abs_diff) == (6, 2.0)


class Buffered(torch.nn.Module):
    def __init__(self, by: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("by", by)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.by


def test_the_order_of_memory_gives_the_place_of_an_element() -> None:
    by = torch.ones(1, 2, 2, 2).to(memory_format=torch.channels_last)
    x = by.clone()
    other = by.clone()
    other[0, 1, 0, 0] = 5.0  # the second element in memory: channels run fastest
    (diff,) = only(diff_pte(program(by, x=x), program(other, x=x))).tensor_diffs
    assert diff.element_diffs == [ElementDiff(1, (0, 1, 0, 0), 1.0, 5.0)]


def test_not_a_number_is_counted() -> None:
    nan = torch.tensor([[math.nan, 1, 1], [1, 1, math.inf]])
    (diff,) = only(diff_pte(BASE, program(nan))).tensor_diffs
    assert diff.num_differing == 2 and not math.isfinite(diff.max_abs_diff)
    assert diff_pte(program(nan), program(nan.clone())).plan_diffs == []


def test_a_number() -> None:
    plan = only(result := diff_pte(BASE, program(ONES, top=3.0)))
    (diff,) = plan.evalue_diffs
    assert plan.tensor_diffs == [] and (diff.type_a, diff.type_b) == ("Double", "Double")
    assert not diff.type_mismatch
    assert diff.field_diffs == [FieldDiff("double_val", 2.0, 3.0)]
    assert diff.operator_usages_a == [OperatorUsage("aten::clamp.out", 2)]
    assert "double_val: 2.0 vs 3.0" in format_diff_result(result)


def test_operators_and_types_of_values() -> None:
    plan = only(diff_pte(BASE, program(ONES, op=torch.mul)))
    assert plan.operators_only_in_a == ["aten::add.out"]
    assert plan.operators_only_in_b == ["aten::mul.out"]
    mismatches = [each for each in plan.evalue_diffs if each.type_mismatch]
    assert mismatches and mismatches[0].type_a == "Int"  # alpha, which mul has not
    assert plan.value_count_a == plan.value_count_b + 1
    assert plan.instruction_count_a is None and plan.name_a is None


def test_sizes_and_memory() -> None:
    plan = only(diff_pte(BASE, program(torch.ones(2, 9), x=torch.ones(2, 9))))
    fields = {field.field_name for diff in plan.tensor_diffs for field in diff.metadata_diffs}
    assert "sizes" in fields
    assert plan.non_const_buffer_sizes_a[1] < plan.non_const_buffer_sizes_b[1]
    constant = next(diff for diff in plan.tensor_diffs if diff.bytes_differ)
    assert (constant.byte_size_a, constant.byte_size_b) == (24, 72)
    assert constant.num_differing == 0  # elements of other sizes have nothing to do with each other


@pytest.mark.parametrize(
    "field, value",
    [
        ("scalar_type", ScalarType.INT),
        ("requires_grad", False),
        ("layout", 1),
        ("storage_offset", 8),
    ],
)
def test_each_field_of_a_tensor(field: str, value: Any) -> None:
    def tensor() -> Any:
        values = deserialize_pte_binary(BASE).program.execution_plan[0].values
        return next(each.val for each in values if isinstance(each.val, schema.Tensor))

    changed = tensor()
    setattr(changed, field, value)
    (found,) = _metadata(tensor(), changed)
    assert found == FieldDiff(field, getattr(tensor(), field), value)


def test_delegates_and_what_is_in_them() -> None:
    lowered = program(ONES, partitioner=AddMulPartitionerDemo())
    plan = only(diff_pte(BASE, lowered))
    assert plan.delegates_only_in_b == ["BackendWithCompilerDemo"] and not plan.delegates_only_in_a
    other = program(ONES, op=lambda x, by: x + by + x, partitioner=AddMulPartitionerDemo())
    plan = only(result := diff_pte(lowered, other))
    ((key, size_a, size_b),) = [(d.key, d.size_a, d.size_b) for d in plan.delegate_diffs]
    assert key == "delegate 0: BackendWithCompilerDemo" and size_a and size_b
    assert key in format_diff_result(result)


def test_usages_in_delegates() -> None:
    lowered = program(ONES, partitioner=AddMulPartitionerDemo())
    changed = program(2 * ONES, partitioner=AddMulPartitionerDemo())
    for diff in only(diff_pte(lowered, changed)).tensor_diffs:
        assert diff.tensor_a.operator_usages[0].name == "delegate:BackendWithCompilerDemo"


def test_methods() -> None:
    exported = export(Model(ONES), (ONES,))
    made = {
        names: to_edge(dict.fromkeys(names, exported)).to_executorch().buffer
        for names in (("one", "two"), ("one", "three"), ("two",))
    }
    renamed = only(diff_pte(made["one", "two"], made["one", "three"]))
    assert {renamed.name_a, renamed.name_b} == {"two", "three"}
    fewer = diff_pte(made["one", "two"], made["two",])
    assert fewer.extra_plans_in_a == ["one"] and fewer.extra_plans_in_b == []
    assert fewer.plan_diffs == [] and "Extra plans in A: one" in format_diff_result(fewer)
    assert diff_pte(made["two",], made["one", "two"]).extra_plans_in_b == ["one"]


def test_the_version() -> None:
    def newer(file: Any) -> None:
        file.program.version += 1

    result = diff_pte(BASE, edited(newer))
    assert (result.version_a, result.version_b) == (0, 1) and result.plan_diffs == []
    assert "Version: 0 vs 1" in format_diff_result(result)
    assert diff_pte(BASE, program(ONES, top=3.0)).version_a is None


def test_named_data() -> None:
    def with_data(**blobs: bytes) -> bytes:
        store = NamedDataStore()
        for key, data in blobs.items():
            store.add_named_data(key, data)

        def add(file: Any) -> None:
            file.named_data = store.get_named_data_store_output()

        return edited(add)

    result = diff_pte(with_data(a=b"12", b=b"3"), with_data(b=b"34", c=b"567"))
    assert result.named_data_diffs == [
        DataDiff("a", 2, None),
        DataDiff("b", 1, 2),
        DataDiff("c", None, 3),
    ]
    assert "Named data b: 1 bytes vs 2 bytes" in format_diff_result(result)


def test_start_values_of_buffers_are_matched_by_name() -> None:
    class Counter(torch.nn.Module):
        def __init__(self, start: float) -> None:
            super().__init__()
            self.register_buffer("seen", torch.full((2, 3), start))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen.add_(x)
            return self.seen * 2

    config = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    a, b = (
        to_edge(export(Counter(start), (ONES,))).to_executorch(config).buffer
        for start in (1.0, 4.0)
    )
    (diff,) = only(diff_pte(a, b)).tensor_diffs
    assert diff.tensor_a.fqn == "seen" and diff.max_abs_diff == 3.0


def test_the_same_in_another_place() -> None:
    file = deserialize_pte_binary(BASE)
    moved = bytes(serialize_pte_binary(file, segment_alignment=4096))
    result = diff_pte(BASE, moved)
    assert not result.bitwise_equal and result.plan_diffs == []
    assert "they stand elsewhere" in format_diff_result(result)


def test_what_is_no_program() -> None:
    for a, b in ((BASE, b"text" * 20), (b"text" * 20, BASE)):
        broken = diff_pte(a, b, "a.pte", "b.pte")
        name = "b.pte" if a is BASE else "a.pte"
        assert f"Deserialization failed: {name}: expected a program file" in broken.error
        assert broken.plan_diffs == [] and broken.error in format_diff_result(broken)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, by in (("a.pte", ONES), ("b.pte", 2 * ONES)):
        (tmp_path / name).write_bytes(program(by))
    a, b = str(tmp_path / "a.pte"), str(tmp_path / "b.pte")
    assert main([a, a]) == 0 and main([a, b, "--verbose", "--max-samples", "1"]) == 1
    printed = capsys.readouterr().out
    assert "[0, 0]: 1.0 vs 2.0" in printed and "[0, 1]" not in printed
    assert main([a, __file__]) == 2
    assert main([a, str(tmp_path / "no.pte")]) == 2
    assert "no.pte" in capsys.readouterr().err
