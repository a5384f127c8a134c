# SPDX-License-Identifier: BSD-3-Clause
"""The routes: /v1/chat/completions, /v1/completions, /v1/models, /health, and a page to try them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from executorch.examples.llm_server.pool import Pool
from executorch.examples.llm_server.requests import (
    MAX_BODY,
    Generation,
    RequestError,
    read_chat,
    read_completion,
)
from executorch.examples.llm_server.tools import split_calls
from executorch.extension.llm.runner.chat_template import ChatTemplate, ChatTemplateError
from executorch.extension.llm.runner.conversation import Answer

PAGE = Path(__file__).with_name("page.html")


@dataclass(frozen=True)
class Service:
    pool: Pool
    template: ChatTemplate
    model_id: str
    template_options: dict[str, Any]

    def ids(self, wanted: Generation) -> list[int]:
        """The prompt's ids."""
        runner = self.pool.runners[0]
        if wanted.messages is not None:
            try:
                tools = {"tools": list(wanted.tools)} if wanted.tools else {}
                text = self.template.render(wanted.messages, **self.template_options, **tools)
            except ChatTemplateError as error:
                raise RequestError(str(error), "messages") from error
            return runner.encode(text)
        if isinstance(wanted.prompt, str):
            return runner.encode(wanted.prompt)
        return list(wanted.prompt or ())


@dataclass(frozen=True)
class Form:
    """How one route writes its answers."""

    prefix: str
    kind: str
    chunk_kind: str
    is_chat: bool

    def choice(self, text: str, reason: str | None, is_chunk: bool) -> dict[str, Any]:
        if not self.is_chat:
            content: dict[str, Any] = {"text": text}
        elif is_chunk:
            content = {"delta": {"content": text} if text or reason is None else {}}
        else:
            content = {"message": {"role": "assistant", "content": text}}
        return {"index": 0, **content, "logprobs": None, "finish_reason": reason}

    def last_choice(self, answer: Answer, wanted: Generation, is_chunk: bool) -> dict[str, Any]:
        """Of a whole answer; of a chunk, what has not been sent as it came."""
        sent = is_chunk and not wanted.tools
        choice = self.choice("" if sent else answer.text, answer.reason, is_chunk)
        if wanted.config.top_logprobs >= 0:
            choice["logprobs"] = self.logprobs(answer, wanted.config.top_logprobs)
        if wanted.tools:
            content, calls = split_calls(answer.text)
            message = choice["delta" if is_chunk else "message"]
            if calls:
                choice["finish_reason"] = "tool_calls"
                message["content"] = content or None
                message["tool_calls"] = (
                    [{"index": i, **call} for i, call in enumerate(calls)] if is_chunk else calls
                )
            elif is_chunk:
                message["content"] = answer.text
        return choice

    def logprobs(self, answer: Answer, count: int) -> dict[str, Any]:
        if self.is_chat:
            return {
                "content": [
                    {
                        **_token(row.text, row.logprob),
                        "top_logprobs": [_token(*b) for b in row.best],
                    }
                    for row in answer.logprobs
                ]
            }
        texts = [_text(row.text) for row in answer.logprobs]
        return {
            "tokens": texts,
            "token_logprobs": [row.logprob for row in answer.logprobs],
            "top_logprobs": [{_text(t): p for t, p in row.best} for row in answer.logprobs],
            "text_offset": [sum(map(len, texts[:i])) for i in range(len(texts))],
        }


def _text(token: bytes) -> str:
    return token.decode(errors="replace")


def _token(text: bytes, logprob: float) -> dict[str, Any]:
    return {"token": _text(text), "logprob": logprob, "bytes": list(text)}


CHAT = Form("chatcmpl", "chat.completion", "chat.completion.chunk", True)
COMPLETION = Form("cmpl", "text_completion", "text_completion", False)


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.reused_tokens},
    }


def _head(form: Form, service: Service, is_chunk: bool) -> dict[str, Any]:
    return {
        "id": f"{form.prefix}-{uuid.uuid4().hex}",
        "object": form.chunk_kind if is_chunk else form.kind,
        "created": int(time.time()),
        "model": service.model_id,
    }


