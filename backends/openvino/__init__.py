# SPDX-License-Identifier: BSD-3-Clause
"""OpenVINO: Intel's CPUs, GPUs and NPUs. Importing this needs neither openvino nor nncf; what needs one says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names

if TYPE_CHECKING:
    from executorch.backends.openvino.partitioner import OpenvinoPartitioner
    from executorch.backends.openvino.preprocess import OpenvinoBackend
    from executorch.backends.openvino.quantizer import OpenVINOQuantizer

__all__ = ["OpenVINOQuantizer", "OpenvinoBackend", "OpenvinoPartitioner"]

_HOMES = {
    "OpenVINOQuantizer": "quantizer",
    "OpenvinoBackend": "preprocess",
    "OpenvinoPartitioner": "partitioner",
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
