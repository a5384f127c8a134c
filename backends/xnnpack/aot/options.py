# SPDX-License-Identifier: BSD-3-Clause
"""What a program file may ask of XNNPACK: nothing. Precision and partitioning are options of XnnpackPartitioner, those
of the runtime are given when a program is loaded (XNNPACKBackend.h)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class XnnpackOptions:
    """The runtime reads no compile specs: files of other exporters may have some."""
