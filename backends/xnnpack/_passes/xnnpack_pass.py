# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Base of passes that need the program of the graph they change: its parameters, its signature."""

from torch.export import ExportedProgram

from executorch.exir.pass_base import ExportPass


class XNNPACKPass(ExportPass):
    def __init__(self, exported_program: ExportedProgram) -> None:
        super().__init__()
        self._exported_program = exported_program

    @property
    def exported_program(self) -> ExportedProgram:
        return self._exported_program


__all__ = ["ExportPass", "XNNPACKPass"]