def _event(content: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(content, ensure_ascii=False)}\n\n".encode()


async def _chunks(
    form: Form, service: Service, wanted: Generation, pieces: AsyncIterator[str | Answer]
) -> AsyncIterator[bytes]:
    """Server-sent events; an error that comes later is one of them."""
    head = _head(form, service, is_chunk=True)
    if form.is_chat:
        role = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        yield _event({**head, "choices": [role]})
    async with contextlib.aclosing(pieces):
        try:
            async for piece in pieces:
                if isinstance(piece, str) and wanted.tools:
                    continue  # whether it is a call is known at its end
                if isinstance(piece, str):
                    yield _event({**head, "choices": [form.choice(piece, None, True)]})
                    continue
                yield _event({**head, "choices": [form.last_choice(piece, wanted, True)]})
                if wanted.include_usage:
                    yield _event({**head, "choices": [], "usage": _usage(piece)})
        except RequestError as error:
            yield _event(error.body())
        except RuntimeError as error:
            yield _event(RequestError(str(error), status=500).body())
    yield b"data: [DONE]\n\n"


async def _until_disconnected(request: Request) -> None:
    while not await request.is_disconnected():
        await asyncio.sleep(0.1)


async def _whole(request: Request, pieces: AsyncIterator[str | Answer]) -> Answer:
    """The answer; a client that goes away meanwhile ends it."""

    async def last() -> Answer:
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Answer):
                    return piece
        raise RequestError("the generation ended without an answer", status=500)

    working = asyncio.ensure_future(last())
    leaving = asyncio.ensure_future(_until_disconnected(request))
    await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    if not working.done():
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working
        raise ClientDisconnect
    return working.result()


async def _body(request: Request) -> bytes:
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > MAX_BODY:
            raise RequestError(f"expected a body of {MAX_BODY} bytes at most", status=413)
    return bytes(found)


def make_app(service: Service) -> Starlette:
    async def respond(request: Request, form: Form) -> Response:
        body = await _body(request)
        vocabulary = service.pool.runners[0].get_vocab_size()
        wanted = read_chat(body) if form.is_chat else read_completion(body, vocabulary)
        pieces = service.pool.pieces(wanted, service.ids(wanted))
        if not wanted.stream:
            answer = await _whole(request, pieces)
            choice = form.last_choice(answer, wanted, is_chunk=False)
            head = _head(form, service, is_chunk=False)
            return JSONResponse({**head, "choices": [choice], "usage": _usage(answer)})
        # What is refused before the first piece has a status of its own.
        first = await anext(pieces)

        async def all_pieces() -> AsyncIterator[str | Answer]:
            async with contextlib.aclosing(pieces):
                yield first
                async for piece in pieces:
                    yield piece

        return StreamingResponse(
            _chunks(form, service, wanted, all_pieces()), media_type="text/event-stream"
        )

    async def chat(request: Request) -> Response:
        return await respond(request, CHAT)

    async def complete(request: Request) -> Response:
        return await respond(request, COMPLETION)

    async def models(request: Request) -> Response:
        model = {"id": service.model_id, "object": "model", "created": 0, "owned_by": "executorch"}
        return JSONResponse({"object": "list", "data": [model]})

    async def health(request: Request) -> Response:
        return JSONResponse(
            {
                "status": "ok",
                "runners": len(service.pool.runners),
                "waiting": service.pool.waiting,
            }
        )

    async def page(request: Request) -> Response:
        return HTMLResponse(PAGE.read_text())

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)
        return JSONResponse(error.body(), error.status)

    async def failed(request: Request, error: Exception) -> Response:
        return JSONResponse(RequestError(str(error), status=500).body(), 500)

    async def left(request: Request, error: Exception) -> Response:
        return Response(status_code=499)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        service.pool.close()

    return Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/completions", complete, methods=["POST"]),
            Route("/v1/models", models),
            Route("/health", health),
            Route("/", page),
        ],
        exception_handlers={RequestError: refused, RuntimeError: failed, ClientDisconnect: left},
        lifespan=lifespan,
    )
