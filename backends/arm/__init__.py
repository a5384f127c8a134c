# SPDX-License-Identifier: BSD-3-Clause
"""Arm: Ethos-U, VGF and TOSA. Importing this needs none of their tools; what needs one says so."""

from __future__ import annotations

from executorch._lazy import lazy_names

_HOMES = {
    "EthosUBackend": "ethosu.backend",
    "EthosUCompileSpec": "ethosu.compile_spec",
    "EthosUPartitioner": "ethosu.partitioner",
    "EthosUQuantizer": "quantizer",
    "VgfBackend": "vgf.backend",
    "VgfCompileSpec": "vgf.compile_spec",
    "VgfPartitioner": "vgf.partitioner",
    "VgfQuantizer": "quantizer",
    "get_symmetric_a16w8_quantization_config": "quantizer",
    "get_symmetric_quantization_config": "quantizer",
}
LAZY_IMPORTS = {name: (f"{__name__}.{home}", name) for name, home in _HOMES.items()}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
