# SPDX-License-Identifier: BSD-3-Clause
"""`torch.ops.my_ops.skeleton(x, limit)`: x / (1 + |x| / limit), which stays within -limit and limit.

In PyTorch the operator is what is written here; a program calls the out variant, whose kernel is skeleton.cpp.
"""

import torch

torch.library.define("my_ops::skeleton", "(Tensor x, float limit) -> Tensor")
torch.library.define(
    "my_ops::skeleton.out", "(Tensor x, float limit, *, Tensor(a!) out) -> Tensor(a!)"
)


@torch.library.impl("my_ops::skeleton", "CompositeExplicitAutograd")
def skeleton(x: torch.Tensor, limit: float) -> torch.Tensor:
    return x / (1 + x.abs() / limit)


@torch.library.impl("my_ops::skeleton.out", "CompositeExplicitAutograd")
def skeleton_out(x: torch.Tensor, limit: float, *, out: torch.Tensor) -> torch.Tensor:
    return out.copy_(skeleton(x, limit))


@torch.library.register_fake("my_ops::skeleton")
def _(x: torch.Tensor, limit: float) -> torch.Tensor:
    """Sizes, layout and dtype of the result, for export."""
    torch._check(
        x.dtype == torch.float32, lambda: f"my_ops::skeleton: expected float32, found {x.dtype}"
    )
    return torch.empty_like(x)
