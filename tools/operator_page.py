# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/operators.md from the op tables: `python -m tools.operator_page` (--check: fails when it is old)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from executorch.codegen.op_table import read_table, read_yaml, row_name
from executorch.codegen.schema import SchemaError, SchemaSource, parse_signature

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/operators.md"


def _names(table: str) -> set[str]:
    rows = read_table(ROOT / table, SchemaSource())
    return {row.schema.qualified_name for row in rows}


def core_out_variants() -> dict[str, list[str]]:
    """Core ATen operators as PyTorch tags them, with the out-variants of the same arguments; others have none."""
    found = {}
    for full in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        packet = getattr(torch.ops.aten, name, None) if namespace == "aten" else None
        operator = getattr(packet, overload or "default", None)
        if operator is None or torch.Tag.core not in operator.tags:
            continue
        wanted = _inputs(str(operator._schema))
        variants = []
        for base in (name, f"{name}_copy"):
            other = getattr(torch.ops.aten, base, None)
            for each in other.overloads() if other is not None else []:
                schema = str(getattr(other, each)._schema)
                if "out" in each + schema and wanted is not None and _inputs(schema) == wanted:
                    parsed = parse_signature(schema)
                    if any(a.is_out for a in parsed.arguments):
                        variants.append(parsed.qualified_name)
        if variants:
            found[full] = variants
    return found


def _inputs(schema: str) -> list[tuple[str, str]] | None:
    try:
        return [(a.name, a.type) for a in parse_signature(schema).arguments if not a.is_out]
    except SchemaError:
        return None


def missing() -> list[str]:
    """Core ATen operators none of whose out-variants has a portable kernel."""
    portable = _names("kernels/portable/functions.yaml")
    return sorted(n for n, variants in core_out_variants().items() if not portable & set(variants))


def page() -> str:
    portable = _names("kernels/portable/functions.yaml")
    quantized = _names("kernels/quantized/quantized.yaml")
    fast = {row_name(r) for r in read_yaml(ROOT / "kernels/optimized/optimized.yaml")}
    core = core_out_variants()
    absent = missing()
    lines = [
        "# Operators",
        "",
        "Written by `python -m tools.operator_page` from the op tables; do not edit.",
        "",
        f"{len(portable)} portable operators, {len(fast)} of them optimized, and {len(quantized)} quantized ones. Of",
        f"{len(core)} core ATen operators with an out-variant, {len(core) - len(absent)} have a kernel.",
        "",
        *(["## Core ATen operators without a kernel", ""] if absent else []),
        *[f"- `{name}`" for name in absent],
        *([""] if absent else []),
        "## Portable (`*`: optimized, too)",
        "",
        *[
            f"- `{name}`{' *' if name.removeprefix('aten::') in fast else ''}"
            for name in sorted(portable)
        ],
        "",
        "## Quantized",
        "",
        *[f"- `{name}`" for name in sorted(quantized)],
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when the page is old"
    )
    if parser.parse_args().check:
        return 0 if PAGE.read_text() == page() else 1
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
