# SPDX-License-Identifier: BSD-3-Clause
"""Language models for MPS, with static sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.apple.mps.aot.schema import graph_of
from executorch.backends.apple.mps.test import mps_evaluator
from executorch.devtools.commands.program_file import ProgramFile
from executorch.extension.llm.export.config.rules import check
from executorch.extension.llm.export.partitioner_lib import get_mps_partitioner
from executorch.extension.llm.export.pipeline import (
    export_llama,
    output_path,
    partitioners_for,
)
from executorch.extension.llm.transform.transform_test import (
    TOKENS,
    checkpoint,
    config_for,
    prepared,
    stepwise,
)

__all__ = ["checkpoint"]  # the fixture
STEPS = tuple((place, place + 1) for place in range(6))
pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")


def config_of(folder: Path, path: Path | None = None, **model: Any) -> Any:
    return config_for(
        folder,
        model={"enable_dynamic_shape": False, "use_kv_cache": True, **model},
        backend={"mps": {"enabled": True}},
        export={"output_name": str(path)} if path else {},
    )


@pytest.mark.slow
def test_tokens_are_right_one_after_the_other(checkpoint: tuple, tmp_path: Path) -> None:
    """All of the model is a delegate, which is given the caches and gives them back. In halves: 11 bits, through two
    layers."""
    config = config_of(checkpoint[0], tmp_path / "m.pte")
    expected = stepwise(prepared(config), STEPS)
    export_llama(config)
    file = ProgramFile(tmp_path / "m.pte")
    (plan,) = [each for each in file.program.execution_plan if each.name == "forward"]
    (delegate,) = plan.delegates
    assert delegate.id == "MPSBackend" and [each.name for each in plan.operators] == ["aten::copy_"]
    graph, _ = graph_of(file.payload(delegate))
    run = mps_evaluator.load(file.payload(delegate))
    shapes = [list(graph.mps_values[each].dims) for each in graph.input_ids]
    caches = [torch.zeros(shape) for shape in shapes if len(shape) == 4]
    assert len(caches) == 4 and [len(shape) for shape in shapes] == [2, 1, 4, 4, 4, 4]
    found = []
    for start, end in STEPS:
        results = run([TOKENS[:, start:end], torch.tensor([start]), *caches])
        caches = [each for each in results if each.dim() == 4]
        found += [each for each in results if each.dim() != 4]
    torch.testing.assert_close(torch.cat(found), expected, rtol=0, atol=0.02)


def test_names_and_options(checkpoint: tuple) -> None:
    config = config_of(checkpoint[0])
    check(config)
    assert output_path(config).name.startswith("mps_")
    (found,) = partitioners_for(config)
    assert found.delegation_spec == get_mps_partitioner(use_kv_cache=True).delegation_spec
    assert found.delegation_spec.backend_id == "MPSBackend"
    with pytest.raises(ValueError, match="get_mps_partitioner: use_kv_cache=True is expected"):
        get_mps_partitioner()


@pytest.mark.parametrize("model", [{"enable_dynamic_shape": True}, {"use_kv_cache": False}])
def test_what_cannot_be(checkpoint: tuple, model: dict[str, bool]) -> None:
    with pytest.raises(ValueError, match="which the MPS backend needs for static sizes"):
        check(config_of(checkpoint[0], **model))
