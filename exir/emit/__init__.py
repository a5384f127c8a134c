# SPDX-License-Identifier: BSD-3-Clause
"""From planned graphs to a program: one walk per method."""

from executorch.exir.emit._emit_program import EmitterOutput, emit_program

__all__ = ["EmitterOutput", "emit_program"]
