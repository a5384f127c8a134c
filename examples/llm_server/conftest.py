# SPDX-License-Identifier: BSD-3-Clause
"""A server on a port of its own, with two runners of a small model."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from executorch.extension.llm.runner.test import tiny_llama


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> tiny_llama.TinyLlama:
    return tiny_llama.make(tmp_path_factory.mktemp("tiny_llama"))


@pytest.fixture(scope="session")
def server(llama: tiny_llama.TinyLlama) -> Iterator[str]:
    """Its address."""
    import uvicorn

    from executorch.examples.llm_server.__main__ import make_service, parser
    from executorch.examples.llm_server.app import make_app

    options = parser().parse_args(
        [
            *("--model-path", str(llama.program), "--tokenizer-path", str(llama.tokenizer)),
            *("--num-runners", "2", "--max-waiting", "30", "--model-id", "tiny"),
        ]
    )
    app = make_app(make_service(options))
    running = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=running.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not running.started and time.monotonic() < deadline:
        time.sleep(0.01)
    (address,) = [s.getsockname() for server in running.servers for s in server.sockets]
    yield "http://{}:{}".format(*address)
    running.should_exit = True
    thread.join(30)
    assert not thread.is_alive()
