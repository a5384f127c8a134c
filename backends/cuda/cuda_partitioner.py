# SPDX-License-Identifier: BSD-3-Clause
"""`CudaPartitioner`: all that no delegate has yet and AOTInductor compiles for a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from executorch.backends.aoti.aoti_partitioner import AotiPartitioner
from executorch.backends.cuda.cuda_backend import CudaBackend
from executorch.backends.cuda.options import TARGET_DEVICE, text_of
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.passes.propagate_device_pass import _parse_device_spec_value


@final
class CudaPartitioner(AotiPartitioner):
    """Compile specs are in options.py; `target_device` is cuda:0 where it is not given."""

    def __init__(self, compile_spec: Sequence[CompileSpec] = ()) -> None:
        given = text_of(compile_spec).get(TARGET_DEVICE)
        added = [] if given is not None else [CompileSpec(TARGET_DEVICE, b"cuda:0")]
        specs = [*compile_spec, *added]
        _parse_device_spec_value((given or "cuda:0").encode())
        super().__init__(CudaBackend.__name__, specs)
