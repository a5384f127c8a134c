# SPDX-License-Identifier: BSD-3-Clause
"""The native codec of program data, bound to the dataclasses of `exir.schema`."""

from functools import cache
from types import ModuleType

from executorch.exir import schema
from executorch.exir._native import SchemaCodec, program_schema
from executorch.exir.scalar_type import ScalarType


def classes_of(*modules: ModuleType) -> dict[str, type]:
    """The classes that the modules define or import, by name."""
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type)
    }


@cache
def program_codec() -> SchemaCodec:
    return SchemaCodec(program_schema(), classes_of(schema) | {"ScalarType": ScalarType})
