# SPDX-License-Identifier: BSD-3-Clause
"""Writes a GGUF file of a shape with random weights of 4 bits (output layer tied to the embedding), on which ours,
llama.cpp and OpenVINO GenAI are measured. It has no tokenizer. Needs the package gguf. Example:

python -m tools.bench.random_gguf llama3_2_1b llama.gguf --format Q4_K
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CONTEXT = 2048


@dataclass(frozen=True)
class Format:
    """Numbers and bytes of a block, which begins with float16 numbers: `halves` over the root of the columns."""

    numbers: int
    bytes: int
    halves: tuple[float, ...]


# Q4_K: a scale and a minimum of 6 bits, 31.5 on average, so that codes of 7.5 on average come to lie around 0
FORMATS = {
    "Q4_0": Format(32, 18, (0.2,)),
    "Q4_K": Format(256, 144, (0.2 / 31.5, 0.2 / 31.5 * 7.5)),
}


@dataclass(frozen=True)
class Shape:
    architecture: str
    dim: int
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    hidden: int
    vocabulary: int
    rope_base: float
    norms_of_heads: bool = False


SHAPES = {
    "llama3_2_1b": Shape("llama", 2048, 16, 32, 8, 64, 8192, 128256, 500000.0),
    "qwen3_0_6b": Shape("qwen3", 1024, 28, 16, 8, 128, 3072, 151936, 1e6, norms_of_heads=True),
}


def matrices(shape: Shape) -> dict[str, tuple[int, int]]:
    """Rows and columns by name."""
    queries, keys = shape.heads * shape.head_dim, shape.key_heads * shape.head_dim
    found = {"token_embd": (shape.vocabulary, shape.dim)}
    for layer in range(shape.layers):
        found |= {
            f"blk.{layer}.attn_q": (queries, shape.dim),
            f"blk.{layer}.attn_k": (keys, shape.dim),
            f"blk.{layer}.attn_v": (keys, shape.dim),
            f"blk.{layer}.attn_output": (shape.dim, queries),
            f"blk.{layer}.ffn_gate": (shape.hidden, shape.dim),
            f"blk.{layer}.ffn_up": (shape.hidden, shape.dim),
            f"blk.{layer}.ffn_down": (shape.dim, shape.hidden),
        }
    return found


def norms(shape: Shape) -> dict[str, int]:
    """Widths by name."""
    found = {"output_norm": shape.dim}
    for layer in range(shape.layers):
        found |= {f"blk.{layer}.attn_norm": shape.dim, f"blk.{layer}.ffn_norm": shape.dim}
        if shape.norms_of_heads:
            names = (f"blk.{layer}.attn_q_norm", f"blk.{layer}.attn_k_norm")
            found |= dict.fromkeys(names, shape.head_dim)
    return found


def random_blocks(form: Format, rows: int, columns: int, random: np.random.Generator) -> np.ndarray:
    """Blocks as bytes, (rows, bytes of a row): numbers of about 1 over the square root of the columns."""
    blocks = random.integers(0, 256, (rows * columns // form.numbers, form.bytes), dtype=np.uint8)
    for i, half in enumerate(form.halves):
        scale = np.float16(half / np.sqrt(columns))
        blocks[:, 2 * i : 2 * i + 2] = np.frombuffer(scale.tobytes(), np.uint8)
    return blocks.reshape(rows, -1)


def write(shape: Shape, path: Path, form: str = "Q4_0") -> None:
    import gguf

    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, shape.architecture)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.dim)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.key_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_tokenizer_model("none")
    for name, (rows, columns) in matrices(shape).items():
        data = random_blocks(FORMATS[form], rows, columns, random)
        writer.add_tensor(f"{name}.weight", data, raw_dtype=gguf.GGMLQuantizationType[form])
    for name, width in norms(shape).items():
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.random_gguf",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("path", type=Path)
    parser.add_argument("--format", choices=FORMATS, default="Q4_0")
    options = parser.parse_args()
    write(SHAPES[options.shape], options.path, options.format)


if __name__ == "__main__":
    main()
