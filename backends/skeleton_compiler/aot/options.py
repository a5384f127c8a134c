# SPDX-License-Identifier: BSD-3-Clause
"""What users may ask of the backend when they compile for it; the runtime's side is options.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

from executorch.exir.backend.lowering.payload.options import I64, TEXTS


class Performance(IntEnum):
    BALANCED = 0
    BURST = 1


@dataclass(frozen=True)
class CompilerOptions:
    """`max_bytes`: of a context binary; 0 for any."""

    max_bytes: Annotated[int, I64] = 0


@dataclass(frozen=True)
class RuntimeOptions:
    performance: Performance = Performance.BALANCED


@dataclass(frozen=True)
class SkeletonCompilerOptions:
    """`devices`: that the program is compiled for; the runtime takes what is for its own."""

    devices: Annotated[tuple[str, ...], TEXTS] = ("v2",)
    compiler: CompilerOptions = CompilerOptions()
    runtime: RuntimeOptions = RuntimeOptions()
