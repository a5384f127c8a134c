# SPDX-License-Identifier: BSD-3-Clause
"""Builds by Emscripten, networks with their native numbers and servers, for the tests of this folder."""

from __future__ import annotations

import http.server
import os
import runpy
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.test.e2e.build_tree import ROOT

HERE = ROOT / "extension" / "wasm"  # no part of the installed package
NETWORKS = ("mv2", "mv2_int8", "vit")
THREADS = "-DEXECUTORCH_WASM_THREADS=ON"

Build = Callable[..., Path]


def _built(name: str, *options: str, target: str = "executorch_wasm_page") -> Path:
    from executorch.test.install.commands import beside, command

    folder = beside(name)
    # Debian's Emscripten does not find its own parser without the path of Debian's Node modules.
    modules = os.environ.get("NODE_PATH", "/usr/share/nodejs")
    command("emcmake", "cmake", "--preset", "wasm", "-B", folder, *options, NODE_PATH=modules)
    command("cmake", "--build", folder, "--target", target, NODE_PATH=modules)
    return folder / "extension" / "wasm"


@pytest.fixture(scope="session")
def built() -> Build:
    """built(name, *options, target): the folder of the interface in a build that stays."""
    return _built


@pytest.fixture(scope="session")
def package(built: Build) -> Path:
    return built("wasm") / "page"


@pytest.fixture(scope="session")
def threaded(package: Path, built: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with its folder of threads."""
    folder = tmp_path_factory.mktemp("threaded") / "page"
    shutil.copytree(package, folder)
    made = built("wasm-threads", THREADS, target="executorch_wasm_package")
    shutil.copytree(made / "threads", folder / "threads")
    return folder


@pytest.fixture(scope="session")
def with_text(built: Build) -> Path:
    """A package with language models and tokenizers."""
    options = [
        f"-DEXECUTORCH_{name}=ON"
        for name in (
            "BUILD_EXTENSION_LLM_RUNNER",
            "BUILD_KERNELS_LLM",
            "BUILD_KERNELS_TORCHAO",
            "BUILD_TOKENIZERS_WASM",
        )
    ]
    return built("wasm-text", *options) / "page"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    runpy.run_path(str(HERE / "test" / "programs.py"))["write"](folder)
    return folder


def native_milliseconds(folder: Path, inputs: tuple[torch.Tensor, ...]) -> float:
    """The median of ten runs of libexecutorch_c, on one thread."""
    from executorch.extension.c.python import Library
    from executorch.test.e2e.build_tree import loadable

    library = Library(loadable("executorch_c"))
    library.check(library.api.set_num_threads(1))
    arrays, times = [each.numpy() for each in inputs], []
    with library.load(str(folder / "program.pte")) as module:
        for _ in range(11):
            start = time.perf_counter()
            module.execute(*arrays)
            times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times[1:])


@pytest.fixture(scope="session", params=NETWORKS)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with program.pte, inputs and the native outputs."""
    from executorch.backends.xnnpack import XnnpackPartitioner
    from executorch.examples.models import make_example
    from executorch.examples.xnnpack.quantization import quantized_method
    from executorch.exir import to_edge_transform_and_lower
    from executorch.test.e2e.cpp_calls import call_in_cpp

    folder = tmp_path_factory.mktemp(request.param)
    method = make_example(request.param.removesuffix("_int8")).forward
    if request.param.endswith("_int8"):
        method = quantized_method(method)
    lowered = to_edge_transform_and_lower(method.export(), partitioner=[XnnpackPartitioner()])
    (folder / "program.pte").write_bytes(lowered.to_executorch().buffer)
    (folder / "inputs").write_bytes(b"".join(each.numpy().tobytes() for each in method.inputs))
    (outputs,) = call_in_cpp(folder / "program.pte", [("forward", list(method.inputs))])
    (folder / "expected").write_bytes(b"".join(each.numpy().tobytes() for each in outputs))
    (folder / "milliseconds").write_text(str(native_milliseconds(folder, method.inputs)))
    return folder


Serve = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="session")
def serve() -> Serve:
    """serve(folder, is_isolated): the address of a server of this machine, with or without the headers for threads."""
    handler = runpy.run_path(str(HERE / "serve.py"))["Handler"]

    @contextmanager
    def serve(folder: Path, is_isolated: bool = False) -> Iterator[str]:
        headers = handler.headers_of_all if is_isolated else {}
        quiet = {"headers_of_all": headers, "log_message": lambda *values: None}
        made = partial(type("Quiet", (handler,), quiet), directory=str(folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), made) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            host, port = server.server_address[:2]
            yield f"http://{host!s}:{port}"
            server.shutdown()

    return serve


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A language model with real weights, as floats, and what libexecutorch_c writes with it on one thread."""
    from executorch.examples.demo import smollm2
    from executorch.extension.c.python import Library
    from executorch.test.e2e.build_tree import loadable

    folder, prompt, count = tmp_path_factory.mktemp("smollm2"), smollm2.PROMPTS[0], 40
    program = smollm2.export(smollm2.fetch(folder), folder, [smollm2.FLOAT])
    library = Library(loadable("executorch_c"))
    library.check(library.api.set_num_threads(1))
    with library.text(program, folder / "tokenizer.json") as session:
        times: list[float] = []
        answer = session.generate(
            prompt, lambda piece: times.append(time.perf_counter()),
            sampling={"temperature": 0.0}, max_new_tokens=count, ignores_end=1,
        )  # fmt: skip
    return {
        "program": program, "tokenizer": folder / "tokenizer.json", "prompt": prompt, "count": count,
        "text": answer.text, "speed": (count - 1) / (times[-1] - times[0]),
    }  # fmt: skip
