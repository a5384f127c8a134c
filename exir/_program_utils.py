# SPDX-License-Identifier: BSD-3-Clause
"""What follows from a program's new graph: its signature, the ranges of its sizes."""

from __future__ import annotations

import sympy
from torch.fx import GraphModule
from torch.utils._sympy.value_ranges import ValueRanges

from executorch.exir.program_copies import signature_for as _get_updated_graph_signature
from executorch.exir.retrace.program import shape_env_of

__all__ = ["_get_updated_graph_signature", "_get_updated_range_constraints"]


def _get_updated_range_constraints(gm: GraphModule) -> dict[sympy.Symbol, ValueRanges]:
    """The ranges of the sizes that a graph's values have, by symbol; those that became numbers are not among them."""
    shape_env = shape_env_of(gm)
    if shape_env is None:
        return {}
    return {
        symbol: values
        for symbol, values in shape_env.var_to_range.items()
        if symbol not in shape_env.replacements
    }
