# SPDX-License-Identifier: BSD-3-Clause
"""Tests of single operators that run on every flow.

    @operator_test
    class Add(OperatorTest):
        @dtype_test
        def test_add_dtype(self, flow: TestFlow, dtype: torch.dtype) -> None:
            self._test_op(Model(), (torch.rand(2, 3).to(dtype), torch.rand(2, 3).to(dtype)), flow)

`operator_test` makes a function of the module of each test, which pytest runs with the fixture `test_runner` (of
suite/conftest.py) for every flow, those marked `dtype_test` for every dtype of `DTYPES`, too. A test written as
such a function is the same.
"""

from __future__ import annotations

import functools
import inspect
import sys
import unittest
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.flow import TestFlow, all_flows
from executorch.backends.test.suite.reporting import TestResult
from executorch.backends.test.suite.rows import problem_of, run_row
from executorch.backends.test.suite.runner import run_test

DTYPES = [torch.float32]
FLOAT_DTYPES = [torch.float16, torch.float32, torch.float64]


class TestRunner:
    """What a test is given: a flow, and its own name."""

    __test__ = False

    def __init__(
        self, flow: TestFlow, test_name: str, test_base_name: str, params: dict | None = None
    ) -> None:
        self._flow, self._name, self._base_name = flow, test_name, test_base_name
        self._params = params
        self._subtest = 0

    def lower_and_run_model(
        self,
        model: torch.nn.Module,
        inputs: Any,
        generate_random_test_inputs: bool = True,
        dynamic_shapes: Any = None,
    ) -> None:
        """Raises what went wrong; SkipTest where the flow skips it."""
        summary = run_test(
            model, inputs, self._flow, self._name, self._base_name, self._subtest, self._params,
            dynamic_shapes=dynamic_shapes, generate_random_test_inputs=generate_random_test_inputs,
        )  # fmt: skip
        self._subtest += 1
        if summary.result is TestResult.SKIPPED:
            raise unittest.SkipTest(str(summary.error))
        if not summary.result.is_success():
            raise AssertionError(f"{summary.result.display_name()}: {summary.error}") from (
                summary.error
            )

    def run_row(self, row: Row) -> None:
        """A row of the corpus; raises where the outcome is none that the row allows."""
        summary = run_row(row, self._flow)
        if summary.result is TestResult.SKIPPED:
            raise unittest.SkipTest(str(summary.error))
        problem = problem_of(row, summary)
        if problem:
            raise AssertionError(problem) from summary.error


class OperatorTest(unittest.TestCase):
    """Base of classes of tests; `_test_op` runs a model through the flow of the test."""

    def __init__(self, method_name: str = "runTest", runner: TestRunner | None = None) -> None:
        super().__init__(method_name)
        self._runner = runner

    def runTest(self) -> None:
        """Nothing: the functions that `operator_test` makes are what runs."""

    def _test_op(
        self,
        model: torch.nn.Module,
        inputs: Any,
        flow: TestFlow,
        generate_random_test_inputs: bool = True,
        dynamic_shapes: Any = None,
    ) -> None:
        self._runner.lower_and_run_model(model, inputs, generate_random_test_inputs, dynamic_shapes)


def dtype_test(func: Callable) -> Callable:
    """Marks a test that takes `dtype`."""
    func.is_dtype_test = True
    return func


def operator_test(cls: type[OperatorTest]) -> None:
    """Turns the tests of a class into functions of its module, and the class's name into None."""
    module = sys.modules[cls.__module__]
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if name.startswith("test"):
            setattr(module, name, _as_function(cls, name, method))


def _as_function(cls: type[OperatorTest], name: str, method: Callable) -> Callable:
    if getattr(method, "is_dtype_test", False):

        def test(test_runner: TestRunner, dtype: torch.dtype) -> None:
            method(cls(name, test_runner), test_runner._flow, dtype)

        test.is_dtype_test = True
        test.pytestmark = _each_dtype()
    else:

        def test(test_runner: TestRunner) -> None:
            method(cls(name, test_runner), test_runner._flow)

    test.__name__, test.__doc__, test.__module__ = name, method.__doc__, cls.__module__
    return test


def _each_dtype() -> list[Any]:
    import pytest

    return [pytest.mark.parametrize("dtype", DTYPES, ids=str)]


class _FlowCase(unittest.FunctionTestCase):
    """A test function on one flow, for unittest."""

    def __init__(self, function: Callable, flow: TestFlow, name: str) -> None:
        super().__init__(function)
        self.flow, self._name = flow, name

    def id(self) -> str:
        return self._name


def cases_of(module: ModuleType) -> Iterator[_FlowCase]:
    """One case for each test function of a module, flow and value of its parameter."""
    for name, function in vars(module).items():
        parameters = inspect.signature(function).parameters if callable(function) else ()
        if not name.startswith("test") or "test_runner" not in parameters:
            continue
        for flow in all_flows().values():
            for part, options in _values(function):
                full = f"{name}[{flow.name}{part}]"
                runner = TestRunner(flow, full, name, options or None)
                call = functools.partial(function, runner, **options)
                yield _FlowCase(call, flow, full)


def _values(function: Callable) -> list[tuple[str, dict[str, Any]]]:
    """(part of a name, arguments) for each value of a test that pytest parametrizes."""
    marks = getattr(function, "pytestmark", [])
    for mark in (each for each in marks if each.name == "parametrize"):
        parameter, values = mark.args
        name_of = mark.kwargs.get("ids") or str
        return [(f"-{name_of(value)}", {parameter: value}) for value in values]
    return [("", {})]
