# SPDX-License-Identifier: BSD-3-Clause
"""Operators that coremltools' frontend lacks, or reads otherwise than programs here have them: registered when this is
imported."""

from __future__ import annotations

_HINT = (
    "ExecuTorch hint: pass `compile_specs=CoreMLBackend.generate_compile_specs(minimum_deployment_target="
    "ct.target.iOS18)` (or higher) to `CoreMLPartitioner` when lowering models that use `quantize_(...)`."
)


def with_hint(reason: str) -> str:
    return f"{reason} {_HINT}" if "iOS18" in reason and "constexpr" in reason else reason
