# SPDX-License-Identifier: BSD-3-Clause
"""Alignments, and sizes and bytes up to the next multiple of one."""


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


def _is_valid_alignment(alignment: int) -> bool:
    """A power of two."""
    return alignment > 0 and alignment & (alignment - 1) == 0


def check_alignments(
    constant_tensor_alignment: int | None, delegate_alignment: int | None
) -> tuple[int, int]:
    """Both alignments, 16 where none is given. Raises ValueError for what is no power of two."""
    for name, alignment in (
        ("constant_tensor_alignment", constant_tensor_alignment),
        ("delegate_alignment", delegate_alignment),
    ):
        if alignment is not None and not _is_valid_alignment(alignment):
            raise ValueError(f"Bad {name} {alignment}: expected a power of two")
    return constant_tensor_alignment or 16, delegate_alignment or 16
