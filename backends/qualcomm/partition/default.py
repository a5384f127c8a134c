# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner for who names a SoC at most: without, it is what most phones of 2024 have."""

from __future__ import annotations

from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.compile_specs import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    get_soc_to_chipset_map,
)

SOCS = get_soc_to_chipset_map()


def default_partitioner(soc: str = "SM8650") -> QnnPartitioner:
    """Floats are computed in half precision."""
    htp = generate_htp_compiler_spec(use_fp16=True)
    return QnnPartitioner(generate_qnn_executorch_compiler_spec(SOCS[soc], htp))
