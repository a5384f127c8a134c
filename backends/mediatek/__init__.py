# SPDX-License-Identifier: BSD-3-Clause
"""Programs for MediaTek's NPUs. Importing wants no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names

if TYPE_CHECKING:
    from executorch.backends.mediatek.partitioner import NeuropilotPartitioner
    from executorch.backends.mediatek.preprocess import NeuropilotBackend
    from executorch.backends.mediatek.quantizer import NeuropilotQuantizer, Precision

__all__ = ["NeuropilotBackend", "NeuropilotPartitioner", "NeuropilotQuantizer", "Precision"]

_HOMES = {
    "NeuropilotBackend": "preprocess",
    "NeuropilotPartitioner": "partitioner",
    "NeuropilotQuantizer": "quantizer",
    "Precision": "quantizer",
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
