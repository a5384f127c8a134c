# SPDX-License-Identifier: BSD-3-Clause
"""What clients of OpenAI send and read, with nothing but http.client: errors, choices, penalties, responses,
embeddings, calls from pages of other origins."""

from __future__ import annotations

import base64
import http.client
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import torch

from executorch.exir import to_edge
from executorch.extension.llm.runner.chat_template import ChatTemplate
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, TinyLlama
from executorch.extension.llm.server.conftest import serving
from executorch.extension.llm.server.embeddings import Embedder
from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.requests import ROLES

HELLO = [{"role": "user", "content": "Hi"}]
GREEDY = {"temperature": 0, "max_tokens": 8}
ORIGIN = "https://chat.example"


def ask(
    server: str, verb: str, path: str, body: Any = None, **headers: str
) -> tuple[int, http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=60)
    content = body if isinstance(body, bytes) or body is None else json.dumps(body)
    kind = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    connection.request(verb, path, content, {**kind, **headers})
    response = connection.getresponse()
    found = response.read()
    connection.close()
    return response.status, response, found


def post(server: str, path: str, **fields: Any) -> dict[str, Any]:
    status, _, found = ask(server, "POST", f"/v1/{path}", fields)
    assert status == 200, found
    return json.loads(found)


def refusal(server: str, verb: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    status, response, found = ask(server, verb, path, body)
    assert response.headers["content-type"] == "application/json"
    error = json.loads(found)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return status, error


@pytest.mark.parametrize(
    "verb, path, body, status, message",
    [
        (
            "GET",
            "/v1/nothing",
            None,
            404,
            "GET /v1/nothing: there is no such route; known are /v1/chat",
        ),
        ("POST", "/", {}, 405, "POST /: expected"),
        ("GET", "/v1/completions", None, 405, "GET /v1/completions: expected POST"),
        ("DELETE", "/v1/models/tiny", None, 405, "expected"),
        ("OPTIONS", "/v1/models", None, 405, "expected"),
        ("GET", "/v1/models/gpt-4", None, 404, "there is no model 'gpt-4': this server has 'tiny'"),
        ("POST", "/v1/responses", b"\xff\xfe", 400, "expected a JSON object, found none"),
        ("POST", "/v1/completions", b'{"prompt": "\\ud83d"}', 400, "expected a JSON object"),
        ("POST", "/v1/completions", b'{"\\udc00": 1}', 400, "expected a JSON object"),
        ("POST", "/v1/chat/completions", b"", 400, "expected a JSON object, found none"),
        ("POST", "/v1/embeddings", b"[]", 400, "expected a JSON object, found list"),
    ],
)
def test_errors_are_json(
    server: str, verb: str, path: str, body: Any, status: int, message: str
) -> None:
    found, error = refusal(server, verb, path, body)
    assert found == status and message in error["message"], error
    assert error["type"] == "invalid_request_error"


def test_roles(llama: TinyLlama, server: str) -> None:
    wizard = [*HELLO, {"role": "wizard", "content": "x"}]
    _, error = refusal(server, "POST", "/v1/chat/completions", {"messages": wizard})
    assert error["message"].endswith(f"expected one of {', '.join(ROLES)}, found 'wizard'")
    assert error["param"] == "messages"
    as_developer = [{"role": "developer", "content": "Be brief."}, *HELLO]
    as_system = [{"role": "system", "content": "Be brief."}, *HELLO]
    found = post(server, "chat/completions", messages=as_developer, **GREEDY)
    ids = llama.encode(ChatTemplate.beside(llama.tokenizer).render(as_system))
    assert found["usage"]["prompt_tokens"] == len(ids)
    assert found["choices"][0]["message"]["content"] == llama.decode(llama.greedy(ids, 8))


def test_the_model_is_named_after_its_file(llama: TinyLlama, tmp_path: Path) -> None:
    named = tmp_path / "my-llama.pte"
    named.symlink_to(llama.program)
    (tmp_path / "generation_config.json").write_text(json.dumps({"temperature": 0, "top_k": None}))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).symlink_to(llama.folder / name)
    with serving(str(named)) as address:
        _, _, found = ask(address, "GET", "/v1/models")
        (model,) = json.loads(found)["data"]
        assert model["id"] == "my-llama" and model["max_model_len"] == CONTEXT
        assert model["created"] == int(llama.program.stat().st_mtime)
        assert json.loads(ask(address, "GET", "/v1/models/my-llama")[2]) == model
        # What a request leaves open is as the checkpoint has it: always the best token.
        fields = {"prompt": "The quick", "max_tokens": 8}
        (choice,) = post(address, "completions", **fields)["choices"]
        assert choice["text"] == llama.decode(llama.greedy(llama.encode("The quick"), 8))


