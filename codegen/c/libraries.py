# SPDX-License-Identifier: BSD-3-Clause
"""The libraries of kernels that programs are written for as source: one row each. A CMake prefix has the sources of
the same folders (Install.cmake)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Library:
    """`folder`, whose sources are the kernels; in it the table of operators, and the header that is made of it."""

    folder: str
    table: str
    header: str

    @property
    def table_path(self) -> Path:
        return _ROOT / self.folder / self.table


_ROWS = (
    Library("kernels/portable", "functions.yaml", "NativeFunctions.h"),
    Library("kernels/quantized", "quantized.yaml", "CustomOpsNativeFunctions.h"),
    Library("backends/cortex_m", "ops/operators.yaml", "CustomOpsNativeFunctions.h"),
)
# A backend may have been taken out.
LIBRARIES = tuple(each for each in _ROWS if each.table_path.is_file())
