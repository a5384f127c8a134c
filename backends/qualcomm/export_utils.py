# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Documented path of what scripts call."""

from executorch.backends.qualcomm.device.adb import SimpleADB, generate_inputs
from executorch.backends.qualcomm.device.build import build_executorch_binary, make_quantizer
from executorch.backends.qualcomm.device.config import (
    QnnConfig,
    get_backend_type,
    setup_common_args_and_variables,
)

__all__ = [
    "QnnConfig",
    "SimpleADB",
    "build_executorch_binary",
    "generate_inputs",
    "get_backend_type",
    "make_quantizer",
    "setup_common_args_and_variables",
]
