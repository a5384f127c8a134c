# SPDX-License-Identifier: BSD-3-Clause
"""Methods of two programs: calls, values, memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from executorch.devtools.pte_tool._results import (
    DataDiff,
    EValueDiff,
    ExecutionPlanDiff,
    FieldDiff,
    OperatorUsage,
    TensorInfo,
)
from executorch.devtools.pte_tool._tensors import compare_tensors, fqn_of, info_of
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile
from executorch.exir.dump import operator_name

Usages = dict[int, list[OperatorUsage]]
# Of a plan, besides what has fields of its own in ExecutionPlanDiff.
_DESCRIPTIONS = ("inputs", "outputs", "container_meta_type", "non_const_buffer_device")


def compare_plans(
    index: int, file_a: PTEFile, a: schema.ExecutionPlan, file_b: PTEFile, b: schema.ExecutionPlan, most: int
) -> ExecutionPlanDiff:  # fmt: skip
    """`most`: how many elements and instructions are listed."""
    usages_a, usages_b = _usages(a), _usages(b)
    pairs, alone_a, alone_b = _pair(a, b)
    tensors = [
        compare_tensors(
            file_a, _described(a, one, usages_a), file_b, _described(b, other, usages_b), most
        )
        for one, other in pairs
    ]
    delegates_a, delegates_b = ([each.id for each in plan.delegates] for plan in (a, b))
    operators_a, operators_b = _operators(a), _operators(b)
    instructions_a, instructions_b = _instructions(a), _instructions(b)
    return ExecutionPlanDiff(
        index,
        *_if_different(a.name, b.name),
        _without(operators_a, operators_b),
        _without(operators_b, operators_a),
        _without(delegates_a, delegates_b),
        _without(delegates_b, delegates_a),
        *_if_different(list(a.non_const_buffer_sizes), list(b.non_const_buffer_sizes)),
        *_if_different(len(a.values), len(b.values)),
        *_if_different(len(instructions_a), len(instructions_b)),
        [each for each in tensors if each.has_differences()],
        list(_values(a, usages_a, b, usages_b)),
        [_described(a, each, usages_a)[0] for each in alone_a],
        [_described(b, each, usages_b)[0] for each in alone_b],
        [
            FieldDiff(name, getattr(a, name), getattr(b, name))
            for name in _DESCRIPTIONS
            if (getattr(a, name) or None) != (getattr(b, name) or None)
        ],
        [
            FieldDiff(key, instructions_a.get(key), instructions_b.get(key))
            for key in dict.fromkeys([*instructions_a, *instructions_b])
            if instructions_a.get(key) != instructions_b.get(key)
        ][:most],
        _blobs(file_a, a, file_b, b),
    )


def _described(
    plan: schema.ExecutionPlan, index: int, usages: Usages
) -> tuple[TensorInfo, schema.Tensor]:
    tensor = plan.values[index].val
    return info_of(index, tensor, usages.get(index, [])), tensor


def _pair(
    a: schema.ExecutionPlan, b: schema.ExecutionPlan
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Tensors with a name by it, others by their place; then those that are in one program alone."""
    named_a, named_b = _by_name(a), _by_name(b)
    pairs = {index: named_b[name] for name, index in named_a.items() if name in named_b}
    taken = set(pairs.values())
    for index, value in enumerate(a.values[: len(b.values)]):
        other = b.values[index].val
        if index in pairs or index in taken or not isinstance(other, schema.Tensor):
            continue
        if isinstance(value.val, schema.Tensor) and (fqn_of(value.val) or fqn_of(other)) is None:
            pairs[index] = index
    taken = set(pairs.values())
    tensors_a, tensors_b = (
        [index for index, each in enumerate(plan.values) if isinstance(each.val, schema.Tensor)]
        for plan in (a, b)
    )
    alone_a = [index for index in tensors_a if index not in pairs]
    return sorted(pairs.items()), alone_a, [index for index in tensors_b if index not in taken]


def _by_name(plan: schema.ExecutionPlan) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, value in enumerate(plan.values):
        name = fqn_of(value.val) if isinstance(value.val, schema.Tensor) else None
        if name is not None:
            found.setdefault(name, index)
    return found


def _values(
    a: schema.ExecutionPlan, usages_a: Usages, b: schema.ExecutionPlan, usages_b: Usages
) -> Iterator[EValueDiff]:
    for index, (one, other) in enumerate(zip(a.values, b.values)):
        if isinstance(one.val, schema.Tensor) and isinstance(other.val, schema.Tensor):
            continue
        names = type(one.val).__name__, type(other.val).__name__
        differing = list(_fields(one.val, other.val)) if names[0] == names[1] else []
        if differing or names[0] != names[1]:
            used = usages_a.get(index, []), usages_b.get(index, [])
            yield EValueDiff(index, *names, names[0] != names[1], differing, *used)


def _fields(a: Any, b: Any) -> Iterator[FieldDiff]:
    for each in fields(a):
        one, other = getattr(a, each.name), getattr(b, each.name)
        if repr(one) != repr(other):  # so that a NaN equals itself, and 0.0 does not equal -0.0
            yield FieldDiff(each.name, one, other)


def _calls(plan: schema.ExecutionPlan) -> Iterator[tuple[str, str, Any]]:
    """ "chain.instruction", a text that tells what it is, and its arguments."""
    for chain_index, chain in enumerate(plan.chains):
        for index, instruction in enumerate(chain.instructions):
            what = instruction.instr_args
            if isinstance(what, schema.KernelCall):
                name = operator_name(plan, what)
            elif isinstance(what, schema.DelegateCall):
                name = f"delegate:{plan.delegates[what.delegate_index].id}"
            else:
                name = str(what)
            yield f"{chain_index}.{index}", name, getattr(what, "args", ())


def _instructions(plan: schema.ExecutionPlan) -> dict[str, str]:
    return {
        place: f"{name}({', '.join(map(str, arguments))})" if arguments else name
        for place, name, arguments in _calls(plan)
    }


def _usages(plan: schema.ExecutionPlan) -> Usages:
    """Of each value the calls that are given it, by itself or in a list."""
    found: Usages = {}
    for _, name, arguments in _calls(plan):
        for position, argument in enumerate(arguments):
            value = plan.values[argument].val
            inside = (
                value.items
                if isinstance(value, (schema.TensorList, schema.OptionalTensorList))
                else ()
            )
            for index in (argument, *inside):
                found.setdefault(index, []).append(OperatorUsage(name, position))
    return found


def _operators(plan: schema.ExecutionPlan) -> list[str]:
    return [
        f"{each.name}.{each.overload}" if each.overload else each.name for each in plan.operators
    ]


def _without(names: list[str], others: list[str]) -> list[str]:
    return sorted(set(names) - set(others))


def _if_different(a: Any, b: Any) -> tuple[Any, Any]:
    return (None, None) if a == b else (a, b)


def _blobs(
    file_a: PTEFile, a: schema.ExecutionPlan, file_b: PTEFile, b: schema.ExecutionPlan
) -> list[DataDiff]:
    """Delegates of one name at one place, by what they hold."""
    found = []
    for index, (one, other) in enumerate(zip(a.delegates, b.delegates)):
        if one.id != other.id:
            continue
        blob_a, blob_b = (
            bytes(file.program.backend_delegate_data[each.processed.index].data)
            for file, each in ((file_a, one), (file_b, other))
        )
        if blob_a != blob_b or one.compile_specs != other.compile_specs:
            found.append(DataDiff(f"delegate {index}: {one.id}", len(blob_a), len(blob_b)))
    return found
