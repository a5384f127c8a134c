# SPDX-License-Identifier: BSD-3-Clause
"""Two program files held against each other, value by value; `python -m executorch.devtools diff` counts operators and
bytes by part.

python -m executorch.devtools.pte_tool.diff_pte before.pte after.pte --verbose
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from executorch.devtools.pte_tool._plans import compare_plans
from executorch.devtools.pte_tool._results import (
    DataDiff,
    ElementDiff,
    EValueDiff,
    ExecutionPlanDiff,
    FieldDiff,
    OperatorUsage,
    PTEDiffResult,
    TensorDataDiff,
    TensorInfo,
)
from executorch.devtools.pte_tool._text import format_diff_result
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile, deserialize_pte_binary

__all__ = [
    "DataDiff", "EValueDiff", "ElementDiff", "ExecutionPlanDiff", "FieldDiff", "OperatorUsage", "PTEDiffResult",
    "TensorDataDiff", "TensorInfo", "diff_pte", "format_diff_result",
]  # fmt: skip


def diff_pte(
    data_a: bytes, data_b: bytes, path_a: str = "A", path_b: str = "B", max_samples: int = 10
) -> PTEDiffResult:
    """`path_a` and `path_b`: names for the result; `max_samples`: how many elements of a constant, and instructions of
    a method, are listed. Bytes that are no program are an `error` of the result, not an exception."""
    found = {"path_a": path_a, "path_b": path_b, "size_a": len(data_a), "size_b": len(data_b)}
    if data_a == data_b:
        return PTEDiffResult(**found, bitwise_equal=True)
    files = []
    for path, data in ((path_a, data_a), (path_b, data_b)):
        try:
            files.append(deserialize_pte_binary(data))
        except ValueError as problem:
            error = f"Deserialization failed: {path}: expected a program file (.pte): {problem}"
            return PTEDiffResult(**found, bitwise_equal=False, error=error)
    return _compare(files[0], files[1], found, max_samples)


def _compare(a: PTEFile, b: PTEFile, found: dict, most: int) -> PTEDiffResult:
    plans_a, plans_b = a.program.execution_plan, b.program.execution_plan
    pairs, alone_a, alone_b = _pair(plans_a, plans_b)
    compared = [
        compare_plans(index, a, plans_a[index], b, plans_b[other], most) for index, other in pairs
    ]
    versions = a.program.version, b.program.version
    return PTEDiffResult(
        **found,
        bitwise_equal=False,
        version_a=versions[0] if versions[0] != versions[1] else None,
        version_b=versions[1] if versions[0] != versions[1] else None,
        plan_diffs=[each for each in compared if each.has_differences()],
        extra_plans_in_a=alone_a,
        extra_plans_in_b=alone_b,
        named_data_diffs=list(_named_data(a, b)),
    )


def _pair(
    a: Sequence[schema.ExecutionPlan], b: Sequence[schema.ExecutionPlan]
) -> tuple[list[tuple[int, int]], list[str], list[str]]:
    """Methods of one name; then, in order, those whose name the other file does not have."""
    places = {plan.name: index for index, plan in enumerate(b)}
    pairs = {index: places[plan.name] for index, plan in enumerate(a) if plan.name in places}
    rest_a = [index for index in range(len(a)) if index not in pairs]
    rest_b = [index for index in range(len(b)) if index not in set(pairs.values())]
    both = min(len(rest_a), len(rest_b))
    pairs |= dict(zip(rest_a, rest_b))
    extra_a, extra_b = ([a[i].name for i in rest_a[both:]], [b[i].name for i in rest_b[both:]])
    return sorted(pairs.items()), extra_a, extra_b


def _named_data(a: PTEFile, b: PTEFile) -> Iterator[DataDiff]:
    blobs_a, blobs_b = _blobs(a), _blobs(b)
    for key in dict.fromkeys([*blobs_a, *blobs_b]):
        one, other = blobs_a.get(key), blobs_b.get(key)
        if one != other:
            sizes = (None if blob is None else len(blob) for blob in (one, other))
            yield DataDiff(key, *sizes)


def _blobs(file: PTEFile) -> dict[str, bytes]:
    if file.named_data is None:
        return {}
    buffers = file.named_data.buffers
    return {
        key: bytes(buffers[each.buffer_index]) for key, each in file.named_data.pte_data.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """0 for equal files, 1 for others, 2 for files that cannot be read."""
    parser = argparse.ArgumentParser(description="Holds two program files against each other.")
    parser.add_argument("file_a", type=Path)
    parser.add_argument("file_b", type=Path)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="shows all rows, and elements of constants"
    )
    parser.add_argument("--max-samples", type=int, default=10, help="elements of each constant")
    options = parser.parse_args(arguments)
    try:
        data = [path.read_bytes() for path in (options.file_a, options.file_b)]
    except OSError as problem:
        print(problem, file=sys.stderr)
        return 2
    result = diff_pte(*data, str(options.file_a), str(options.file_b), options.max_samples)
    print(format_diff_result(result, options.verbose))
    if result.error is not None:
        return 2
    return 0 if result.bitwise_equal else 1


if __name__ == "__main__":
    sys.exit(main())
