# SPDX-License-Identifier: BSD-3-Clause
"""The short forms of the export steps, one by one and together."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.extension.export_util import utils
from executorch.runtime import Runtime

X = torch.randn(2, 3)


def test_the_steps_are_those_of_export_to_edge() -> None:
    model = torch.nn.Linear(3, 4).eval()
    exported = utils._to_core_aten(model, (X,), verbose=False)
    assert isinstance(exported, torch.export.ExportedProgram)
    stepwise = utils._core_aten_to_edge(exported, {"get_answer": 42}, verbose=False)
    at_once = utils.export_to_edge(model, (X,), edge_constant_methods={"get_answer": 42})
    assert stepwise.methods == at_once.methods == {"forward"}
    assert stepwise.config_methods == at_once.config_methods == {"get_answer"}
    code = [str(edge.exported_program().graph) for edge in (stepwise, at_once)]
    assert code[0] == code[1]


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(ValueError, match="instance of nn.Module.*function"):
        utils.export_to_edge(lambda x: x, (X,))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [str, Path])
def test_a_saved_program_runs(kind: type, tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 4).eval()
    path = utils.save_pte_program(utils.export_to_exec_prog(model, (X,)), "m", kind(tmp_path))
    (output,) = Runtime.get().load_program(path).load_method("forward").execute([X])
    torch.testing.assert_close(output, model(X))
