# SPDX-License-Identifier: BSD-3-Clause
"""What diff_pte found. A pair of fields `..._a` and `..._b` is None where both files say the same."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from executorch.exir.scalar_type import ScalarType


class OperatorUsage(NamedTuple):
    """A call that is given a value: "aten::add.out" or "delegate:XnnpackBackend", and which argument it is."""

    name: str
    arg_index: int


@dataclass(frozen=True)
class FieldDiff:
    field_name: str
    value_a: Any
    value_b: Any


@dataclass(frozen=True)
class ElementDiff:
    flat_index: int
    multi_index: tuple[int, ...]
    value_a: Any
    value_b: Any


@dataclass(frozen=True)
class TensorInfo:
    """`fqn`: the name of a parameter, a buffer or of external data, None for others."""

    evalue_index: int
    scalar_type: ScalarType
    sizes: list[int]
    fqn: str | None
    data_buffer_idx: int
    operator_usages: list[OperatorUsage]


@dataclass(frozen=True)
class TensorDataDiff:
    """`byte_size_a`, `byte_size_b`: of the data in the file, 0 for tensors without. Elements are compared when both
    sides have data of one type and one count; `mean_abs_diff` is over those that differ."""

    tensor_a: TensorInfo
    tensor_b: TensorInfo
    byte_size_a: int = 0
    byte_size_b: int = 0
    bytes_differ: bool = False
    metadata_diffs: list[FieldDiff] = field(default_factory=list)
    num_elements: int = 0
    num_differing: int = 0
    max_abs_diff: float = 0.0
    mean_abs_diff: float = 0.0
    element_diffs: list[ElementDiff] = field(default_factory=list)

    def has_differences(self) -> bool:
        return self.bytes_differ or bool(self.metadata_diffs)


@dataclass(frozen=True)
class EValueDiff:
    """A value that is no tensor on one side at least; types are "Int", "Null", "Tensor", ..."""

    evalue_index: int
    type_a: str
    type_b: str
    type_mismatch: bool = False
    field_diffs: list[FieldDiff] = field(default_factory=list)
    operator_usages_a: list[OperatorUsage] = field(default_factory=list)
    operator_usages_b: list[OperatorUsage] = field(default_factory=list)


@dataclass(frozen=True)
class DataDiff:
    """Bytes with a name: named data, or the blob of a delegate. A size is None where the file has none."""

    key: str
    size_a: int | None
    size_b: int | None


@dataclass(frozen=True)
class ExecutionPlanDiff:
    """Of one method. `plan_index`: in file a. `field_diffs`: inputs, outputs and what else describes the method;
    `instruction_diffs`: the first ones that differ, by "chain.instruction"; `delegate_diffs`: blobs of delegates that
    both files have."""

    plan_index: int
    name_a: str | None = None
    name_b: str | None = None
    operators_only_in_a: list[str] = field(default_factory=list)
    operators_only_in_b: list[str] = field(default_factory=list)
    delegates_only_in_a: list[str] = field(default_factory=list)
    delegates_only_in_b: list[str] = field(default_factory=list)
    non_const_buffer_sizes_a: list[int] | None = None
    non_const_buffer_sizes_b: list[int] | None = None
    value_count_a: int | None = None
    value_count_b: int | None = None
    instruction_count_a: int | None = None
    instruction_count_b: int | None = None
    tensor_diffs: list[TensorDataDiff] = field(default_factory=list)
    evalue_diffs: list[EValueDiff] = field(default_factory=list)
    tensors_only_in_a: list[TensorInfo] = field(default_factory=list)
    tensors_only_in_b: list[TensorInfo] = field(default_factory=list)
    field_diffs: list[FieldDiff] = field(default_factory=list)
    instruction_diffs: list[FieldDiff] = field(default_factory=list)
    delegate_diffs: list[DataDiff] = field(default_factory=list)

    def has_differences(self) -> bool:
        found = (getattr(self, each.name) for each in fields(self)[1:])
        return any(value is not None and value != [] for value in found)


@dataclass(frozen=True)
class PTEDiffResult:
    """`error`: why a file could not be read; the rest is empty then. `extra_plans_in_a`, `..._b`: names of methods that
    the other file has no counterpart of."""

    path_a: str
    path_b: str
    size_a: int
    size_b: int
    bitwise_equal: bool
    version_a: int | None = None
    version_b: int | None = None
    plan_diffs: list[ExecutionPlanDiff] = field(default_factory=list)
    extra_plans_in_a: list[str] = field(default_factory=list)
    extra_plans_in_b: list[str] = field(default_factory=list)
    named_data_diffs: list[DataDiff] = field(default_factory=list)
    error: str | None = None
