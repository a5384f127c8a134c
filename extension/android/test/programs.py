# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the tests in Java run; each says what it computes, and the tests the arithmetic."""

from __future__ import annotations

import struct
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, export

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.extension.llm.runner.test import tiny_multimodal
from executorch.extension.llm.runner.test.tiny_llama import END, TinyLlama
from executorch.extension.training.examples.XOR.export_model import export_xor
from executorch.extension.training.examples.XOR.model import Net

SPOKEN = "hello wörld 😀"  # what the speech model says, whatever it hears
SAMPLES = 160


class Types(nn.Module):
    """A float as every type that a tensor has."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        types = (
            torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
            torch.float64, torch.bool, torch.bfloat16,
        )  # fmt: skip
        return tuple(x.to(dtype) for dtype in types)


class Scaled(nn.Module):
    """x + y * alpha, where alpha is a number."""

    def forward(self, x: Tensor, y: Tensor, alpha: float) -> Tensor:
        return torch.add(x, y, alpha=alpha)


class ChannelsLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x + 1).to(memory_format=torch.channels_last)


class Doubled(nn.Module):
    """Rows of three, each value doubled, by a matrix that XNNPACK multiplies with."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3, bias=False)
        with torch.no_grad():
            self.linear.weight.copy_(2 * torch.eye(3))

    def forward(self, rows: Tensor) -> dict[str, Tensor]:
        return {"doubled": self.linear(rows)}


class Segments(nn.Module):
    """Scores of 21 classes: green is a dog (12), red a person (15), blue a sheep (17), dark nothing (0)."""

    def forward(self, image: Tensor) -> Tensor:
        scores = [torch.full_like(image[:, 0], -10.0) for _ in range(21)]
        scores[0] = torch.zeros_like(image[:, 0])
        scores[12], scores[15], scores[17] = image[:, 1], image[:, 0], image[:, 2]
        return torch.stack(scores, dim=1)


class Encoder(nn.Module):
    def forward(self, features: Tensor) -> Tensor:
        return features.reshape(1, 1, SAMPLES) * 0.5


class Decoder(nn.Module):
    """Says one token after the other, the last one again and again."""

    def __init__(self, ids: list[int], vocabulary: int) -> None:
        super().__init__()
        table = torch.zeros(len(ids), 1, 1, vocabulary)
        for place, token in enumerate(ids):
            table[place, 0, 0, token] = 1
        self.register_buffer("table", table)

    def forward(self, token: Tensor, states: Tensor, position: Tensor) -> Tensor:
        last = torch.clamp(position, max=self.table.shape[0] - 1)
        return self.table.index_select(0, last)[0] + 0 * states.sum() + 0 * token.sum()


def write(folder: Path) -> None:
    """All programs but those of the small Llama, which have a store of their own."""
    x = torch.tensor([1.5, 0.0])
    _portable(Types(), (x,)).save(folder / "types.pte")
    _portable(Scaled(), (torch.ones(2), torch.ones(2), 3.0)).save(folder / "scaled.pte")
    _portable(ChannelsLast(), (torch.ones(1, 2, 2, 3),)).save(folder / "channels_last.pte")
    _portable(Segments(), (torch.ones(1, 3, 2, 2),)).save(folder / "segments.pte")
    rows = export(Doubled(), (torch.ones(2, 3),), dynamic_shapes=({0: Dim("rows", min=1, max=8)},))
    to_edge_transform_and_lower(rows, partitioner=[XnnpackPartitioner()]).to_executorch().save(
        folder / "doubled.pte"
    )
    outside = ExecutorchBackendConfig(external_constants=True)
    program = to_edge(export(Doubled(), (torch.ones(2, 3),))).to_executorch(outside)
    program.save(folder / "outside.pte")
    program.write_tensor_data_to_file(str(folder))
    (data,) = folder.glob("*.ptd")
    data.rename(folder / "outside.ptd")
    torch.manual_seed(0)
    export_xor(Net(), external_mutable_weights=False).save(folder / "xor.pte")


def write_speech(folder: Path, tokenizer: Path) -> None:
    """A speech model in the form that Seq2SeqRunner takes, and sound."""
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(tokenizer))
    end = words.token_to_id("<|im_end|>")
    ids = [*words.encode(SPOKEN).ids, end]
    token, position = torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, dtype=torch.long)
    methods: dict[str, Any] = {
        "encoder": export(Encoder(), (torch.ones(1, 1, SAMPLES),)),
        "text_decoder": export(
            Decoder(ids, words.get_vocab_size()), (token, torch.ones(1, 1, SAMPLES), position)
        ),
    }
    program = to_edge(methods, constant_methods={"get_eos_ids": [end]}).to_executorch()
    program.save(folder / "speech.pte")
    with wave.open(str(folder / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(struct.pack(f"<{SAMPLES}h", *range(SAMPLES)))


def write_answers(folder: Path, llama: TinyLlama, prompts: Sequence[str], count: int) -> None:
    """answers.properties: the most probable tokens after each prompt, by transformers, as text."""
    answers = {
        prompt: llama.decode(llama.greedy(llama.encode(prompt), count)) for prompt in prompts
    }
    _write_properties(folder / "answers.properties", answers)


@torch.no_grad()
def write_multimodal(folder: Path, llama: TinyLlama, before: str, after: str, count: int) -> None:
    """Programs of images as floats and as bytes, an image and sound for them, and what eager PyTorch answers."""
    floats = tiny_multimodal.make(folder / "floats.pte")
    pixels = tiny_multimodal.make(folder / "bytes.pte", of_bytes=True)
    image, sound = tiny_multimodal.IMAGE, tiny_multimodal.AUDIO
    colors = (torch.arange(image.numel()) * 5 % 256).to(torch.uint8).reshape(image.shape)
    for name, values in (("image.floats", image), ("image.bytes", colors), ("sound.floats", sound)):
        (folder / name).write_bytes(values.numpy().tobytes())
    first, last = (floats.ids(llama.encode(text)) for text in (before, after))
    rows = {
        "all": floats.greedy([first, floats.vision(image[None]), floats.audio(sound), last], count),
        "bytes": pixels.greedy([pixels.vision(colors[None]), last], count),
        "text": floats.greedy([first, last], count),
    }
    answers = {name: llama.decode(ids) for name, ids in rows.items()}
    assert len(set(answers.values())) == len(answers) and END not in "".join(answers.values())
    _write_properties(folder / "answers.properties", answers)


def _write_properties(path: Path, texts: dict[str, str]) -> None:
    path.write_text("".join(f"{_escaped(key)}={_escaped(text)}\n" for key, text in texts.items()))


def _escaped(text: str) -> str:
    """As java.util.Properties reads it: units of UTF-16."""
    units = struct.unpack(f"<{len(text.encode('utf-16-le')) // 2}H", text.encode("utf-16-le"))
    return "".join(chr(u) if u < 128 and chr(u).isalnum() else f"\\u{u:04x}" for u in units)


def _portable(module: nn.Module, inputs: tuple[Any, ...]) -> Any:
    return to_edge(export(module, inputs)).to_executorch()
