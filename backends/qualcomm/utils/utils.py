# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Documented path of what users call."""

from executorch.backends.qualcomm.serialization.compile_specs import (
    generate_gpu_compiler_spec,
    generate_htp_compiler_spec,
    generate_lpai_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    get_soc_to_chipset_map,
    get_soc_to_htp_arch_map,
    get_soc_to_lpai_hw_ver_map,
)
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset

__all__ = [
    "QcomChipset",
    "generate_gpu_compiler_spec",
    "generate_htp_compiler_spec",
    "generate_lpai_compiler_spec",
    "generate_qnn_executorch_compiler_spec",
    "get_soc_to_chipset_map",
    "get_soc_to_htp_arch_map",
    "get_soc_to_lpai_hw_ver_map",
]
