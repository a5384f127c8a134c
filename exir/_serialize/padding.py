# SPDX-License-Identifier: BSD-3-Clause
"""Sizes and bytes up to the next multiple of an alignment."""


def padding_required(offset: int, alignment: int) -> int:
    """How many bytes lie between `offset` and the next multiple of `alignment`."""
    return -offset % alignment


def aligned_size(input_size: int, alignment: int) -> int:
    return input_size + padding_required(input_size, alignment)


def pad_to(data: bytes, length: int) -> bytes:
    """`data` with zero bytes behind it, `length` bytes together."""
    if len(data) > length:
        raise ValueError(f"Data length {len(data)} > padded length {length}")
    return data.ljust(length, b"\0")
