# SPDX-License-Identifier: BSD-3-Clause
"""In which order a delegate has the dimensions of its inputs and outputs."""

from __future__ import annotations

from enum import Enum


class DataFormat(Enum):
    CHANNELS_FIRST = 0
    CHANNELS_LAST = 10
    CONV_3D_WEIGHT_FORMAT = 11
    RESHAPE_SINGLE_UNITARY_TRANSPOSITION = 12
    TRANSPOSE_CONV_2D_WEIGHT_FORMAT = 13
    FORMATLESS = 20
    NONE = 30

    def is_channels_first(self) -> bool:
        return self is DataFormat.CHANNELS_FIRST

    def is_channels_last(self) -> bool:
        return self is DataFormat.CHANNELS_LAST
