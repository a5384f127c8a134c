# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as Model Explorer's files, and its server, for which a small stand-in with the same interface answers here."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.visualization import (
    ModelExplorerServer,
    SingletonModelExplorerServer,
    visualize,
    visualize_graph,
    visualize_with_clusters,
)
from executorch.devtools.visualization import visualization_utils as utils
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.test.repository.sources import ROOT

HERE = Path(__file__).parent
STYLES = HERE / "model_explorer_styles" / "cluster_highlight_style.json"
STAND_IN = """
import sys, time, pathlib, shutil

class Config:
    def __init__(self): self.models, self.reuse = [], False
    def add_model_from_path(self, path): self.models.append(path); return self
    def set_reuse_server(self): self.reuse = True

def config(): return Config()
def visualize_from_config(config, no_open_in_browser=False, **kwargs):
    target = pathlib.Path(__file__).parent / "shown.json"
    shutil.copy(config.models[0], target)
    target.with_suffix(".txt").write_text(f"{config.reuse} {no_open_in_browser} {sorted(kwargs)}")
"""


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)).cumsum(1)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,))


PROGRAM = export(Model(), (torch.ones(2, 4),))


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "model_explorer"
    package.mkdir()
    (package / "__init__.py").write_text(STAND_IN)
    (package / "__main__.py").write_text("import time; time.sleep(60)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "model_explorer", raising=False)
    for each in (ModelExplorerServer, SingletonModelExplorerServer):
        monkeypatch.setattr(each, "wait_after_start", 0.05)
    yield package / "shown.json"
    sys.modules.pop("model_explorer", None)
    importlib.invalidate_caches()


def nodes(path: Path, graph: str = "forward") -> dict[str, dict[str, Any]]:
    collection = json.loads(path.read_text())
    assert set(collection) == {"label", "graphs"}  # the form that the page takes
    (found,) = (each for each in collection["graphs"] if each["id"] == graph)
    return {node["id"]: node for node in found["nodes"]}


@pytest.mark.req("DT-034")
def test_nodes_are_grouped_by_module(shown: Path) -> None:
    visualize(PROGRAM, no_open_in_browser=True, port=8080)
    found = nodes(shown)
    assert found["linear"]["namespace"] == "layers/0/linear"
    assert found["relu_1"]["namespace"] == "layers/1" and found["relu_1"]["label"] == "relu"
    assert {edge["sourceNodeId"] for edge in found["relu_1"]["incomingEdges"]} == {"linear_1"}
    shape = found["relu"]["outputsMetadata"][0]["attrs"]
    assert shape == [{"key": "shape", "value": "float32[2, 4]"}]
    attributes = {each["key"]: each["value"] for each in found["cumsum"]["attrs"]}
    assert attributes["dim"] == "1" and "visualization_utils_test.py" in attributes["line"]
    assert [node["label"] for node in nodes(shown, "forward/true_graph_0").values()][1] == "sin"
    assert shown.with_suffix(".txt").read_text() == "True True ['port']"


@pytest.mark.req("DT-034")
def test_partitions_and_clusters_are_boxes(tmp_path: Path) -> None:
    """The document's second way: a file, and no server."""
    program = to_edge(PROGRAM).exported_program()
    XnnpackPartitioner().partition(program)
    path = tmp_path / "my_model.json"
    visualize_with_clusters(program, str(path))
    found = nodes(path)
    boxes = {name: node["namespace"] for name, node in found.items() if node["namespace"]}
    assert boxes["aten_linear_default"].startswith("partition tag")
    assert boxes["aten_linear_default"] == boxes["aten_relu_default"]
    assert "aten_cumsum_default" not in boxes
    visualize_with_clusters(
        program,
        str(path),
        get_node_partition_name=lambda node: "all",
        get_node_qdq_cluster_name=lambda node: "sums" if "cumsum" in node.name else None,
    )
    assert nodes(path)["aten_cumsum_default_1"]["namespace"] == "partition all/cluster sums"


def test_delegates_are_graphs_of_their_own(shown: Path) -> None:
    lowered = to_edge_transform_and_lower(PROGRAM, partitioner=[XnnpackPartitioner()])
    visualize(lowered)
    assert "aten_linear_default" in nodes(shown, "forward/lowered_module_0")
    visualize(lowered.to_executorch(), reuse_server=False)
    assert shown.with_suffix(".txt").read_text() == "False False []"
    visualize_graph(PROGRAM.graph_module, PROGRAM)
    assert "linear" in nodes(shown, "graph")
    visualize_with_clusters(PROGRAM)
    assert nodes(shown)["linear"]["namespace"] == ""


def test_servers_live_as_long_as_they_are_open(shown: Path) -> None:
    with ModelExplorerServer(open_in_browser=False, port=8081) as server:
        process = server._process
        assert process is not None and process.poll() is None
        assert process.args[-2:] == ["--no_open_in_browser", "--port=8081"]
    assert process.poll() is not None
    with SingletonModelExplorerServer(open_in_browser=False):
        first = SingletonModelExplorerServer.server
        with SingletonModelExplorerServer():
            assert SingletonModelExplorerServer.server is first
        assert first is not None and first.poll() is None
    assert SingletonModelExplorerServer.server is None and first.poll() is not None
    (shown.parent / "__main__.py").write_text("raise SystemExit(3)")
    monkey = ModelExplorerServer()
    monkey.wait_after_start = 2.0
    with pytest.raises(RuntimeError, match="ended with 3"):
        monkey.start()


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "model_explorer", None)
    for call in (lambda: visualize(PROGRAM), utils.visualize_model_explorer):
        with pytest.raises(ImportError, match="pip install ai-edge-model-explorer"):
            call()


@pytest.mark.req("DT-036")
def test_the_script_installs_what_the_error_names(tmp_path: Path) -> None:
    """The command line that pip gets, from another folder; what pip answers is the script's answer."""
    called, python = tmp_path / "called", tmp_path / "python"
    python.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {called}\nexit 3\n")
    python.chmod(0o755)
    script = ROOT / "devtools" / "install_requirements.sh"
    environment = {**os.environ, "PYTHON_EXECUTABLE": str(python)}
    done = subprocess.run([script, "--quiet"], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 3
    module, pip, install, package, *more = called.read_text().split()
    assert [module, pip, install, *more] == ["-m", "pip", "install", "--quiet"]
    assert package.partition(">=")[0] == "ai-edge-model-explorer"  # as the error above says


@pytest.mark.req("DT-035")
def test_the_style_colours_partitions(tmp_path: Path) -> None:
    """Every rule has the form that Model Explorer exports; every partition's box is met by one of them."""
    rules = json.loads(STYLES.read_text())
    for rule in rules:
        assert rule["version"] == "v2" and set(rule["styles"]) == {"node_bg_color"}
        kind, regex = rule["queries"]
        assert kind == {"type": "node_type", "nodeType": rule["nodeType"]}
        assert regex["type"] == "regex" and regex["matchTypes"] == ["title"]
    patterns = [rule["queries"][1]["queryRegex"] for rule in rules]
    for number in (0, 7, 42):
        assert sum(bool(re.search(each, f"partition tag{number}", re.I)) for each in patterns) == 1
