# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as text: what differs by name; with numbers and elements when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from executorch.devtools.pte_tool._results import (
    DataDiff,
    EValueDiff,
    ExecutionPlanDiff,
    FieldDiff,
    OperatorUsage,
    PTEDiffResult,
    TensorDataDiff,
    TensorInfo,
)

_FEW = 10  # rows of a kind, unless verbose


def format_diff_result(result: PTEDiffResult, verbose: bool = False) -> str:
    """With `verbose` all rows, and the elements of constants that differ."""
    return "\n".join(_lines(result, verbose))


def _lines(result: PTEDiffResult, verbose: bool) -> Iterator[str]:
    status = "bitwise equal" if result.bitwise_equal else "NOT bitwise equal"
    yield (
        f"Comparing: {result.path_a} ({result.size_a:,} bytes) vs {result.path_b} ({result.size_b:,} bytes)"
    )
    yield f"Status: {status}"
    if result.error is not None:
        yield f"Error: {result.error}"
    if result.bitwise_equal or result.error is not None:
        return
    before = len(body := list(_program(result, verbose)))
    if not before:
        yield "Same methods, operators and data; they stand elsewhere in the file."
    yield from body


def _program(result: PTEDiffResult, verbose: bool) -> Iterator[str]:
    if result.version_a != result.version_b:
        yield f"Version: {result.version_a} vs {result.version_b}"
    for where, names in (("A", result.extra_plans_in_a), ("B", result.extra_plans_in_b)):
        if names:
            yield f"Extra plans in {where}: {', '.join(names)}"
    for diff in result.plan_diffs:
        yield from _plan(diff, verbose)
    for data in result.named_data_diffs:
        yield f"Named data {_data(data)}"


def _plan(diff: ExecutionPlanDiff, verbose: bool) -> Iterator[str]:
    renamed = "" if diff.name_a is None else f" (name differs: {diff.name_a!r} vs {diff.name_b!r})"
    yield f"Plan {diff.plan_index}{renamed}:"
    for what, attribute in (("Operators", "operators"), ("Delegates", "delegates")):
        for where in "ab":
            names = getattr(diff, f"{attribute}_only_in_{where}")
            if names:
                yield f"  {what} only in {where.upper()}: {', '.join(names)}"
    for what, attribute in (
        ("Sizes of planned memory", "non_const_buffer_sizes"),
        ("Value count", "value_count"),
        ("Instruction count", "instruction_count"),
    ):
        a, b = getattr(diff, f"{attribute}_a"), getattr(diff, f"{attribute}_b")
        if a != b:
            yield f"  {what}: {a} vs {b}"
    yield from map(_field, diff.field_diffs)
    yield from _few("Instructions", [_field(each) for each in diff.instruction_diffs], verbose)
    for data in diff.delegate_diffs:
        yield f"  Blob or options of {_data(data)}"
    tensors = [line for each in diff.tensor_diffs for line in _tensor(each, verbose)]
    yield from _few("Differing tensors", tensors, verbose)
    for where, alone in (("A", diff.tensors_only_in_a), ("B", diff.tensors_only_in_b)):
        rows = [f"    {_name(each)}" for each in alone]
        yield from _few(f"Tensors only in {where}", rows, verbose)
    values = [line for each in diff.evalue_diffs for line in _value(each)]
    yield from _few("Differing values", values, verbose)


def _few(title: str, rows: Sequence[str], verbose: bool) -> Iterator[str]:
    if not rows:
        return
    yield f"  {title}:"
    shown = rows if verbose else rows[:_FEW]
    yield from (f"  {row}" if not row.startswith("    ") else row for row in shown)
    if len(shown) < len(rows):
        yield f"    ... and {len(rows) - len(shown)} more lines (--verbose)"


def _field(diff: FieldDiff) -> str:
    return f"  {diff.field_name}: {diff.value_a} vs {diff.value_b}"


def _data(data: DataDiff) -> str:
    sizes = ("absent" if size is None else f"{size:,} bytes" for size in (data.size_a, data.size_b))
    return f"{data.key}: {' vs '.join(sizes)}"


def _name(tensor: TensorInfo) -> str:
    named = f" ({tensor.fqn})" if tensor.fqn else ""
    kind = f"{tensor.scalar_type.name} {tensor.sizes}"
    return f"value {tensor.evalue_index}{named}, {kind}{_used(tensor.operator_usages)}"


def _used(usages: Sequence[OperatorUsage]) -> str:
    names = dict.fromkeys(f"{each.name} argument {each.arg_index}" for each in usages)
    return f", in {'; '.join(names)}" if names else ""


def _tensor(diff: TensorDataDiff, verbose: bool) -> Iterator[str]:
    yield f"    {_name(diff.tensor_a)}"
    for field in diff.metadata_diffs:
        yield f"    {_field(field)}"
    if diff.num_differing:
        yield (
            f"      {diff.num_differing} of {diff.num_elements} elements differ: by {diff.max_abs_diff:.6g} at most, "
            f"{diff.mean_abs_diff:.6g} on average"
        )
    elif diff.bytes_differ:
        yield f"      data: {diff.byte_size_a:,} vs {diff.byte_size_b:,} bytes"
    for element in diff.element_diffs if verbose else ():
        yield f"      {list(element.multi_index)}: {element.value_a} vs {element.value_b}"


def _value(diff: EValueDiff) -> Iterator[str]:
    usages = diff.operator_usages_a or diff.operator_usages_b
    kind = diff.type_a if not diff.type_mismatch else f"{diff.type_a} vs {diff.type_b}"
    yield f"    value {diff.evalue_index}, {kind}{_used(usages)}"
    for field in diff.field_diffs:
        yield f"    {_field(field)}"
