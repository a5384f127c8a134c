# SPDX-License-Identifier: BSD-3-Clause
"""The payload of a delegate that AOTInductor compiled: two keys of named data, a line each. A key begins with the
SHA-256 of its bytes."""

from __future__ import annotations

from typing import NamedTuple

LIBRARY_ENDING, CONSTANTS_ENDING = "_so_blob", "_weights_blob"


class Keys(NamedTuple):
    library: str
    constants: str

    def pack(self) -> bytes:
        return "\n".join(self).encode()

    @classmethod
    def unpack(cls, payload: bytes) -> Keys:
        """ValueError for bytes that are none."""
        keys = payload.decode("utf-8", "replace").split("\n")
        endings = LIBRARY_ENDING, CONSTANTS_ENDING
        if len(keys) != 2 or not all(map(str.endswith, keys, endings)):
            raise ValueError(
                f"expected two lines, keys that end in {' and '.join(endings)}, found {payload[:40]!r}"
            )
        return cls(*keys)
