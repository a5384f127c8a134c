# SPDX-License-Identifier: BSD-3-Clause
"""The server by its routes: what clients get, at once and streamed, and what wrong requests do to others."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from executorch.examples.llm_server.app import PAGE
from executorch.examples.llm_server.requests import MAX_BODY
from executorch.extension.llm.runner.chat_template import ChatTemplate
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, TinyLlama

HELLO = [{"role": "user", "content": "Hi"}]


def post(server: str, route: str, **fields: Any) -> httpx.Response:
    return httpx.post(f"{server}/v1/{route}", json=fields, timeout=60)


def events(response: httpx.Response) -> list[dict[str, Any]]:
    lines = [line for line in response.text.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines) and lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def wait_until_idle(server: str) -> None:
    """One answer by each runner, so none is at work on another."""
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda _: post(server, "completions", prompt="x", max_tokens=1), range(2)))


def test_a_completion_is_transformers(llama: TinyLlama, server: str) -> None:
    prompt = "The quick brown fox"
    found = post(server, "completions", prompt=prompt, temperature=0, max_tokens=8).json()
    ids = llama.encode(prompt)
    assert found["choices"][0]["text"] == llama.decode(llama.greedy(ids, 8))
    assert found["choices"][0]["finish_reason"] == "length"
    assert found["object"] == "text_completion" and found["model"] == "tiny"
    usage = found["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (len(ids), 8)
    assert usage["total_tokens"] == len(ids) + 8
    again = post(server, "completions", prompt=ids, temperature=0, max_tokens=8).json()
    assert again["choices"][0]["text"] == found["choices"][0]["text"]
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == len(ids) - 1


def test_a_chat_goes_through_the_template(llama: TinyLlama, server: str) -> None:
    found = post(
        server, "chat/completions", messages=HELLO, temperature=0, max_completion_tokens=6
    ).json()
    ids = llama.encode(ChatTemplate.beside(llama.tokenizer).render(HELLO))
    message = found["choices"][0]["message"]
    assert message == {"role": "assistant", "content": llama.decode(llama.greedy(ids, 6))}
    assert found["object"] == "chat.completion" and found["usage"]["prompt_tokens"] == len(ids)


def test_streams_are_the_same_text(server: str) -> None:
    fields = {"messages": HELLO, "temperature": 0, "max_tokens": 12}
    whole = post(server, "chat/completions", **fields).json()
    response = post(
        server, "chat/completions", **fields, stream=True, stream_options={"include_usage": True}
    )
    assert response.headers["content-type"].startswith("text/event-stream")
    found = events(response)
    assert found[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    deltas = [e["choices"][0]["delta"].get("content", "") for e in found if e["choices"]]
    assert "".join(deltas) == whole["choices"][0]["message"]["content"]
    assert found[-2]["choices"][0]["finish_reason"] == "length"
    assert found[-1]["usage"]["completion_tokens"] == 12
    assert {e["object"] for e in found} == {"chat.completion.chunk"}
    assert len({e["id"] for e in found}) == 1


def test_stop_strings_and_seeds(server: str) -> None:
    fields = {"prompt": "The quick", "temperature": 0, "max_tokens": 30}
    whole = post(server, "completions", **fields).json()["choices"][0]["text"]
    stop = whole[8:11]
    choice = post(server, "completions", **fields, stop=[stop]).json()["choices"][0]
    assert choice["text"] == whole[: whole.index(stop)] and choice["finish_reason"] == "stop"
    drawn = {"prompt": "The quick", "temperature": 1, "max_tokens": 20, "seed": 5}
    texts = [post(server, "completions", **drawn).json()["choices"][0]["text"] for _ in range(2)]
    assert texts[0] == texts[1] != whole[: len(texts[0])]


def test_other_routes(server: str) -> None:
    models = httpx.get(f"{server}/v1/models").json()
    assert [model["id"] for model in models["data"]] == ["tiny"]
    assert httpx.get(f"{server}/health").json() == {"status": "ok", "runners": 2, "waiting": 0}
    page = httpx.get(server)
    assert page.text == PAGE.read_text() and "v1/chat/completions" in page.text
    assert httpx.get(f"{server}/v1/nothing").status_code == 404
    assert httpx.get(f"{server}/v1/completions").status_code == 405


@pytest.mark.parametrize(
    "route, fields, message",
    [
        ("completions", {}, "prompt: expected a text or ids, found none"),
        ("completions", {"prompt": "x", "temperature": 3}, "temperature: expected a number from 0"),
        ("completions", {"prompt": "x", "n": 2}, "n: expected 1, found 2"),
        ("completions", {"prompt": "x", "max_tokens": 0}, "max_tokens: expected a whole number"),
        ("completions", {"prompt": "x", "stop": [""]}, "stop: expected up to 16 texts"),
        ("completions", {"prompt": "x", "wish": 1}, "wish: this field is not served"),
        ("completions", {"prompt": "x", "logprobs": 2}, "logprobs: expected false"),
        ("completions", {"prompt": [1, 9999]}, "expected a text, or ids from 0 to 319"),
        ("chat/completions", {"messages": []}, "messages: expected a list of messages"),
        ("chat/completions", {"messages": ["x"]}, "messages[0]: expected an object with role"),
        (
            "chat/completions",
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0].content: only parts of type text",
        ),
        ("chat/completions", {"messages": HELLO, "tools": [{}]}, "tools are not served"),
    ],
)
def test_wrong_requests_are_told(server: str, route: str, fields: dict, message: str) -> None:
    response = post(server, route, **fields)
    assert response.status_code == 400
    error = response.json()["error"]
    assert message in error["message"] and error["type"] == "invalid_request_error"


def test_what_is_no_json_and_what_is_too_long(server: str) -> None:
    url = f"{server}/v1/completions"
    assert httpx.post(url, content=b"{").status_code == 400
    assert httpx.post(url, content=b"[1]").status_code == 400
    assert httpx.post(url, content=b"[" * 100_000).status_code == 400
    assert httpx.post(url, content=b" " * (MAX_BODY + 1)).status_code == 413
    for stream in (False, True):
        response = post(server, "completions", prompt=[5] * CONTEXT, stream=stream)
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "context_length_exceeded"
    full = post(server, "completions", prompt=[5] * (CONTEXT - 3), temperature=0).json()
    assert full["usage"]["completion_tokens"] <= 3


def test_clients_at_once_all_get_theirs(llama: TinyLlama, server: str) -> None:
    prompts = ["The quick", "Pack my box", "x", "Zwölf"] * 4
    expected = {p: llama.decode(llama.greedy(llama.encode(p), 10)) for p in set(prompts)}

    def ask(prompt: str) -> str:
        response = post(server, "completions", prompt=prompt, temperature=0, max_tokens=10)
        return response.json()["choices"][0]["text"]

    with ThreadPoolExecutor(16) as clients:
        assert list(clients.map(ask, prompts)) == [expected[p] for p in prompts]


def test_a_full_queue_refuses(server: str) -> None:
    with ThreadPoolExecutor(60) as clients:
        codes = list(
            clients.map(
                lambda _: (
                    post(
                        server, "completions", prompt="x", temperature=0, max_tokens=100
                    ).status_code
                ),
                range(60),
            )
        )
    # two at work and thirty in the queue are served in any case
    assert set(codes) <= {200, 429} and codes.count(200) >= 32
    wait_until_idle(server)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_frees_its_runner(server: str, stream: bool) -> None:
    host, port = server.removeprefix("http://").split(":")
    body = json.dumps({"prompt": "x", "temperature": 0, "stream": stream}).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    for _ in range(6):  # three for each runner
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(head.encode() + body)
            time.sleep(0.02)
    start = time.monotonic()
    wait_until_idle(server)
    assert time.monotonic() - start < 20


def test_the_command_tells_what_is_missing(llama: TinyLlama) -> None:
    command = [sys.executable, "-m", "executorch.examples.llm_server"]

    def run(*flags: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *map(str, flags)], capture_output=True, text=True, check=False
        )

    shown = run("--help").stdout
    for flag in (
        "--model-path", "--tokenizer-path", "--worker-bin", "--hf-tokenizer",
        "--allow-chatml-fallback", "--model-id", "--no-think", "--max-context", "--num-runners",
        "--host", "--port",
    ):  # fmt: skip
        assert flag in shown
    files = ("--model-path", "/nowhere.pte", "--tokenizer-path", llama.tokenizer)
    done = run(*files)
    assert done.returncode == 1 and "/nowhere.pte" in done.stderr
    done = run(*files, "--num-runners=0")
    assert done.returncode == 1 and "--num-runners: expected 1 or more, found 0" in done.stderr
