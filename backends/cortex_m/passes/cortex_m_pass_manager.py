# SPDX-License-Identifier: BSD-3-Clause
"""`CortexMPassManager`: an edge program's calls become operators of cortex_m."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.cortex_m.passes.before_annotation import REWRITES
from executorch.backends.cortex_m.passes.channels_last import ChannelsLast
from executorch.backends.cortex_m.passes.edge_config import FOR_TABLES
from executorch.backends.cortex_m.passes.table import QUANTIZE_TABLE, TABLE
from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
from executorch.exir.backend.lowering.kernels.decompose_preserved import DecomposePreservedPass
from executorch.exir.backend.lowering.kernels.requantization import FoldRequantizationPass
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.program._transform import _transform, lift_constant_tensor_pass
from executorch.exir.program_copies import drop_unused_data

DEFAULT_TARGET = CortexMTargetConfig(CortexM.M55)


class AtenToCortexMPass(TablePass):
    """Rows of the table, for a processor."""

    def __init__(
        self,
        exported_program: ExportedProgram | None = None,
        target_config: CortexMTargetConfig | None = None,
    ) -> None:
        super().__init__(TABLE, exported_program, target_config or DEFAULT_TARGET)


class ReplaceQuantNodesPass(TablePass):
    """quantized_decomposed.quantize_per_tensor  ->  cortex_m.quantize_per_tensor, and back."""

    def __init__(self) -> None:
        super().__init__(QUANTIZE_TABLE)


class DecomposePreserved(DecomposePreservedPass):
    """hardswish, hardsigmoid and silu of floats."""

    def __init__(self, exported_program: ExportedProgram) -> None:
        super().__init__(exported_program, FOR_TABLES)


class CortexMPassManager:
    """`passes`: classes, made with `exported_program` and `target_config` where they take these; None, all of
    `pass_list`."""

    pass_list: ClassVar[list[type]] = [
        FoldRequantizationPass,
        ChannelsLast,
        AtenToCortexMPass,
        ReplaceQuantNodesPass,
        DecomposePreserved,
    ]
    pass_list_transform_for_annotation: ClassVar[list[Any]] = list(REWRITES)

    def __init__(
        self,
        exported_program: ExportedProgram | None,
        passes: list[type] | None = None,
        target_config: CortexMTargetConfig | None = None,
    ) -> None:
        self.exported_program = exported_program
        self.passes = self.pass_list if passes is None else passes
        self.target_config = target_config or DEFAULT_TARGET

    def transform(self) -> ExportedProgram:
        program = self.exported_program
        if not isinstance(program, ExportedProgram):
            raise ValueError(
                f"{type(self).__name__}.transform() needs a real ExportedProgram, found {type(program).__name__}"
            )
        for one in self.passes:
            if not inspect.isclass(one):
                raise ValueError(
                    f"{type(self).__name__} expects pass classes, not instances: found {one}"
                )
            program = _transform(program, self._made(one, program))
        lift_constant_tensor_pass(program)
        drop_unused_data(program)
        return program

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        for rewrite in self.pass_list_transform_for_annotation:
            rewrite(model)
        return model

    def _made(self, one: type, program: ExportedProgram) -> Any:
        given = {"exported_program": program, "target_config": self.target_config}
        names = inspect.signature(one.__init__).parameters
        return one(**{name: value for name, value in given.items() if name in names})


def edge_passes(method_name: str, program: ExportedProgram) -> list[Any]:
    """For `edge_transform_passes` of a recipe."""
    return [
        FoldRequantizationPass(),
        ChannelsLast(program),
        AtenToCortexMPass(program),
        ReplaceQuantNodesPass(),
        DecomposePreserved(program),
    ]
