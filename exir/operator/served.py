# SPDX-License-Identifier: BSD-3-Clause
"""Which operators the kernel libraries of this package serve: their op tables (kernels/*/*.yaml), read once.

Other namespaces than torch's own belong to users and backends, who register kernels of their own."""

from __future__ import annotations

import functools
from pathlib import Path

import yaml

_KERNELS = Path(__file__).resolve().parents[2] / "kernels"
_TABLES = ("portable/functions.yaml", "quantized/quantized.yaml")

# Every kernel of these stands in the tables; other libraries register operators in namespaces of their own.
OWN_NAMESPACES = frozenset({"aten", "dim_order_ops", "et_copy", "prims", "quantized_decomposed"})


@functools.cache
def served_operators() -> frozenset[str]:
    """Names as programs spell them: `aten::add.out`."""
    return frozenset(_name(row) for table in _TABLES for row in _rows(_KERNELS / table))


def _rows(path: Path) -> list[dict[str, str]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open() as file:
        return yaml.load(file, loader)


def _name(row: dict[str, str]) -> str:
    return f"aten::{row['op']}" if "op" in row else row["func"].partition("(")[0]
