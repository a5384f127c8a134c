# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a bundled program as dataclasses."""

from executorch.devtools.bundled_program.schema.bundled_program_schema import (
    Bool,
    BundledMethodTestCase,
    BundledMethodTestSuite,
    BundledProgram,
    Double,
    Int,
    Tensor,
    Value,
    ValueUnion,
)

__all__ = [
    "Bool",
    "BundledMethodTestCase",
    "BundledMethodTestSuite",
    "BundledProgram",
    "Double",
    "Int",
    "Tensor",
    "Value",
    "ValueUnion",
]
