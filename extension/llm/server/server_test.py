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

from executorch.extension.llm.runner.chat_template import ChatTemplate
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, TinyLlama
from executorch.extension.llm.server.fields import MAX_BODY
from executorch.extension.llm.server.tools import split_calls

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
    for seed in (5, 0):
        drawn = {"prompt": "The quick", "temperature": 1, "max_tokens": 20, "seed": seed}
        texts = [
            post(server, "completions", **drawn).json()["choices"][0]["text"] for _ in range(2)
        ]
        assert texts[0] == texts[1] != whole[: len(texts[0])], seed


def test_answers_of_a_schema(server: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["fox", "dog"]},
            "age": {"type": "integer", "minimum": 1, "maximum": 30},
        },
        "required": ["kind", "age"],
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "animal", "schema": schema}}
    for seed in range(1, 6):
        fields = {"messages": HELLO, "temperature": 2, "seed": seed, "response_format": wanted}
        found = post(server, "chat/completions", **fields).json()["choices"][0]
        assert found["finish_reason"] == "stop"
        animal = json.loads(found["message"]["content"])
        assert animal["kind"] in ("fox", "dog") and 1 <= animal["age"] <= 30 and len(animal) == 2
    fields = {"prompt": "x", "grammar": 'root ::= "yes" | "no"', "temperature": 0}
    found = post(server, "completions", **fields).json()["choices"][0]
    assert found["text"] in ("yes", "no") and found["finish_reason"] == "stop"


def test_logprobs_are_those_of_the_model(llama: TinyLlama, server: str) -> None:
    import torch

    ids = llama.encode("The quick brown fox")
    fields = {"prompt": ids, "temperature": 0, "max_tokens": 4, "logprobs": 3}
    found = post(server, "completions", **fields).json()["choices"][0]
    answer = llama.greedy(ids, 4)
    with torch.no_grad():
        logits = llama.model(torch.tensor([ids + answer])).logits[0, len(ids) - 1 : -1]
    expected = logits.log_softmax(-1)
    assert len(found["logprobs"]["token_logprobs"]) == 4
    for i, token in enumerate(answer):
        assert found["logprobs"]["token_logprobs"][i] == pytest.approx(
            float(expected[i, token]), abs=1e-4
        )
        assert sorted(found["logprobs"]["top_logprobs"][i].values()) == pytest.approx(
            sorted(expected[i].topk(3).values.tolist()), abs=1e-4
        )
    fields = {"messages": HELLO, "temperature": 0, "max_tokens": 3, "logprobs": True}
    whole = post(server, "chat/completions", **fields, top_logprobs=2).json()["choices"][0]
    rows = whole["logprobs"]["content"]
    assert len(rows) == 3 and all(len(row["top_logprobs"]) == 2 for row in rows)
    assert (
        b"".join(bytes(row["bytes"]) for row in rows).decode(errors="replace")
        == (whole["message"]["content"])
    )
    streamed = events(post(server, "chat/completions", **fields, top_logprobs=2, stream=True))
    again = streamed[-1]["choices"][0]["logprobs"]["content"]
    assert [row["bytes"] for row in again] == [row["bytes"] for row in rows]
    assert [row["logprob"] for row in again] == pytest.approx([row["logprob"] for row in rows])


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Bern", "Oslo"]}, "days": {"$ref": "#/$defs/days"}},
            "required": ["city", "days"],
            "$defs": {"days": {"type": "integer", "minimum": 1, "maximum": 9}},
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock"}}


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_must_be_called_is(server: str, stream: bool) -> None:
    choice = {"type": "function", "function": {"name": "weather"}}
    fields = {"messages": HELLO, "tools": [CLOCK, WEATHER], "tool_choice": choice, "seed": 3}
    response = post(server, "chat/completions", **fields, stream=stream)
    if stream:
        last = events(response)[-1]["choices"][0]
        (call,), reason = last["delta"]["tool_calls"], last["finish_reason"]
        assert call["index"] == 0
    else:
        choice = response.json()["choices"][0]
        (call,), reason = choice["message"]["tool_calls"], choice["finish_reason"]
        assert choice["message"]["content"] is None
    assert reason == "tool_calls" and call["type"] == "function" and call["id"]
    assert call["function"]["name"] == "weather"
    arguments = json.loads(call["function"]["arguments"])
    assert arguments["city"] in ("Bern", "Oslo") and 1 <= arguments["days"] <= 9


