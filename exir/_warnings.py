# SPDX-License-Identifier: BSD-3-Clause
"""Decorators that mark parts of the API as deprecated or experimental; using them warns."""

from __future__ import annotations

from typing_extensions import deprecated

__all__ = ["ExperimentalWarning", "deprecated", "experimental"]


class ExperimentalWarning(DeprecationWarning):
    """The API may change or go without notice."""


class experimental(deprecated):
    """`@experimental("This API is experimental and may change.")`"""

    def __init__(
        self,
        message: str,
        /,
        *,
        category: type[Warning] | None = ExperimentalWarning,
        stacklevel: int = 1,
    ) -> None:
        super().__init__(message, category=category, stacklevel=stacklevel)
