# SPDX-License-Identifier: BSD-3-Clause
"""The two errors of the compiler: `ExportError` (the user's program; says what to do next) and
`InternalError` (our bug); and the line of the user's Python that a node comes from."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.fx import Node


class ExportErrorType(Enum):
    INVALID_INPUT_TYPE = 1
    INVALID_OUTPUT_TYPE = 2
    VIOLATION_OF_SPEC = 3
    NOT_SUPPORTED = 4
    MISSING_PROPERTY = 5
    UNINITIALIZED = 6


class InternalError(Exception):
    """An invariant of the compiler does not hold; never the user's fault."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ExportError(Exception):
    """The program cannot be exported as it stands; the message tells what to change."""

    def __init__(self, error_code: ExportErrorType, message: str) -> None:
        super().__init__(f"[{error_code}]: {message}")
        self.error_code = error_code
        self.message = message

    def as_text(self) -> str:
        """For a terminal: lists and code keep their lines."""
        return self.message


def internal_assert(pred: bool, assert_msg: str) -> None:
    if not pred:
        raise InternalError(assert_msg)


def source_line(node: Node) -> str:
    """' from File ...: code' of the innermost frame of the user; empty when the program has not kept it."""
    trace = node.meta.get("stack_trace")
    if not trace:
        return ""
    lines = [line.strip() for line in trace.strip().splitlines() if line.strip()]
    places = [index for index, line in enumerate(lines) if line.startswith("File ")]
    written = [place for place in places if not lines[place].startswith('File "<eval_with_key>')]
    if not places:
        return ""
    place = (written or places)[-1]
    code = lines[place + 1] if place + 1 < len(lines) else ""
    return f" from {lines[place]}: {code[:_CODE_LENGTH]}"


_CODE_LENGTH = 160
