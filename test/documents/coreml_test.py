# SPDX-License-Identifier: BSD-3-Clause
"""The documents' blocks on Core ML run, but for those that need a Mac: installing Xcode's tools (038.1) and linking the
delegate (038.3)."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

import executorch.exir  # noqa: E402
from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer  # noqa: E402
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower  # noqa: E402
from executorch.exir.graph_facts import op_name  # noqa: E402
from executorch.test.documents import guide  # noqa: E402
from executorch.test.documents.xnnpack_test import in_a_folder, torchvision  # noqa: E402, F401
from executorch.test.repository.sources import ROOT  # noqa: E402

PAGE = "coreml.md"
MV2, SHAPES, STATIC, WEIGHTS, BITS, TABLES = range(6)  # its blocks of Python
BASE = {"torch": torch, "ct": ct, "executorch": executorch, "CoreMLBackend": CoreMLBackend}
NAMES = BASE | {"CoreMLPartitioner": CoreMLPartitioner, "CoreMLQuantizer": CoreMLQuantizer}


def run(block: int, **names: Any) -> dict[str, Any]:
    return guide.run(guide.today(PAGE)[block], NAMES | names)


def left(edge: EdgeProgramManager) -> list[str]:
    return [name for node in edge.exported_program().graph.nodes if (name := op_name(node))]


def only_calls_delegates(program: Any) -> bool:
    """A program whose plan has no kernels."""
    return not program.executorch_program.execution_plan[0].operators


@pytest.mark.full
@pytest.mark.req("APL-001", "APL-016")
def test_mobilenet_and_its_model() -> None:
    """Blocks 038.2 and 043.1."""
    assert only_calls_delegates(run(MV2)["et_program"])
    words = shlex.split(
        guide.commands(PAGE)["043.1"].replace("/path/to/model.pte", "mv2_coreml.pte")
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / words[1]), *words[2:]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "extracted and saved to path" in done.stdout
    assert Path("extracted_coreml_models/model_1/lowered_module/model.mlpackage").is_dir()


@pytest.mark.full
@pytest.mark.req("APL-012")
def test_mobilenet_in_8_bits() -> None:
    assert only_calls_delegates(run(STATIC)["et_program"])


@pytest.mark.req("APL-011")
def test_listed_sizes() -> None:
    names = run(SHAPES)
    assert left(names["delegated_program"]) == [] and only_calls_delegates(names["et_prog"])


class Words(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.linear = torch.nn.Embedding(32, 64), torch.nn.Linear(64, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.table(x))


@pytest.mark.req("APL-012", "APL-013", "APL-014")
def test_weights_in_few_bits() -> None:
    assert isinstance(run(WEIGHTS)["quantizer"], CoreMLQuantizer)
    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS18)
    for block in (BITS, TABLES):
        model = run(block, eager_model=Words().eval())["eager_model"]
        program = torch.export.export(model, (torch.tensor([1, 2]),))
        edge = to_edge_transform_and_lower(
            program, partitioner=[CoreMLPartitioner(compile_specs=specs)]
        )
        assert left(edge) == []
