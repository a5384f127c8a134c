# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonQuantizer`: what the annotations of the table's rows say. `quantization_config()` of the kit makes
configurations; a backend that computes on quantized values alone says `everywhere = True`."""

from __future__ import annotations

from executorch.backends.skeleton.aot.ops import TABLE
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer


class SkeletonQuantizer(TableQuantizer):
    table = TABLE
