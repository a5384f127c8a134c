# SPDX-License-Identifier: BSD-3-Clause
"""A server on a port of its own, with two runners of a small model."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette

from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.e2e.program_store import ProgramStore


@pytest.fixture(scope="session")
def llama(
    tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore
) -> tiny_llama.TinyLlama:
    return tiny_llama.kept(tmp_path_factory.mktemp("tiny_llama"), program_store)


@contextlib.contextmanager
def running(app: Starlette) -> Iterator[str]:
    """The address of a server of these routes."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    (address,) = [s.getsockname() for each in server.servers for s in each.sockets]
    yield "http://{}:{}".format(*address)
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


@contextlib.contextmanager
def serving(*words: str) -> Iterator[str]:
    """The address of a server with this command line."""
    from executorch.extension.llm.server.__main__ import make_service, parser
    from executorch.extension.llm.server.app import make_app

    options = parser().parse_args(words)
    with running(make_app(make_service(options), options.cors)) as address:
        yield address


@pytest.fixture(scope="session")
def server(llama: tiny_llama.TinyLlama) -> Iterator[str]:
    """Its address."""
    files = ("--model-path", str(llama.program), "--tokenizer-path", str(llama.tokenizer))
    limits = ("--num-runners", "2", "--max-waiting", "30")
    with serving(*files, *limits, "--model-id", "tiny") as address:
        yield address


@pytest.fixture(scope="module")
def sessions_server(llama: tiny_llama.TinyLlama) -> Iterator[str]:
    """That of a program of four sessions, which it takes as runners."""
    files = ("--model-path", str(llama.with_sessions(4)), "--tokenizer-path", str(llama.tokenizer))
    with serving(*files) as address:
        yield address
