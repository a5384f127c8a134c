# SPDX-License-Identifier: BSD-3-Clause
"""The operator executorch_devtools::tap.Tensor, which stands for a tap until the program is lowered: no delegate takes
it, so that its operand leaves the delegate."""

from __future__ import annotations

import torch
from torch.library import Library, impl

from executorch.devtools.intermediate_output_tap._reducers import get_reducer

lib = Library("executorch_devtools", "DEF")
lib.define("tap.Tensor(Tensor x, str reducer_name) -> Tensor")


@impl(lib, "tap.Tensor", "CompositeExplicitAutograd")
def tap_tensor_impl(x: torch.Tensor, reducer_name: str) -> torch.Tensor:
    """What the reducer of that name gives, in memory of its own."""
    return get_reducer(reducer_name).eager(x).clone()
