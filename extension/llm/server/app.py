# SPDX-License-Identifier: BSD-3-Clause
"""The routes, which are OpenAI's, and a page to try them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from executorch.extension.llm.runner.chat_template import ChatTemplate, ChatTemplateError
from executorch.extension.llm.runner.conversation import Answer
from executorch.extension.llm.server import page, responses
from executorch.extension.llm.server.embeddings import (
    Embedder,
    embeddings_body,
    read_embeddings,
)
from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.fields import MAX_BODY
from executorch.extension.llm.server.forms import CHAT, COMPLETION, Form, chunks
from executorch.extension.llm.server.pool import Piece, Pool
from executorch.extension.llm.server.requests import Generation, read_chat, read_completion

# What messages may hold besides, image and audio, is not served yet; the page offers to attach what stands here.
MODALITIES = ["text"]


@dataclass(frozen=True)
class Service:
    pool: Pool
    template: ChatTemplate
    embedder: Embedder
    model_id: str
    created: int  # seconds since 1970, of the program's file
    template_options: dict[str, Any]
    sampling: dict[str, float] = field(default_factory=dict)  # where a request says nothing

    @property
    def vocabulary(self) -> int:
        return self.pool.runners[0].get_vocab_size()

    @property
    def model(self) -> dict[str, Any]:
        """As /v1/models has it."""
        return {
            "id": self.model_id,
            "object": "model",
            "created": self.created,
            "owned_by": "executorch",
            "max_model_len": self.pool.max_context,
            "input_modalities": MODALITIES,
        }

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

    def embedded(self, given: str | tuple[int, ...]) -> tuple[int, Any]:
        """How many tokens a text has, and its vector."""
        ids = self.pool.runners[0].encode(given) if isinstance(given, str) else given
        return len(ids), self.embedder.vector(ids)


async def _until_disconnected(request: Request) -> None:
    while not await request.is_disconnected():
        await asyncio.sleep(0.1)


async def _whole(request: Request, pieces: AsyncIterator[Piece]) -> list[Answer]:
    """The answers; a client that goes away meanwhile ends them."""

    async def all_answers() -> list[Answer]:
        async with contextlib.aclosing(pieces):
            return [part async for _, part in pieces if isinstance(part, Answer)]

    working = asyncio.ensure_future(all_answers())
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


async def _begun(pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    """The same pieces, of which the first is there: what is refused before it has a status of its own."""
    first = await anext(pieces)

    async def all_pieces() -> AsyncIterator[Piece]:
        async with contextlib.aclosing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    return all_pieces()


Body = Callable[[Sequence[Answer]], dict[str, Any]]
Events = Callable[[AsyncIterator[Piece]], AsyncIterator[bytes]]


@dataclass(frozen=True)
class _Routes:
    service: Service

    async def respond(
        self, request: Request, wanted: Generation, body: Body, events: Events
    ) -> Response:
        pieces = self.service.pool.pieces(wanted, self.service.ids(wanted))
        if not wanted.stream:
            return JSONResponse(body(await _whole(request, pieces)))
        return StreamingResponse(events(await _begun(pieces)), media_type="text/event-stream")

    async def _in_form(self, request: Request, form: Form, wanted: Generation) -> Response:
        model_id = self.service.model_id
        return await self.respond(
            request,
            wanted,
            lambda answers: form.whole(model_id, answers, wanted),
            lambda pieces: chunks(form, model_id, wanted, pieces),
        )

    async def chat(self, request: Request) -> Response:
        wanted = read_chat(await _body(request), self.service.sampling)
        return await self._in_form(request, CHAT, wanted)

    async def complete(self, request: Request) -> Response:
        body = await _body(request)
        wanted = read_completion(body, self.service.vocabulary, self.service.sampling)
        return await self._in_form(request, COMPLETION, wanted)

    async def create_response(self, request: Request) -> Response:
        asked = responses.read_response(await _body(request), self.service.sampling)
        made = responses.Response(asked, self.service.model_id)

        def body(answers: Sequence[Answer]) -> dict[str, Any]:
            (made.answer,) = answers
            return made.body()

        return await self.respond(
            request, asked.wanted, body, lambda pieces: responses.response_chunks(made, pieces)
        )

    async def embed(self, request: Request) -> Response:
        asked = read_embeddings(await _body(request), self.service.vocabulary)
        self.service.embedder.check()
        rows = [await asyncio.to_thread(self.service.embedded, each) for each in asked.inputs]
        return JSONResponse(embeddings_body(self.service.model_id, asked, rows))

    async def models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [self.service.model]})

    async def model(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name != self.service.model_id:
            raise RequestError(
                f"there is no model {name!r}: this server has {self.service.model_id!r}",
                "model",
                404,
                "model_not_found",
            )
        return JSONResponse(self.service.model)

    async def health(self, request: Request) -> Response:
        return JSONResponse(
            {
                "status": "ok",
                "model": self.service.model_id,
                "context": self.service.pool.max_context,
                "input_modalities": MODALITIES,
                "sampling": self.service.sampling,
                "runners": len(self.service.pool.runners),
                "waiting": self.service.pool.waiting,
            }
        )

    def table(self) -> list[Route]:
        return [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/completions", self.complete, methods=["POST"]),
            Route("/v1/responses", self.create_response, methods=["POST"]),
            Route("/v1/embeddings", self.embed, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/v1/models/{name:path}", self.model),
            Route("/health", self.health),
            *page.routes(),
        ]


async def _refused(request: Request, error: Exception) -> Response:
    message = RequestError.of(error)
    return JSONResponse(message.body(), message.status)


async def _left(request: Request, error: Exception) -> Response:
    return Response(status_code=499)


def _no_route(table: Sequence[Route]) -> Callable[[Request, Exception], Any]:
    """For an unknown path, or a verb that a path does not have."""
    paths = ", ".join(route.path for route in table)

    async def reported(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        asked = f"{request.method} {request.url.path}"
        verbs = (error.headers or {}).get("Allow")
        message = f"{asked}: {error.detail}"
        if error.status_code == 404:
            message = f"{asked}: there is no such route; known are {paths}"
        if verbs:
            message = f"{asked}: expected {verbs}"
        refusal = RequestError(message, status=error.status_code)
        return JSONResponse(refusal.body(), error.status_code, error.headers)

    return reported


def make_app(service: Service, origins: Sequence[str] = ()) -> Starlette:
    """`origins`: whose pages may call the routes from a browser; "*": everybody's."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        service.pool.close()

    table = _Routes(service).table()
    anybody = {
        "allow_origins": list(origins),
        "allow_methods": ["GET", "POST"],
        "allow_headers": ["*"],
    }
    return Starlette(
        routes=table,
        middleware=[Middleware(CORSMiddleware, **anybody)] if origins else [],
        exception_handlers={
            RequestError: _refused,
            RuntimeError: _refused,
            ClientDisconnect: _left,
            HTTPException: _no_route(table),
            Exception: _refused,
        },
        lifespan=lifespan,
    )
