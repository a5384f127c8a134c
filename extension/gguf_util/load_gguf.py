# SPDX-License-Identifier: BSD-3-Clause
"""What a GGUF file says of its model, and its tensors."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile


@dataclass
class AttentionArgs:
    head_count: int
    head_count_kv: int
    layer_norm_rms_epsilon: float


@dataclass
class RopeArgs:
    freq_base: float
    dimension_count: int | None = None


@dataclass
class GGUFModelArgs:
    arch: str
    embedding_length: int
    block_count: int
    feed_forward_length: int
    vocab_size: int
    attention: AttentionArgs
    rope: RopeArgs


@dataclass
class ReaderTensor:
    """A tensor of the file, which stays there until it is read."""

    name: str
    file: GGUFFile

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first, as in PyTorch."""
        return self.file.tensors[self.name].shape

    @property
    def tensor_type(self) -> str:
        """The name of its block format: "Q4_1"."""
        return self.file.tensors[self.name].format.name

    def read(self) -> torch.Tensor:
        """In float32."""
        return self.file.read(self.name)


@dataclass
class GGUFWeights:
    tensors: list[ReaderTensor]


def load_file(gguf_file: str) -> tuple[GGUFModelArgs, GGUFWeights]:
    """Raises CheckpointError: the file is corrupted, or lacks what a model needs; OSError: it cannot be read."""
    file = GGUFFile(gguf_file)

    def needed(key: str) -> int:
        value = file.get(key)
        if not isinstance(value, int) or value <= 0:
            raise CheckpointError(
                f"{gguf_file}: metadata {file.architecture()}.{key}: expected a positive number, found {value!r}"
            )
        return value

    table = file.tensors.get("token_embd.weight")
    heads = needed("attention.head_count")
    args = GGUFModelArgs(
        arch=file.architecture(),
        embedding_length=needed("embedding_length"),
        block_count=needed("block_count"),
        feed_forward_length=needed("feed_forward_length"),
        vocab_size=file.get("vocab_size") or (table.shape[0] if table and table.shape else 0),
        attention=AttentionArgs(
            heads,
            file.get("attention.head_count_kv", heads),
            file.get("attention.layer_norm_rms_epsilon", 1e-5),
        ),
        rope=RopeArgs(file.get("rope.freq_base", 10000.0), file.get("rope.dimension_count")),
    )
    return args, GGUFWeights([ReaderTensor(name, file) for name in file.tensors])
