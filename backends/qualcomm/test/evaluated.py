# SPDX-License-Identifier: BSD-3-Clause
"""A lowered program whose graphs the evaluator runs, and what is on the CPU PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from executorch.backends.qualcomm.aot.graph import Graph
from executorch.backends.qualcomm.test.recorder import Recorder
from executorch.backends.qualcomm.test.reference.evaluator import evaluate


def run(
    program: ExportedProgram,
    door: Recorder,
    inputs: Sequence[torch.Tensor],
    changed: Callable[[Graph], Graph] = lambda graph: graph,
) -> list[torch.Tensor]:
    """Results of the model; without buffers that it changes. `changed`: of each graph, before it runs."""
    given = iter(inputs)
    stored = {**program.state_dict, **program.constants}
    values = [
        next(given) if each.kind is InputKind.USER_INPUT else stored[each.target]
        for each in program.graph_signature.input_specs
    ]
    return list(_Evaluated(program.graph_module, door, changed).run(*values))


class _Evaluated(torch.fx.Interpreter):
    def __init__(self, module: torch.fx.GraphModule, door: Recorder, changed: Any) -> None:
        super().__init__(module)
        self.door, self.changed = door, changed

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target is not torch.ops.higher_order.executorch_call_delegate:
            return super().call_function(target, args, kwargs)
        lowered, *inputs = args
        number = int(re.search(rb"context (\d+)", lowered.processed_bytes)[1])
        (graph,) = self.door.contexts[number - 1]
        return tuple(evaluate(self.changed(graph), inputs))
