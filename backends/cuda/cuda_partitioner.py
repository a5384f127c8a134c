# SPDX-License-Identifier: BSD-3-Clause
"""`CudaPartitioner`: all that no delegate has yet and AOTInductor compiles for a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch.fx import Node

from executorch.backends.aoti.aoti_partitioner import AotiPartitioner
from executorch.backends.aoti.fallbacks import why_not_compiled
from executorch.backends.cuda.cuda_backend import CudaBackend
from executorch.backends.cuda.options import TARGET_DEVICE, is_on, text_of
from executorch.backends.cuda.triton.replacement import replacement_of
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.passes.propagate_device_pass import _parse_device_spec_value

_ATEN = torch.ops.aten
# Triton has templates of matmuls and convolutions, and scans.
_COMPILED = frozenset(
    (
        *(_ATEN.mm.default, _ATEN.bmm.default, _ATEN.addmm.default, _ATEN.convolution.default),
        *(_ATEN.cumsum.default, _ATEN.cumprod.default, _ATEN.logcumsumexp.default),
        *(_ATEN.rand.default, _ATEN.randn.default),
    )
)


@final
class CudaPartitioner(AotiPartitioner):
    """Compile specs are in options.py; `target_device` is cuda:0 where it is not given."""

    def __init__(self, compile_spec: Sequence[CompileSpec] = ()) -> None:
        given = text_of(compile_spec).get(TARGET_DEVICE)
        added = [] if given is not None else [CompileSpec(TARGET_DEVICE, b"cuda:0")]
        specs = [*compile_spec, *added]
        # Refused here rather than by the pass that reads it, behind the compiler.
        _parse_device_spec_value((given or "cuda:0").encode())
        super().__init__(CudaBackend.__name__, specs)
        self._has_kernels = is_on(specs, "triton_kernel_mode", default=True)

    def why_not(self, node: Node) -> str:
        if self._has_kernels and replacement_of(node):
            return ""
        return why_not_compiled(node, CudaBackend.get_supported_fallback_kernels(), _COMPILED)