def test_several_choices(server: str) -> None:
    drawn = {"prompt": "The quick", "temperature": 1, "max_tokens": 12}
    found = post(server, "completions", **drawn, n=3, seed=5)
    choices = found["choices"]
    assert [choice["index"] for choice in choices] == [0, 1, 2]
    alone = [
        post(server, "completions", **drawn, seed=5 + i)["choices"][0]["text"] for i in range(3)
    ]
    assert [choice["text"] for choice in choices] == alone and len(set(alone)) == 3
    one = post(server, "completions", **drawn, seed=5)["usage"]["prompt_tokens"]
    assert found["usage"]["prompt_tokens"] == one
    assert found["usage"]["completion_tokens"] == 36
    status, _, body = ask(
        server, "POST", "/v1/completions", {**drawn, "n": 3, "seed": 5, "stream": True}
    )
    texts = ["", "", ""]
    for line in body.decode().split("\n\n")[:-2]:
        for choice in json.loads(line.removeprefix("data: "))["choices"]:
            texts[choice["index"]] += choice["text"]
    assert status == 200 and texts == alone


def test_penalties_are_openais(llama: TinyLlama, server: str) -> None:
    """logits - count * frequency - (count > 0) * presence, of the answer's tokens, by transformers' logits."""
    prompt, frequency, presence = llama.encode("The quick brown fox"), 1.5, 0.5
    made: list[int] = []
    for _ in range(16):
        with torch.no_grad():
            logits = llama.model(torch.tensor([prompt + made])).logits[0, -1]
        counts = torch.bincount(torch.tensor(made, dtype=torch.long), minlength=len(logits))
        made.append(int((logits - counts * frequency - (counts > 0) * presence).argmax()))
    assert made != llama.greedy(prompt, 16)
    fields = {"prompt": prompt, "temperature": 0, "max_tokens": 16}
    for _ in range(2):  # each answer for itself
        found = post(
            server, "completions", **fields, frequency_penalty=frequency, presence_penalty=presence
        )
        assert found["choices"][0]["text"] == llama.decode(made)


def test_speed_and_counts(server: str) -> None:
    found = post(server, "chat/completions", messages=HELLO, **GREEDY)
    times = found["timings"]
    assert (
        times["predicted_n"] == found["usage"]["completion_tokens"] and times["predicted_ms"] >= 0
    )