def test_tools_reach_the_template_and_their_answers_too(server: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "noon"},
    ]
    found = post(server, "chat/completions", messages=messages, tools=[CLOCK], max_tokens=3)
    assert found.status_code == 200 and "tool_calls" not in found.json()["choices"][0]["message"]


def test_calls_are_found_in_answers() -> None:
    text = (
        'Let me see. <tool_call>\n{"name": "a", "arguments": {"x": 1}}\n</tool_call>'
        '<tool_call>[{"name": "b"}]</tool_call>'
    )
    rest, calls = split_calls(text)
    assert rest == "Let me see."
    assert [(c["function"]["name"], c["function"]["arguments"]) for c in calls] == [
        ("a", '{"x": 1}'),
        ("b", "{}"),
    ]
    for no_call in ("<tool_call>", "<tool_call>x</tool_call>", '<tool_call>{"a": 1}</tool_call>'):
        assert split_calls(no_call) == (no_call, [])


def test_other_routes(server: str) -> None:
    models = httpx.get(f"{server}/v1/models").json()
    assert [model["id"] for model in models["data"]] == ["tiny"]
    assert httpx.get(f"{server}/health").json() == {
        "status": "ok", "model": "tiny", "context": CONTEXT, "input_modalities": ["text"], "sampling": {}, "runners": 2,
        "waiting": 0,
    }  # fmt: skip
    assert models["data"][0]["input_modalities"] == ["text"]


@pytest.mark.parametrize(
    "route, fields, message",
    [
        ("completions", {}, "prompt: expected a text or ids, found none"),
        ("completions", {"prompt": "x", "temperature": 3}, "temperature: expected a number from 0"),
        ("completions", {"prompt": "x", "n": 17}, "n: expected a whole number from 1 to 16"),
        ("completions", {"prompt": "x", "frequency_penalty": 3}, "expected a number from -2 to 2"),
        (
            "chat/completions",
            {"messages": [{"role": "wizard", "content": "x"}]},
            "messages[0].role: expected one of system, developer, user, assistant, tool, found 'wizard'",
        ),
        ("completions", {"prompt": "x", "max_tokens": 0}, "max_tokens: expected a whole number"),
        ("completions", {"prompt": "x", "stop": [""]}, "stop: expected up to 16 texts"),
        ("completions", {"prompt": "x", "wish": 1}, "wish: this field is not served"),
        (
            "completions",
            {"prompt": "x", "logprobs": 21},
            "logprobs: expected a whole number up to 20",
        ),
        (
            "completions",
            {"prompt": "x", "temperature": 2.1},
            "temperature: expected a number from 0",
        ),
        ("completions", {"prompt": "x", "grammar": "root :="}, "grammar: "),
        (
            "completions",
            {"prompt": "x", "grammar": 'root ::= "a"', "response_format": {"type": "json_object"}},
            "grammar: expected none beside response_format",
        ),
        (
            "completions",
            {"prompt": "x", "response_format": {"type": "xml"}},
            "response_format: expected an object with a type of",
        ),
        (
            "completions",
            {
                "prompt": "x",
                "response_format": {"type": "json_schema", "json_schema": {"schema": {"not": {}}}},
            },
            "not is not served",
        ),
        (
            "chat/completions",
            {"messages": HELLO, "top_logprobs": 2},
            "expected logprobs to be true",
        ),
        ("completions", {"prompt": [1, 9999]}, "expected a text, or ids from 0 to 319"),
        ("chat/completions", {"messages": []}, "messages: expected a list of messages"),
        ("chat/completions", {"messages": ["x"]}, "messages[0]: expected an object with role"),
        (
            "chat/completions",
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0].content: only parts of type text",
        ),
        ("chat/completions", {"messages": HELLO, "tools": [{}]}, "tools[0]: expected a function"),
        (
            "chat/completions",
            {"messages": HELLO, "tool_choice": "required"},
            "tool_choice: expected a function of tools, found none",
        ),
        (
            "chat/completions",
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
            "messages[0].tool_calls: expected functions with arguments",
        ),
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


def test_sessions_of_one_program_answer_together(sessions_server: str) -> None:
    assert httpx.get(f"{sessions_server}/health").json()["runners"] == 4
    prompts = [f"{i} quick foxes jump" for i in range(8)]

    def answer(prompt: str) -> str:
        found = post(sessions_server, "completions", prompt=prompt, temperature=0, max_tokens=30)
        return found.json()["choices"][0]["text"]

    alone = [answer(prompt) for prompt in prompts]
    assert len(set(alone)) == len(alone)
    with ThreadPoolExecutor(8) as clients:
        for _ in range(3):
            assert list(clients.map(answer, prompts)) == alone


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
