# SPDX-License-Identifier: BSD-3-Clause
"""Finds the operator tests of a package, one case per flow."""

from __future__ import annotations

import importlib
import pkgutil
import unittest
from dataclasses import dataclass
from re import Pattern
from types import ModuleType


@dataclass
class TestFilter:
    """None: all."""

    __test__ = False

    backends: set[str] | None
    flows: set[str] | None
    name_regex: Pattern[str] | None


def discover_tests(root_module: ModuleType, test_filter: TestFilter) -> unittest.TestSuite:
    """The tests of `root_module` and of its `test_*` modules that the filter lets through."""
    from executorch.backends.test.suite.operators import cases_of

    modules = [root_module]
    for found in pkgutil.iter_modules(getattr(root_module, "__path__", [])):
        if found.name.startswith("test_"):
            modules.append(importlib.import_module(f"{root_module.__name__}.{found.name}"))
    suite = unittest.TestSuite()
    for case in (case for module in modules for case in cases_of(module)):
        if _is_enabled(case, test_filter):
            suite.addTest(case)
    return suite


def _is_enabled(case: unittest.TestCase, test_filter: TestFilter) -> bool:
    flow, name = case.flow, case.id()
    if test_filter.backends is not None and flow.backend not in test_filter.backends:
        return False
    if test_filter.flows is not None and flow.name not in test_filter.flows:
        return False
    return test_filter.name_regex is None or bool(test_filter.name_regex.search(name))
