# SPDX-License-Identifier: BSD-3-Clause
"""The names of the stages between a model and its program, and example inputs that have keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any


class StageType(str, Enum):
    SOURCE_TRANSFORM = "source_transform"
    QUANTIZE = "quantize"
    PROCESS = "process"
    TORCH_EXPORT = "torch_export"
    TO_EDGE_TRANSFORM_AND_LOWER = "to_edge_transform_and_lower"
    TO_EDGE = "to_edge"
    EDGE_PROGRAM_MANAGER_TRANSFORM = "edge_program_manager_transform"
    TO_BACKEND = "to_backend"
    TO_EXECUTORCH = "to_executorch"


class Arguments(tuple[Any, ...]):
    """An example input, some of it by keyword: `Arguments((x,), {"mask": mask})`."""

    keywords: Mapping[str, Any]

    def __new__(cls, places: Iterable[Any], keywords: Mapping[str, Any]) -> Arguments:
        made = super().__new__(cls, places)
        made.keywords = dict(keywords)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.keywords


def keywords_of(example: tuple[Any, ...]) -> Mapping[str, Any]:
    return example.keywords if isinstance(example, Arguments) else {}
