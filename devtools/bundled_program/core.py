# SPDX-License-Identifier: BSD-3-Clause
"""BundledProgram: a program and its test cases, checked against each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from executorch.devtools.bundled_program import schema as bp_schema
from executorch.devtools.bundled_program.config import ConfigValue, MethodTestSuite
from executorch.devtools.bundled_program.version import BUNDLED_PROGRAM_SCHEMA_VERSION
from executorch.exir import schema
from executorch.exir.tensor import dim_order_from_stride, get_scalar_type, scalar_type_enum

_TYPES: dict[type, type] = {
    schema.Tensor: torch.Tensor,
    schema.Int: int,
    schema.Bool: bool,
    schema.Double: float,
}


class BundledProgram:
    """`executorch_program`, or the file at `pte_file_path`, with test cases; suites are kept by name of their method.

    A program's methods need not all have cases. The cases of a file are not checked: nobody says what it takes."""

    def __init__(
        self,
        executorch_program: Any | None,
        method_test_suites: Sequence[MethodTestSuite],
        pte_file_path: str | os.PathLike[str] | None = None,
    ) -> None:
        """`executorch_program`: of to_executorch(), or of one of the older classes. Raises RuntimeError unless exactly
        one of program and path is given, AssertionError for cases that do not fit the program."""
        if executorch_program is None and pte_file_path is None:
            raise RuntimeError("Either executorch_program or pte_file_path must be provided")
        if executorch_program is not None and pte_file_path is not None:
            raise RuntimeError("Only one of executorch_program or pte_file_path can be used")
        self.executorch_program = executorch_program
        self._pte_file_path = pte_file_path
        self.method_test_suites = sorted(method_test_suites, key=lambda suite: suite.method_name)
        self._bundled_program_in_schema: bp_schema.BundledProgram | None = None
        if executorch_program is not None:
            assert_valid_bundle(program_of(executorch_program), self.method_test_suites)

    def serialize_to_schema(self) -> bp_schema.BundledProgram:
        """As the tables of the file; made once."""
        if self._bundled_program_in_schema is None:
            program = (
                Path(self._pte_file_path).read_bytes()
                if self._pte_file_path is not None
                else bytes(self.executorch_program.buffer)
            )
            self._bundled_program_in_schema = create_bundled_program(
                program, self.method_test_suites
            )
        return self._bundled_program_in_schema


def program_of(executorch_program: Any) -> schema.Program:
    """The program in what to_executorch() gave, or in one of the older classes."""
    if isinstance(executorch_program, schema.Program):
        return executorch_program
    found = getattr(executorch_program, "executorch_program", None)
    return executorch_program.program if found is None else found


def create_bundled_program(
    program: bytes, method_test_suites: Sequence[MethodTestSuite]
) -> bp_schema.BundledProgram:
    """The tables of a file, from the bytes of a program."""
    return bp_schema.BundledProgram(
        version=BUNDLED_PROGRAM_SCHEMA_VERSION,
        method_test_suites=[
            bp_schema.BundledMethodTestSuite(
                suite.method_name,
                [
                    bp_schema.BundledMethodTestCase(
                        [_value(each) for each in case.inputs],
                        [_value(each) for each in case.expected_outputs],
                    )
                    for case in suite.test_cases
                ],
            )
            for suite in sorted(method_test_suites, key=lambda suite: suite.method_name)
        ],
        program=program,
    )


def _value(value: ConfigValue) -> bp_schema.Value:
    if isinstance(value, torch.Tensor):
        dense = value.detach().cpu().contiguous()
        data = dense.reshape(-1).view(torch.uint8) if dense.numel() > 0 else dense
        return bp_schema.Value(
            bp_schema.Tensor(
                scalar_type_enum(dense.dtype),
                list(dense.shape),
                data.numpy().tobytes(),
                list(dim_order_from_stride(dense.stride())),
            )
        )
    if isinstance(value, bool):
        return bp_schema.Value(bp_schema.Bool(value))
    if isinstance(value, int):
        return bp_schema.Value(bp_schema.Int(value))
    return bp_schema.Value(bp_schema.Double(value))


def _input(program: schema.Program, program_plan_id: int, input_index: int) -> Any:
    plan = program.execution_plan[program_plan_id]
    return plan.values[plan.inputs[input_index]].val


def get_input_dtype(program: schema.Program, program_plan_id: int, input_index: int) -> torch.dtype:
    """Of an input that is a tensor."""
    return get_scalar_type(_input(program, program_plan_id, input_index).scalar_type)


def get_input_type(program: schema.Program, program_plan_id: int, input_index: int) -> type:
    """The Python type of what is given for an input."""
    value = _input(program, program_plan_id, input_index)
    assert type(value) in _TYPES, (
        f"input {input_index} is a {type(value).__name__}, which test cases cannot hold"
    )
    return _TYPES[type(value)]


def assert_valid_bundle(
    program: schema.Program, method_test_suites: Sequence[MethodTestSuite]
) -> None:
    """Raises AssertionError when the cases do not fit the program: names of methods; number, type, dtype and sizes of
    inputs; outputs that are no tensors."""
    of_program = {plan.name: index for index, plan in enumerate(program.execution_plan)}
    of_suites = {suite.method_name for suite in method_test_suites}
    assert of_suites <= set(of_program), (
        "All method names in bundled config should be found in program.execution_plan, "
        f"but {of_suites - set(of_program)} does not include."
    )
    for suite in method_test_suites:
        plan_id = of_program[suite.method_name]
        for case_id, case in enumerate(suite.test_cases):
            expected = len(program.execution_plan[plan_id].inputs)
            assert len(case.inputs) == expected, (
                "The number of input in each bundled set and Program shall equal, "
                f"but get {len(case.inputs)} and {expected}"
            )
            for index, given in enumerate(case.inputs):
                _assert_input(program, plan_id, case_id, index, given)
            for index, given in enumerate(case.expected_outputs):
                assert isinstance(given, torch.Tensor), (
                    f"The {index}-th expected output shall be a tensor, but now is {type(given)}"
                )


def _assert_input(
    program: schema.Program, plan_id: int, case_id: int, index: int, given: ConfigValue
) -> None:
    expected = get_input_type(program, plan_id, index)
    found = torch.Tensor if isinstance(given, torch.Tensor) else type(given)
    assert found is expected, (
        f"The type {index}-th input in {case_id}-th test set of {plan_id}-th execution plan does not meet Program's "
        f"requirement: expected {expected} but get {found}"
    )
    if not isinstance(given, torch.Tensor):
        return
    dtype = get_input_dtype(program, plan_id, index)
    assert given.dtype == dtype, (
        f"The input tensor {given} dtype shall be {dtype}, but now is {given.dtype}"
    )
    value = _input(program, plan_id, index)
    sizes, bounds = list(given.shape), list(value.sizes)
    is_static = value.shape_dynamism == schema.TensorShapeDynamism.STATIC
    fits = sizes == bounds if is_static else len(sizes) == len(bounds)
    wanted = f"{'sizes' if is_static else 'sizes up to'} {bounds}"
    assert fits and all(size <= bound for size, bound in zip(sizes, bounds)), (
        f"The input tensor {index} of test set {case_id} shall have {wanted}, but now has {sizes}"
    )
