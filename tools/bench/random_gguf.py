# SPDX-License-Identifier: BSD-3-Clause
"""Writes a GGUF file of a shape with random weights of 4 bits (Q4_0, output layer tied to the embedding), on which
llama.cpp is measured. It has no tokenizer. Needs the package gguf. Example:

python -m tools.bench.random_gguf llama3_2_1b llama.gguf
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CONTEXT, BLOCK, BLOCK_BYTES = 2048, 32, 18  # of Q4_0: a scale of 16 bits, and 32 numbers


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


def random_q4_0(rows: int, columns: int, random: np.random.Generator) -> np.ndarray:
    """Blocks as bytes, (rows, bytes of a row): numbers of about 1 over the square root of the columns."""
    blocks = random.integers(0, 256, (rows * columns // BLOCK, BLOCK_BYTES), dtype=np.uint8)
    scale = np.float16(0.2 / np.sqrt(columns))
    blocks[:, :2] = np.frombuffer(scale.tobytes(), np.uint8)
    return blocks.reshape(rows, -1)


def write(shape: Shape, path: Path) -> None:
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
        data = random_q4_0(rows, columns, random)
        writer.add_tensor(f"{name}.weight", data, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
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
    options = parser.parse_args()
    write(SHAPES[options.shape], options.path)


if __name__ == "__main__":
    main()
