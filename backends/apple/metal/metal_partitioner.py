# SPDX-License-Identifier: BSD-3-Clause
"""`MetalPartitioner`: all that no delegate has yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from executorch.backends.aoti.aoti_partitioner import AotiPartitioner
from executorch.backends.apple.metal.metal_backend import MetalBackend
from executorch.exir.backend.compile_spec_schema import CompileSpec


@final
class MetalPartitioner(AotiPartitioner):
    def __init__(self, compile_spec: Sequence[CompileSpec]) -> None:
        super().__init__(MetalBackend.__name__, compile_spec)
