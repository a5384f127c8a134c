# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Tells a value of the dispatch tracer which node it is now."""

import torch
from torch._C._functorch import is_functionaltensor
from torch.fx import Proxy

from executorch.exir.tracer import PythonTensor, unwrap_functional

__all__ = ["is_functionaltensor", "update_with_proxy"]


def update_with_proxy(t: torch.Tensor, proxy: Proxy) -> torch.Tensor:
    """`t`, which stands for `proxy` from now on; for tensors of a running dispatch trace, functional ones too."""
    inner = unwrap_functional(t)
    if not isinstance(inner, PythonTensor):
        raise TypeError(
            f"expected a tensor that exir.tracer's dispatch trace has made, found a {type(t).__name__}; call it "
            "inside of a traced function"
        )
    inner.update_proxy(proxy)
    return t
