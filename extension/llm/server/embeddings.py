# SPDX-License-Identifier: BSD-3-Clause
"""/v1/embeddings: texts as vectors of length 1, by the program's method `embed`.

The method takes ids, int64 [1, tokens], and gives a vector [1, width], or the hidden states [1, tokens, width], of
which the mean is taken. `export.embed=True` of export_llm makes one.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy

from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.fields import ANYTHING, TEXT, Field, positive, read
from executorch.extension.llm.server.requests import ids_of
from executorch.runtime import Method, Runtime

METHOD = "embed"
MAX_INPUTS = 2048  # OpenAI's


@dataclass
class Embedder:
    """Threads: any; one at a time is at work. The method is loaded when it is first asked for."""

    program: Path
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def _program(self) -> Any:
        return Runtime.get().load_program(self.program)

    @cached_property
    def _method(self) -> Method:
        return self._program.load_method(METHOD)

    def check(self) -> None:
        """RequestError unless the program has the method."""
        with self._lock:
            names = self._program.method_names
        if METHOD not in names:
            raise RequestError(
                f"{self.program.name} gives no embeddings: it has no method {METHOD!r}. Export it with "
                f"export.embed=True (executorch serve MODEL -x export.embed=True)",
                code="embeddings_not_served",
            )

    def vector(self, ids: Sequence[int]) -> numpy.ndarray:
        with self._lock:
            most = self._method.metadata.input_tensor_meta(0).sizes()[1]
            if len(ids) > most:
                raise RequestError(
                    f"the input has {len(ids)} tokens, expected {most} at most",
                    "input",
                    code="context_length_exceeded",
                )
            (found,) = self._method.execute([numpy.array([ids], dtype=numpy.int64)])
            states = numpy.asarray(found, dtype=numpy.float32)[0]
        vector = states.mean(axis=0) if states.ndim == 2 else states
        return vector / max(float(numpy.linalg.norm(vector)), 1e-12)


_FIELDS = {
    "model": TEXT,
    "user": ANYTHING,
    "input": Field(
        None,
        lambda v: isinstance(v, str | list) and 0 < len(v),
        "a text, a list of texts, or ids",
    ),
    "encoding_format": Field("float", lambda v: v in ("float", "base64"), "float or base64"),
    "dimensions": positive(),
}


@dataclass(frozen=True)
class EmbeddingRequest:
    inputs: tuple[str | tuple[int, ...], ...]
    is_base64: bool
    dimensions: int | None

    def encoded(self, vector: numpy.ndarray) -> list[float] | str:
        if self.dimensions not in (None, vector.size):
            raise RequestError(
                f"dimensions: expected {vector.size}, the model's, found {self.dimensions}",
                "dimensions",
            )
        if self.is_base64:
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return vector.tolist()


def read_embeddings(body: bytes, vocabulary: int) -> EmbeddingRequest:
    values = read(body, _FIELDS)
    given = values["input"]
    if given is None:
        raise RequestError("input: expected a text, a list of texts, or ids, found none", "input")
    is_one = isinstance(given, str) or isinstance(given[0], int)
    inputs = [given] if is_one else given
    if len(inputs) > MAX_INPUTS:
        raise RequestError(f"input: expected {MAX_INPUTS} at most, found {len(inputs)}", "input")
    return EmbeddingRequest(
        tuple(_input(each, vocabulary) for each in inputs),
        values["encoding_format"] == "base64",
        values["dimensions"],
    )


def _input(given: Any, vocabulary: int) -> str | tuple[int, ...]:
    if not isinstance(given, str | list) or not given:
        raise RequestError("input: expected texts or ids, none of them empty", "input")
    return given if isinstance(given, str) else ids_of(given, vocabulary, "input")


def embeddings_body(
    model_id: str, asked: EmbeddingRequest, rows: Sequence[tuple[int, numpy.ndarray]]
) -> dict[str, Any]:
    """`rows`: how many tokens each input has, and its vector."""
    tokens = sum(count for count, _ in rows)
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": i, "embedding": asked.encoded(vector)}
            for i, (_, vector) in enumerate(rows)
        ],
        "model": model_id,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
