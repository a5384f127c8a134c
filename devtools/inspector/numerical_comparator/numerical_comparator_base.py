# SPDX-License-Identifier: BSD-3-Clause
"""What comparators have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from executorch.devtools.inspector._graphs import DebugHandle, find_op_names
from executorch.devtools.inspector._values import convert_to_float_tensor

if TYPE_CHECKING:
    from executorch.devtools.inspector._inspector import Inspector

# (handles, value of the model) -> (handles, value of the runtime)
IntermediateOutputMapping = dict[tuple[DebugHandle, Any], tuple[DebugHandle, Any]]


class NumericalComparatorBase(ABC):
    """Subclasses say how far two values are apart. `inspector` is set by calculate_numeric_gap."""

    def __init__(self, inspector: Inspector | None = None) -> None:
        self._inspector = inspector

    @property
    def inspector(self) -> Inspector | None:
        return self._inspector

    @inspector.setter
    def inspector(self, value: Inspector | None) -> None:
        self._inspector = value

    def preprocessing(self, mapping: IntermediateOutputMapping) -> IntermediateOutputMapping:
        """For subclasses: what is compared, from what was found."""
        return mapping

    @abstractmethod
    def element_compare(self, a: Any, b: Any) -> float:
        """How far the runtime's value `b` is from the model's `a`."""

    def compare(
        self,
        mapping: IntermediateOutputMapping,
        aot_debug_handle_to_op_names: dict[DebugHandle, list[str]],
        runtime_debug_handle_to_op_names: dict[DebugHandle, list[str]],
    ) -> pd.DataFrame:
        """One row per pair; `gap` is a list of one number. Raises TypeError and ValueError for what preprocessing()
        must not return."""
        mapping = self.preprocessing(mapping)
        _check(mapping)
        rows = []
        for (aot_handle, aot_value), (runtime_handle, runtime_value) in mapping.items():
            rows.append(
                {
                    "aot_debug_handle": aot_handle,
                    "aot_ops": find_op_names(aot_handle, aot_debug_handle_to_op_names),
                    "aot_intermediate_output": aot_value,
                    "runtime_debug_handle": runtime_handle,
                    "runtime_ops": find_op_names(runtime_handle, runtime_debug_handle_to_op_names),
                    "runtime_intermediate_output": runtime_value,
                    "gap": [self.element_compare(aot_value, runtime_value)],
                }
            )
        return pd.DataFrame(rows, columns=COLUMNS)


def same_sized(a: Any, b: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Both as float64; a number or one element goes with any size. Raises ValueError for other sizes: broadcasting
    them would compare elements that have nothing to do with each other."""
    one, other = convert_to_float_tensor(a), convert_to_float_tensor(b)
    if one.shape != other.shape and 1 not in (one.numel(), other.numel()):
        raise ValueError(
            f"expected values of one shape, got {tuple(one.shape)} and {tuple(other.shape)}"
        )
    return one, other


COLUMNS = [
    "aot_debug_handle",
    "aot_ops",
    "aot_intermediate_output",
    "runtime_debug_handle",
    "runtime_ops",
    "runtime_intermediate_output",
    "gap",
]


def _check(mapping: Any) -> None:
    if not isinstance(mapping, dict):
        raise TypeError(
            f"preprocessing() must return a dict of pairs, got {type(mapping).__name__}"
        )
    for what, items in (("key", mapping.keys()), ("value", mapping.values())):
        for item in items:
            if not (isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], tuple)):
                raise ValueError(
                    f"Invalid {what} format: expected (debug handles, value), got {item!r:.80}"
                )