def named_events(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in body.decode().strip().split("\n\n"):
        name, data = block.split("\n", 1)
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_responses(llama: TinyLlama, server: str) -> None:
    fields = {"input": "Hi", "instructions": "Be brief.", "temperature": 0, "max_output_tokens": 8}
    found = post(server, "responses", **fields)
    conversation = [{"role": "system", "content": "Be brief."}, *HELLO]
    ids = llama.encode(ChatTemplate.beside(llama.tokenizer).render(conversation))
    text = llama.decode(llama.greedy(ids, 8))
    (item,) = found["output"]
    assert (item["type"], item["role"]) == ("message", "assistant")
    assert item["content"] == [
        {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    ]
    assert found["object"] == "response" and found["model"] == "tiny"
    assert found["status"] == "incomplete"
    assert found["incomplete_details"] == {"reason": "max_output_tokens"}
    assert found["usage"]["input_tokens"] == len(ids) and found["usage"]["output_tokens"] == 8
    assert (found["instructions"], found["temperature"]) == ("Be brief.", 0)

    status, response, body = ask(server, "POST", "/v1/responses", {**fields, "stream": True})
    assert status == 200 and response.headers["content-type"].startswith("text/event-stream")
    events = named_events(body)
    assert [event["sequence_number"] for _, event in events] == list(range(len(events)))
    assert all(name == event["type"] for name, event in events)
    names = [name.removeprefix("response.") for name, _ in events]
    deltas = [event["delta"] for name, event in events if name.endswith("text.delta")]
    assert "".join(deltas) == text and len(deltas) > 1
    assert names == [
        "created", "in_progress", "output_item.added", "content_part.added",
        *["output_text.delta"] * len(deltas),
        "output_text.done", "content_part.done", "output_item.done", "incomplete",
    ]  # fmt: skip
    last = events[-1][1]["response"]
    (again,) = last["output"]
    assert again["content"] == item["content"] and again["id"] == events[2][1]["item"]["id"]
    assert last["usage"]["output_tokens"] == 8


CLOCK = {"type": "function", "name": "clock", "parameters": {"type": "object", "properties": {}}}


def test_responses_that_call(server: str) -> None:
    fields = {"input": "Hi", "tools": [CLOCK], "tool_choice": "required", "seed": 3}
    found = post(server, "responses", **fields)
    (call,) = found["output"]
    assert (call["type"], call["name"], found["status"]) == ("function_call", "clock", "completed")
    _, _, body = ask(server, "POST", "/v1/responses", {**fields, "stream": True})
    events = named_events(body)
    (done,) = [e for name, e in events if name == "response.function_call_arguments.done"]
    assert done["arguments"] == call["arguments"] and done["output_index"] == 0
    assert events[-1][0] == "response.completed"
    talk = [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        call,
        {"type": "function_call_output", "call_id": call["call_id"], "output": "noon"},
    ]
    again = post(server, "responses", input=talk, tools=[CLOCK], max_output_tokens=3)
    assert again["output"][0]["type"] == "message"


def test_responses_of_a_schema(server: str) -> None:
    schema = {"type": "object", "properties": {"kind": {"enum": ["fox"]}}, "required": ["kind"]}
    form = {"type": "json_schema", "name": "animal", "schema": schema}
    found = post(server, "responses", input="Hi", text={"format": form}, seed=2)
    assert found["text"] == {"format": form} and found["status"] == "completed"
    assert json.loads(found["output"][0]["content"][0]["text"]) == {"kind": "fox"}


@pytest.mark.parametrize(
    "fields, message",
    [
        ({}, "input: expected a text or items, found none"),
        (
            {"input": "x", "previous_response_id": "resp_1"},
            "previous_response_id: expected nothing",
        ),
        ({"input": "x", "store": True}, "store: expected false: answers are not kept"),
        (
            {"input": "x", "tools": [{"type": "web_search"}]},
            "expected a function, found 'web_search'",
        ),
        ({"input": [{"type": "reasoning"}]}, "input[0]: expected a message, function_call or"),
        ({"input": [{"role": "wizard", "content": "x"}]}, "input[0].role: expected one of system"),
        ({"input": "x", "text": {"verbosity": "low"}}, "text.verbosity: this field is not served"),
        (
            {"input": "x", "text": {"format": {"type": "xml"}}},
            "text.format: expected an object with",
        ),
        ({"input": "x", "n": 2}, "n: this field is not served"),
    ],
)
def test_wrong_responses_are_told(server: str, fields: dict[str, Any], message: str) -> None:
    status, error = refusal(server, "POST", "/v1/responses", fields)
    assert status == 400 and message in error["message"], error


def test_pages_of_named_origins_may_call(llama: TinyLlama, server: str) -> None:
    asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    with serving(str(llama.program), "--cors", ORIGIN) as address:
        status, response, _ = ask(address, "OPTIONS", "/v1/chat/completions", **asks)
        assert status == 200 and response.headers["access-control-allow-origin"] == ORIGIN
        assert "POST" in response.headers["access-control-allow-methods"]
        _, response, _ = ask(address, "GET", "/v1/models", Origin=ORIGIN)
        assert response.headers["access-control-allow-origin"] == ORIGIN
        _, response, _ = ask(address, "GET", "/v1/none", Origin=ORIGIN)
        assert response.headers["access-control-allow-origin"] == ORIGIN
        _, response, _ = ask(address, "GET", "/v1/models", Origin="https://other.example")
        assert "access-control-allow-origin" not in response.headers
    _, response, _ = ask(server, "GET", "/v1/models", Origin=ORIGIN)
    assert "access-control-allow-origin" not in response.headers
    with (
        pytest.raises(ValueError, match="--cors: expected an origin such as"),
        serving(str(llama.program), "--cors", "localhost/page"),
    ):
        pass


def test_without_the_method_embeddings_say_how_to_export_it(server: str) -> None:
    status, error = refusal(server, "POST", "/v1/embeddings", {"input": "x"})
    assert status == 400 and error["code"] == "embeddings_not_served"
    assert "it has no method 'embed'. Export it with export.embed=True" in error["message"]


@pytest.fixture(scope="module")
def embedding_server(llama: TinyLlama) -> Iterator[str]:
    with serving(str(llama.with_embeddings()), "--tokenizer-path", str(llama.tokenizer)) as address:
        yield address


def test_embeddings_are_the_mean_of_hidden_states(llama: TinyLlama, embedding_server: str) -> None:
    texts = ["The quick brown fox", "Pack my box"]
    expected = []
    for text in texts:
        with torch.no_grad():
            states = llama.model.model(torch.tensor([llama.encode(text)])).last_hidden_state[0]
        expected.append(torch.nn.functional.normalize(states.mean(0), dim=0))
    found = post(embedding_server, "embeddings", input=texts)
    assert found["object"] == "list" and [row["index"] for row in found["data"]] == [0, 1]
    for row, vector in zip(found["data"], expected):
        torch.testing.assert_close(torch.tensor(row["embedding"]), vector, rtol=1e-3, atol=1e-4)
    tokens = sum(len(llama.encode(text)) for text in texts)
    assert found["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}
    ids = llama.encode(texts[0])
    coded = post(embedding_server, "embeddings", input=ids, encoding_format="base64")["data"]
    packed = base64.b64decode(coded[0]["embedding"])
    assert list(struct.unpack(f"<{len(packed) // 4}f", packed)) == pytest.approx(
        found["data"][0]["embedding"]
    )
    # The same file answers, too.
    fields = {"prompt": texts[0], **GREEDY}
    (choice,) = post(embedding_server, "completions", **fields)["choices"]
    assert choice["text"] == llama.decode(llama.greedy(ids, 8))


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"input": "x", "dimensions": 7}, "dimensions: expected 64, the model's, found 7"),
        ({"input": []}, "input: expected a text, a list of texts, or ids"),
        ({"input": ["x", ""]}, "input: expected texts or ids, none of them empty"),
        ({"input": [1, 9999]}, "input: expected a text, or ids from 0 to 319"),
        (
            {"input": [5] * CONTEXT},
            f"the input has {CONTEXT} tokens, expected {CONTEXT - 1} at most",
        ),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format: expected float or base64"),
    ],
)
def test_wrong_embeddings_are_told(
    embedding_server: str, fields: dict[str, Any], message: str
) -> None:
    status, error = refusal(embedding_server, "POST", "/v1/embeddings", fields)
    assert status == 400 and message in error["message"], error


def test_a_method_of_ones_own_may_give_a_vector(tmp_path: Path) -> None:
    class Counts(torch.nn.Module):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return torch.stack([ids.sum(1), ids.sum(1) * 0 + 4], 1).float()

    tokens = {1: torch.export.Dim("tokens", max=9)}
    captured = torch.export.export(
        Counts(), (torch.ones(1, 3, dtype=torch.long),), dynamic_shapes=(tokens,)
    )
    path = tmp_path / "counts.pte"
    to_edge({"embed": captured}).to_executorch().save(str(path))
    embedder = Embedder(path)
    embedder.check()
    assert embedder.vector([1, 2]).tolist() == pytest.approx([0.6, 0.8])
    with pytest.raises(RequestError, match="10 tokens, expected 9 at most"):
        embedder.vector([1] * 10)
