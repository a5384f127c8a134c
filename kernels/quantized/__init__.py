# SPDX-License-Identifier: BSD-3-Clause
"""Importing this makes the schemas of the quantized kernels known to torch, so that to_executorch() finds the out
variants of quantize, dequantize and the other operators of the table."""

from pathlib import Path

import torch
import yaml

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  (defines `add`)

_library = torch.library.Library("quantized_decomposed", "FRAGMENT")


def _define_out_variants() -> None:
    """Those of the table that torch does not have yet."""
    table = yaml.safe_load(Path(__file__).with_name("quantized.yaml").read_text())
    for row in table:
        schema = torch._C.parse_schema(row["func"])
        known = torch._C._jit_get_schemas_for_operator(schema.name)
        if schema.overload_name not in {each.overload_name for each in known}:
            _library.define(row["func"].removeprefix("quantized_decomposed::"))


_define_out_variants()
