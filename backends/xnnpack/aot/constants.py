# SPDX-License-Identifier: BSD-3-Clause
"""What is known ahead of time: the data of a program, and what quantizing and dequantizing makes of them."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend.lowering import constants
from executorch.exir.backend.lowering.quantized import OF_WEIGHTS


class Constants(constants.Constants):
    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program, OF_WEIGHTS)
