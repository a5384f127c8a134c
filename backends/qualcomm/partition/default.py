# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner for who names no SoC: what most phones of 2024 have."""

from __future__ import annotations

from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.compile_specs import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
)
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset


def default_partitioner() -> QnnPartitioner:
    """For SM8650, in half precision."""
    htp = generate_htp_compiler_spec(use_fp16=True)
    return QnnPartitioner(generate_qnn_executorch_compiler_spec(QcomChipset.SM8650, htp))
