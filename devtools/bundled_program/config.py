# SPDX-License-Identifier: BSD-3-Clause
"""Test cases of a method, as users give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch.utils._pytree import tree_flatten

ConfigValue: TypeAlias = torch.Tensor | int | bool | float
DataContainer: TypeAlias = list | tuple | dict
MethodInputType: TypeAlias = Sequence[ConfigValue]
MethodOutputType: TypeAlias = Sequence[torch.Tensor]


class MethodTestCase:
    """One execution: `inputs` and the `expected_outputs`, flat, as the method takes and gives them."""

    def __init__(
        self, inputs: MethodInputType, expected_outputs: MethodOutputType | None = None
    ) -> None:
        """Both may be nested; without expected outputs the case can be run, not verified. Raises AssertionError for
        other values than tensors, int, bool and float."""
        self.inputs: list[ConfigValue] = _flat(inputs)
        self.expected_outputs: list[ConfigValue] = (
            [] if expected_outputs is None else _flat(expected_outputs)
        )


def _flat(values: object) -> list[ConfigValue]:
    leaves, _ = tree_flatten(values)
    for leaf in leaves:
        assert isinstance(leaf, (torch.Tensor, int, bool, float)), (
            f"The type of input {leaf} with type {type(leaf)} is not supported: give tensors, int, bool or float."
        )
    return leaves


@dataclass
class MethodTestSuite:
    """All cases of one method."""

    method_name: str
    test_cases: Sequence[MethodTestCase]
