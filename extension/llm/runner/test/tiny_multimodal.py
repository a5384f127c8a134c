# SPDX-License-Identifier: BSD-3-Clause
"""A small program of text, images and sound with random weights, and its modules in PyTorch beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim, export

from executorch.exir import EdgeCompileConfig, to_edge
from executorch.extension.llm.runner.test.tiny_llama import VOCABULARY

WIDTH, ROWS = 16, 64
IMAGE = torch.linspace(-1, 1, 3 * 8 * 8).reshape(3, 8, 8)
AUDIO = torch.linspace(0, 1, 1 * 4 * 6).reshape(1, 4, 6)


class Vision(torch.nn.Module):
    """Patches of 4 x 4 pixels, four in all."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = torch.nn.Conv2d(3, WIDTH, 4, 4)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.patch(image).flatten(2).transpose(1, 2)


class Pixels(torch.nn.Module):
    """The same of bytes from 0 to 255."""

    def __init__(self, vision: Vision) -> None:
        super().__init__()
        self.vision = vision

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.vision(image.to(torch.float32) / 128 - 1)


class Audio(torch.nn.Module):
    """A frame after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.frame = torch.nn.Linear(4, WIDTH)

    def forward(self, audio: torch.Tensor) -> torch.Tensor:
        return self.frame(audio.transpose(1, 2))


class Decoder(torch.nn.Module):
    """Mixes all rows so far, the later ones more."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(ROWS, WIDTH))
        self.out = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, embeddings: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        places = torch.arange(embeddings.size(1)) + start
        self.rows.index_copy_(0, places, embeddings[0])
        back = start + embeddings.size(1) - 1 - torch.arange(ROWS)
        weights = torch.where(back >= 0, 0.3 * torch.exp(-0.05 * back.float()), 0.0)
        return self.out(torch.tanh((weights[:, None] * self.rows).sum(0, keepdim=True)))


@dataclass(frozen=True)
class Model:
    program: Path
    embedding: torch.nn.Embedding
    vision: Vision | Pixels
    audio: Audio
    decoder: Decoder

    @torch.no_grad()
    def greedy(self, embeddings: list[torch.Tensor], count: int) -> list[int]:
        """Eager PyTorch: everything again for each token."""
        found: list[int] = []
        for _ in range(count):
            ids = torch.tensor([found], dtype=torch.long)
            x = torch.cat([*embeddings, self.embedding(ids)], 1)
            self.decoder.rows.zero_()
            found.append(int(self.decoder(x, torch.tensor([0])).argmax()))
        self.decoder.rows.zero_()
        return found

    @torch.no_grad()
    def ids(self, ids: list[int]) -> torch.Tensor:
        return self.embedding(torch.tensor([ids]))


def make(path: Path, of_bytes: bool = False) -> Model:
    """`of_bytes`: images are bytes, otherwise floats."""
    torch.manual_seed(3)
    embedding, vision, audio, decoder = (
        torch.nn.Embedding(VOCABULARY, WIDTH), Vision(), Audio(), Decoder(),
    )  # fmt: skip
    model = Model(path, embedding, Pixels(vision) if of_bytes else vision, audio, decoder)
    image = IMAGE[None].to(torch.uint8) if of_bytes else IMAGE[None]
    length = {1: Dim("length", max=32)}
    methods: dict[str, tuple[torch.nn.Module, tuple[torch.Tensor, ...], Any]] = {
        "token_embedding": (embedding, (torch.zeros(1, 3, dtype=torch.long),), (length,)),
        "vision_encoder": (model.vision, (image,), None),
        "audio_encoder": (audio, (AUDIO,), None),
        "text_decoder": (
            decoder,
            (torch.zeros(1, 3, WIDTH), torch.tensor([0])),
            (length, None),
        ),
    }
    programs = {
        name: export(part.eval(), inputs, dynamic_shapes=shapes)
        for name, (part, inputs, shapes) in methods.items()
    }
    edge = to_edge(
        programs,
        constant_methods={"get_max_seq_len": ROWS, "get_max_context_len": ROWS},
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    edge.to_executorch().save(path)
    return model
