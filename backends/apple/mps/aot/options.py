# SPDX-License-Identifier: BSD-3-Clause
"""What users may ask of the backend's compiler."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MpsOptions:
    """`use_fp16`: what is float32 outside is computed in half precision."""

    use_fp16: bool = True
