# SPDX-License-Identifier: BSD-3-Clause
"""Runners that answer, one request each at a time, and the queue before them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from executorch.extension.llm.runner import TextLLMRunner
from executorch.extension.llm.runner.conversation import Answer, answer
from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.requests import Generation

# Of which of several answers, and its next text or, at its end, all of it.
Piece = tuple[int, str | Answer]


@dataclass
class Pool:
    """Belongs to one event loop. Requests wait in the order in which they came, `max_waiting` at most; each gets the
    free runner whose context shares the longest beginning with its prompt."""

    runners: Sequence[TextLLMRunner]
    max_waiting: int
    max_context: int
    waiting: int = 0
    _free: list[TextLLMRunner] = field(default_factory=list)
    _turn: asyncio.Semaphore = field(init=False)
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._free = list(self.runners)
        self._turn = asyncio.Semaphore(len(self._free))
        self._threads = ThreadPoolExecutor(len(self._free), thread_name_prefix="runner")

    @contextlib.asynccontextmanager
    async def _runner(self, ids: Sequence[int], exact: bool) -> AsyncIterator[TextLLMRunner]:
        if not self._free and self.waiting >= self.max_waiting:
            raise RequestError(
                f"{self.waiting} requests wait already: try again later",
                status=429,
                code="queue_full",
            )
        self.waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self.waiting -= 1
        best = max(self._free, key=lambda runner: runner.shared_beginning(ids, exact=exact))
        self._free.remove(best)
        try:
            yield best
        finally:
            self._free.append(best)
            self._turn.release()

    async def pieces(self, wanted: Generation, ids: Sequence[int]) -> AsyncIterator[Piece]:
        """The answers one after the other, as they come. A consumer that goes away ends the generation."""
        if len(ids) >= self.max_context:
            raise RequestError(
                f"the prompt has {len(ids)} tokens, expected fewer than {self.max_context}",
                code="context_length_exceeded",
            )
        loop = asyncio.get_running_loop()
        async with self._runner(ids, wanted.config.seed is not None) as runner:
            queue: asyncio.Queue[Piece | None] = asyncio.Queue()
            is_wanted = True

            def put(piece: Piece | None) -> None:
                if not is_wanted:
                    runner.stop()
                loop.call_soon_threadsafe(queue.put_nowait, piece)

            def run() -> None:
                config = wanted.config
                config.seq_len, seed = self.max_context, config.seed
                try:
                    for choice in range(wanted.count):
                        if not is_wanted:
                            return
                        # The prompt is computed for the first alone: the others find it in the context.
                        config.seed = None if seed is None else seed + choice
                        show = partial(_put_text, put, choice)
                        put((choice, answer(runner, ids, config, show, wanted.stops)))
                finally:
                    put(None)

            running = loop.run_in_executor(self._threads, run)
            try:
                while (piece := await queue.get()) is not None:
                    yield piece
                await running
            finally:
                is_wanted = False
                if not running.done():
                    runner.stop()
                    # The runner is free when its thread has come back, not before.
                    await asyncio.shield(asyncio.wait([running]))

    def close(self) -> None:
        for runner in self.runners:
            runner.stop()
        self._threads.shutdown()


def _put_text(put: Callable[[Piece], None], choice: int, text: str) -> None:
    put((choice, text))
