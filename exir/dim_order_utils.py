# SPDX-License-Identifier: BSD-3-Clause
"""Memory formats as dim orders (the permutation of dimensions from outermost to innermost) and back."""

import torch

from executorch.exir.tensor import dim_order_from_stride

_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
_FORMAT_RANK = {torch.channels_last: 4, torch.channels_last_3d: 5}


class NoSuchOrder(ValueError, AssertionError):
    """A dim order without a memory format, or vice versa."""


def get_memory_format(dim_order: list[int] | None) -> torch.memory_format:
    """None means "as the input": preserve_format."""
    if dim_order is None:
        return torch.preserve_format
    rank = len(dim_order)
    if tuple(dim_order) == tuple(range(rank)):
        return torch.contiguous_format
    if tuple(dim_order) == _CHANNELS_LAST.get(rank):
        return torch.channels_last if rank == 4 else torch.channels_last_3d
    raise NoSuchOrder(
        f"Failed to map a given dim_order: {list(dim_order)} to a torch.memory_format: it is neither contiguous nor "
        "channels last"
    )


def get_dim_order(memory_format: torch.memory_format | None, ndim: int) -> list[int] | None:
    """The dim order of `memory_format` for `ndim` dimensions; None for preserve_format."""
    if memory_format in (None, torch.preserve_format):
        return None
    if memory_format == torch.contiguous_format:
        return list(range(ndim))
    if _FORMAT_RANK.get(memory_format) != ndim:
        raise NoSuchOrder(
            f"Failed to generate dim_order for a given memory format: {memory_format} does not fit a tensor of {ndim} "
            "dimensions"
        )
    return list(_CHANNELS_LAST[ndim])


def is_channel_last_dim_order(tensor: torch.Tensor) -> bool:
    return dim_order_from_stride(tensor.stride()) == _CHANNELS_LAST.get(tensor.dim())


def is_contiguous_dim_order(tensor: torch.Tensor) -> bool:
    return dim_order_from_stride(tensor.stride()) == tuple(range(tensor.dim()))
