# SPDX-License-Identifier: BSD-3-Clause
"""What users may ask of the backend when they compile for it; the runtime's side is options.h."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SkeletonOptions:
    """`check_finite`: whether a run whose results are not all finite is an error."""

    check_finite: bool = False
