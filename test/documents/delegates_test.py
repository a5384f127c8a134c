# SPDX-License-Identifier: BSD-3-Clause
"""The documents' code on delegates, as pages/delegates.md holds it, runs."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.backend.test.op_partitioner_demo import (
    AddMulPartitionerDemo,
    AllNodesPartitionerDemo,
)
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.test.documents import guide
from executorch.test.e2e.build_tree import load_demo_backends

load_demo_backends()

# Name -> SHA-256 of the document's block without white space, in the order of the page.
BLOCKS = {
    "whole": "e603b5de8e4b4ce70b359d08f8a0d01526de1261b0ac0f41cdfb7b658047bb64",
    "save": "ab8155e210af00095d82b8a97856389ccc00a895219857f0363741e4e012f169",
    "composite": "fb8f0d7275d282299b658f9a75f283b2509ab4f3833236d481d752f49914c83c",
    "partitioner": "1428f812e8edac3ad09128eddae2817f781b7e2d0b45db791a51cbccafdb5b26",
    "by_hand": "086f0f5e991e794ac2ecfc6a9475a4306d4fccd42aa1918af66f8c38ffb7f0c8",
    "format": "1797bf696307afb6f090da0cecee73bb1215de0de212096c7d7a9efcc3803ce1",
    "inspect": "6d0ba4f0329857669663ad363b634681011da43a8ab474ba1eadb3b794f32a8c",
}


def blocks() -> dict[str, str]:
    page = (guide.FOLDER / "delegates.md").read_text()
    return dict(zip(BLOCKS, re.findall(r"```python\n(.*?)```", page, re.S), strict=True))


def run(name: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(blocks()[name], f"delegates.md ({name})", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def saved(*inputs: torch.Tensor) -> list[torch.Tensor]:
    return _load_for_executorch("delegate.pte").forward(inputs)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_the_documents(name: str) -> None:
    squeezed = re.sub(r"\s+", "", blocks()[name])
    assert hashlib.sha256(squeezed.encode()).hexdigest() == BLOCKS[name]


@pytest.mark.req("CMP-042", "CMP-043")
def test_flow_1_and_2(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("whole", {})
    module = names["lowered_module"]
    print(module)
    assert capsys.readouterr().out == "LoweredBackendModule()\n"
    assert module.backend_id == "BackendWithCompilerDemo"
    expected = b"1#op:demo::aten.sin.default, numel:1, dtype:torch.float32<debug_handle>1#"
    assert module.processed_bytes == expected
    run("save", names)
    x = torch.tensor([0.7])
    torch.testing.assert_close(saved(x)[0], torch.sin(x))
    run("composite", names)
    torch.testing.assert_close(tuple(saved(x)), names["composite_model"](x))


@pytest.mark.req("CMP-042", "CMP-005")
def test_flow_3() -> None:
    names = run("partitioner", {})
    modules = get_lowered_backend_modules(names["edge"].exported_program().graph_module)
    assert [module.backend_id for module in modules] == ["BackendWithCompilerDemo"] * 2
    torch.testing.assert_close(
        saved(*names["model_inputs"])[0], names["model"](*names["model_inputs"])
    )


@pytest.mark.req("CMP-051")
def test_two_partitioners_by_hand() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval()
    names = run(
        "by_hand",
        run("partitioner", {})
        | {
            "exported_program": to_edge(export(model, (torch.ones(1, 2),))).exported_program(),
            "backend_1_parititioner": AddMulPartitionerDemo,
            "backend_2_parititioner": AllNodesPartitionerDemo,
        },
    )
    (module,) = get_lowered_backend_modules(names["exported_program_backend_1_and_2"].graph_module)
    assert module.backend_id == "ExecutorBackend"


@pytest.mark.req("CMP-049", "CMP-050")
def test_looking_at_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("partitioner", {})
    run("format", {"et_program": names["edge"]})
    assert "backend_id: BackendWithCompilerDemo" in capsys.readouterr().out
    graph = names["edge"].exported_program().graph
    node = next(node for node in graph.nodes if node.name == "aten_sub_tensor")
    run("inspect", {"graph": graph, "node": node})
    shown = capsys.readouterr().out
    assert "--> %aten_sub_tensor" in shown and '(partitioner)", line 18' in shown
