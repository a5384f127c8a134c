# SPDX-License-Identifier: BSD-3-Clause
"""Lists of sizes: what is taken at both ends of each range, and what is refused just beyond."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.aot.enumerated_shapes import EnumeratedShapes  # noqa: E402
from executorch.backends.test.corpus.row import Function  # noqa: E402


def program(
    low: int | None = 3, high: int | None = 9, dtype: torch.dtype = torch.float32
) -> ExportedProgram:
    """x [rows, 4], y [rows, 2], z [columns, 4]; plain [5]."""
    rows, columns = Dim("rows", min=low, max=high), Dim("columns", min=2, max=6)
    inputs = [torch.ones(4, 4), torch.ones(4, 2), torch.ones(5, 4), torch.ones(5)]
    code = Function(lambda x, y, z, plain: (x @ z.T, y * 2, plain + 1))
    shapes = (({0: rows}, {0: rows}, {0: columns}, None),)
    return torch.export.export(
        code, tuple(each.to(dtype) for each in inputs), dynamic_shapes=shapes
    )


def of(found: ExportedProgram, **shapes: Any) -> EnumeratedShapes:
    names = [node.name for node in found.graph.find_nodes(op="placeholder")]
    return EnumeratedShapes.of_program(found, {names["xyz".index(k)]: v for k, v in shapes.items()})


X, Y, Z = [[3, 4], [9, 4]], [[3, 2], [9, 2]], [[2, 4], [6, 4]]


def test_sizes_that_are_taken() -> None:
    found = of(program(), x=X, y=Y, z=Z)
    assert [row[1][0] for row in found.rows] == [X, Y, Z]
    assert EnumeratedShapes.of_json(found.to_json()) == found
    of(program(low=1), x=[[1, 4], [9, 4]], y=[[1, 2], [9, 2]], z=[[1, 4], [6, 4]])
    of(program(low=2), x=[[1, 4], [2, 4]], y=[[1, 2], [2, 2]], z=Z)  # of 1 torch.export makes 2
    of(program(high=None), x=[[3, 4], [10**6, 4]], y=[[3, 2], [10**6, 2]], z=Z)
    types = found.inputs(program(), ct.target.iOS18)
    assert [type(each.shape).__name__ for each in types] == ["EnumeratedShapes"] * 3 + ["Shape"]


def test_sizes_that_are_refused() -> None:
    found = program()
    for change, reason in (
        ({"x": [[2, 4], [9, 4]]}, "dimension 0 is 3 or more"),
        ({"x": [[3, 4], [10, 4]]}, "dimension 0 is 9 or less"),
        ({"x": [[3, 4], [9, 5]]}, "dimension 1 is 4"),
        ({"x": [[3], [9]]}, "it has 2 dimensions"),
        ({"z": [[0, 4], [6, 4]]}, "dimension 0 must be a number from 1 on"),
        ({"z": [[2.5, 4], [6, 4]]}, "dimension 0 must be a number from 1 on"),
        ({"x": X[:1], "y": Y[:1], "z": Z[:1]}, "has one list of sizes, expected more"),
        ({"z": [*Z, [3, 4]]}, "has 3 lists of sizes, .* has 2"),
    ):
        with pytest.raises(AssertionError, match=reason):
            of(found, **({"x": X, "y": Y, "z": Z} | change))
    with pytest.raises(AssertionError, match="expected sizes for at least one input"):
        of(found)
    with pytest.raises(AssertionError, match="other is no input"):
        EnumeratedShapes.of_program(found, {"other": X})
    with pytest.raises(ValueError, match="has a symbolic shape, but you did not provide"):
        of(found, x=X, y=Y)


def test_inputs_of_one_size_have_one_list() -> None:
    rows = Dim("rows", min=3, max=9)
    two = torch.export.export(
        Function(lambda x, y: x + y),
        (torch.ones(4, 2), torch.ones(4, 2)),
        dynamic_shapes=(({0: rows},) * 2,),
    )
    a, b = (node.name for node in two.graph.find_nodes(op="placeholder"))
    (row,) = EnumeratedShapes.of_program(two, {a: Y, b: Y}).rows
    assert row[1] == [Y, [a, b]]
    with pytest.raises(
        AssertionError, match="has the symbolic sizes of .*, but other lists of sizes"
    ):
        EnumeratedShapes.of_program(two, {a: Y, b: Y[::-1]})


def test_several_inputs_of_lists_are_of_ios_18() -> None:
    found = of(program(), x=X, y=Y, z=Z)
    for target, message in ((None, "not set"), (ct.target.iOS17, str(ct.target.iOS17.value))):
        with pytest.raises(
            ValueError, match=f"3 enumerated inputs, but minimum_deployment_target is {message}"
        ):
            found.inputs(program(), target)
    rows = (({0: Dim("rows", min=3, max=9)},),)
    one = torch.export.export(Function(torch.relu), (torch.ones(4, 4),), dynamic_shapes=rows)
    for target in (None, ct.target.iOS17):
        (kind,) = of(one, x=X).inputs(one, target)
        assert [list(each.shape) for each in kind.shape.shapes] == X


def test_dtypes_of_inputs() -> None:
    for dtype in (torch.float16, torch.float32, torch.int32):
        found = program(dtype=dtype)
        of(found, x=X, y=Y, z=Z).inputs(found, ct.target.iOS18)
    found = program(dtype=torch.float64)
    with pytest.raises(AssertionError, match="torch.float64, expected float16, float32 or int32"):
        of(found, x=X, y=Y, z=Z).inputs(found, ct.target.iOS18)
