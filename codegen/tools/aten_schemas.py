# SPDX-License-Identifier: BSD-3-Clause
"""Writes codegen/aten_schemas.txt: the operators of the installed PyTorch that a kernel can be written for, one a line.

Run it when another PyTorch becomes the pinned one: `python -m executorch.codegen.tools.aten_schemas`."""

from __future__ import annotations

import argparse
import sys

from ..schema import ATEN_SCHEMAS, SchemaError, parse_schema

# Lists of tensors that only PyTorch's optimizers update.
_LEFT_OUT = ("aten::_foreach_", "aten::_fused_")


def _can_be_a_kernel(text: str) -> bool:
    try:
        parse_schema(text).cpp_parameters()
    except SchemaError:
        return False
    return not text.startswith(_LEFT_OUT) and _is_dispatched(text)


def _is_dispatched(text: str) -> bool:
    """Not so for operators of TorchScript alone."""
    import torch

    return torch._C._dispatch_has_kernel(text.partition("(")[0])


def schemas() -> list[str]:
    """Sorted lines."""
    import torch

    texts = (str(schema) for schema in torch._C._jit_get_all_schemas())
    return sorted({t for t in texts if t.startswith("aten::") and "!" in t and _can_be_a_kernel(t)})


def main() -> int:
    parser = argparse.ArgumentParser(description=f"Writes {ATEN_SCHEMAS.name}.")
    parser.add_argument("--check", action="store_true", help="only tell whether it is the same")
    options, text = parser.parse_args(), "".join(f"{line}\n" for line in schemas())
    if not options.check:
        ATEN_SCHEMAS.write_text(text)
    elif ATEN_SCHEMAS.read_text() != text:
        print(f"{ATEN_SCHEMAS} is not that of the installed PyTorch: run this without --check")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
