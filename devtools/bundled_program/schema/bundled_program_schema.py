# SPDX-License-Identifier: BSD-3-Clause
"""The tables of bundled_program_schema.fbs, which says what their fields mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from executorch.exir.scalar_type import ScalarType


@dataclass
class Tensor:
    scalar_type: ScalarType
    sizes: list[int]
    data: bytes
    dim_order: list[int]


@dataclass
class Int:
    int_val: int


@dataclass
class Bool:
    bool_val: bool


@dataclass
class Double:
    double_val: float


ValueUnion: TypeAlias = Tensor | Int | Double | Bool


@dataclass
class Value:
    val: ValueUnion


@dataclass
class BundledMethodTestCase:
    inputs: list[Value]
    expected_outputs: list[Value]


@dataclass
class BundledMethodTestSuite:
    method_name: str
    test_cases: list[BundledMethodTestCase]


@dataclass
class BundledProgram:
    version: int
    method_test_suites: list[BundledMethodTestSuite]
    program: bytes
