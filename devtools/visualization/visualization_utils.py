# SPDX-License-Identifier: BSD-3-Clause
"""Programs as graphs in Model Explorer, grouped by nn.Module, or by delegates' partitions and quantized clusters.

Model Explorer is a package of its own: `./devtools/install_requirements.sh`, or pip install ai-edge-model-explorer.
Without it, graphs can still be written to files.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.devtools.visualization.model_graph import Namespace, collection, module_path
from executorch.exir import EdgeProgramManager, ExecutorchProgramManager

Visualizable = ExportedProgram | EdgeProgramManager | ExecutorchProgramManager
_PACKAGE = "model_explorer"


def _model_explorer() -> ModuleType:
    try:
        return importlib.import_module(_PACKAGE)
    except ImportError as problem:
        raise ImportError(
            "Model Explorer is not installed: run ./devtools/install_requirements.sh, or "
            "pip install ai-edge-model-explorer; visualize_with_clusters(program, 'file.json') does without"
        ) from problem


class ModelExplorerServer(ExitStack):
    """A server as a process, which lives while a `with` lasts. `port`: 8080, or the next free one, unless given."""

    wait_after_start = 2.0  # seconds

    def __init__(self, open_in_browser: bool = True, port: int | None = None) -> None:
        super().__init__()
        self._open_in_browser, self._port = open_in_browser, port
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ModelExplorerServer:
        self.start()
        return self

    def start(self) -> None:
        """ImportError without the package, RuntimeError when the server ends at once."""
        _model_explorer()
        self._process = _start(self._open_in_browser, self._port)
        self.callback(self.kill)
        time.sleep(self.wait_after_start)
        if self._process.poll() is not None:
            raise RuntimeError(
                f"Model Explorer's server ended with {self._process.returncode}; is port {self._port or 8080} in use?"
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class SingletonModelExplorerServer(ExitStack):
    """One server for all that are open at a time: the first starts it, the last ends it."""

    server: ClassVar[subprocess.Popen[bytes] | None] = None
    num_open: ClassVar[int] = 0
    wait_after_start = 3.0  # seconds

    def __init__(self, open_in_browser: bool = True, port: int | None = None) -> None:
        super().__init__()
        self._open_in_browser, self._port = open_in_browser, port

    def __enter__(self) -> SingletonModelExplorerServer:
        shared = SingletonModelExplorerServer
        if shared.num_open == 0:
            _model_explorer()
            shared.server = _start(self._open_in_browser, self._port)
            time.sleep(self.wait_after_start)
        shared.num_open += 1
        self.callback(self._close)
        return self

    @staticmethod
    def _close() -> None:
        shared = SingletonModelExplorerServer
        shared.num_open -= 1
        if shared.num_open == 0 and shared.server is not None:
            shared.server.kill()
            shared.server.wait()
            shared.server = None


def _start(open_in_browser: bool, port: int | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", _PACKAGE]
    if not open_in_browser:
        command.append("--no_open_in_browser")
    if port is not None:
        command.append(f"--port={port}")
    return subprocess.Popen(command)


def visualize(
    visualizable: Visualizable,
    reuse_server: bool = True,
    no_open_in_browser: bool = False,
    **kwargs: Any,
) -> None:
    """Shows the program's methods by nn.Module. Blocks while its server runs, unless one runs already that is used
    again. `kwargs` go to Model Explorer (host, port, ...)."""
    _show(
        visualizable, _graphs(visualizable), module_path, reuse_server, no_open_in_browser, kwargs
    )


def visualize_graph(
    graph_module: GraphModule,
    exported_program: Visualizable,
    reuse_server: bool = True,
    no_open_in_browser: bool = False,
    **kwargs: Any,
) -> None:
    """As visualize(), of a graph of the program."""
    graphs = {"graph": graph_module}
    _show(exported_program, graphs, module_path, reuse_server, no_open_in_browser, kwargs)


def visualize_with_clusters(
    exported_program: ExportedProgram,
    json_file_name: str | None = None,
    no_open_in_browser: bool = False,
    reuse_server: bool = False,
    get_node_partition_name: Callable[[Node], str | None] = lambda node: node.meta.get(
        "delegation_tag", None
    ),
    get_node_qdq_cluster_name: Callable[[Node], str | None] = lambda node: node.meta.get(
        "cluster", None
    ),
    **kwargs: Any,
) -> None:
    """Shows the nodes of a partition as one box, and in it those of a cluster; nodes of neither stand outside. With
    `json_file_name` only the file is written, which `model-explorer FILE` opens; model_explorer_styles/ has colours."""

    def namespace(node: Node) -> str:
        partition, cluster = get_node_partition_name(node), get_node_qdq_cluster_name(node)
        names = (("partition", partition), ("cluster", cluster))
        return "/".join(f"{kind} {name}" for kind, name in names if name is not None)

    graphs = _graphs(exported_program)
    if json_file_name is not None:
        _write(Path(json_file_name), exported_program, graphs, namespace)
        return
    _show(exported_program, graphs, namespace, reuse_server, no_open_in_browser, kwargs)


def visualize_model_explorer(**kwargs: Any) -> None:
    """Model Explorer's visualize_from_config(), which blocks while its server runs."""
    _model_explorer().visualize_from_config(**kwargs)


def _graphs(visualizable: Visualizable) -> dict[str, GraphModule]:
    if isinstance(visualizable, ExportedProgram):
        return {"forward": visualizable.graph_module}
    return {name: visualizable.exported_program(name).graph_module for name in visualizable.methods}


def _write(
    path: Path, shown: Visualizable, graphs: dict[str, GraphModule], namespace: Namespace
) -> None:
    path.write_text(json.dumps(collection(type(shown).__name__, graphs, namespace), indent=1))


def _show(
    shown: Visualizable,
    graphs: dict[str, GraphModule],
    namespace: Namespace,
    reuse_server: bool,
    no_open_in_browser: bool,
    kwargs: dict[str, Any],
) -> None:
    config = _model_explorer().config()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{type(shown).__name__}.json"
        _write(path, shown, graphs, namespace)
        config.add_model_from_path(str(path))
        if reuse_server:
            config.set_reuse_server()
        visualize_model_explorer(config=config, no_open_in_browser=no_open_in_browser, **kwargs)
        if reuse_server:
            time.sleep(SingletonModelExplorerServer.wait_after_start)  # until it has read the file
