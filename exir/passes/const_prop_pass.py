# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Calls that read no value of the graph are computed at export.

before: %a = full([2], 1.0); %b = mul(%a, 3.0)   after: %b = get_attr (a constant)
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_leaves

from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue


class ConstPropPass(ExportPass):
    """Placeholders count as values of the graph; `constant_prop_pass` also folds what depends on parameters.
    Quantizing and dequantizing of constants stays, so that backends see it, unless `propogate_quant`."""

    def __init__(self, propogate_quant: bool = False) -> None:
        super().__init__()
        self.propogate_quant = propogate_quant

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> Any:
        values = tree_leaves((args, kwargs))
        quantizes = op.name().startswith("quantized_decomposed::")
        if any(isinstance(value, ProxyValue | torch.SymInt) for value in values) or (
            quantizes and not self.propogate_quant
        ):
            return super().call_operator(op, args, kwargs, meta)
        with unset_fake_temporarily():
            return op(*args, **kwargs)
