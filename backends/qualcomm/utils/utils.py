# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Documented path of what users call."""

from executorch.backends.qualcomm.aot.compiler import get_qnn_context_binary_alignment
from executorch.backends.qualcomm.aot.lower import (
    dump_context_from_pte,
    qnn_edge_config,
    to_edge_transform_and_lower_to_qnn,
)
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
    "dump_context_from_pte",
    "generate_gpu_compiler_spec",
    "generate_htp_compiler_spec",
    "generate_lpai_compiler_spec",
    "generate_qnn_executorch_compiler_spec",
    "get_qnn_context_binary_alignment",
    "get_soc_to_chipset_map",
    "get_soc_to_htp_arch_map",
    "get_soc_to_lpai_hw_ver_map",
    "qnn_edge_config",
    "to_edge_transform_and_lower_to_qnn",
]
