# SPDX-License-Identifier: BSD-3-Clause
"""Rotary tables beside transformers' own, for every rule of scaling, at positions where a wrong factor shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from transformers import LlamaConfig, Phi3Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.params import params_from_config, params_from_gguf
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.models import model_args
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.rope import rope_tables

SHAPE = {
    "hidden_size": 256,
    "num_attention_heads": 2,  # of 128 numbers, as in Llama 3
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "intermediate_size": 64,
    "vocab_size": 32,
    "max_position_embeddings": 131072,
}
POSITIONS = torch.tensor([0, 1, 7, 4_000, 5_555, 8_192, 10_000])
LLAMA_3_1 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
SHORT, LONG = [1.0 + i / 100 for i in range(64)], [1.0 + i / 2 for i in range(64)]
LONG_ROPE = {
    "short_factor": SHORT,
    "long_factor": LONG,
    "original_max_position_embeddings": 4096,
}
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("default", {}),
    "linear": ("linear", {"factor": 4.0}),
    "Llama 3.1": ("llama3", LLAMA_3_1),
    "Llama 3.2": ("llama3", {**LLAMA_3_1, "factor": 32.0}),
    "llama3, other factors": (
        "llama3",
        {
            "factor": 16.0,
            "low_freq_factor": 2.0,
            "high_freq_factor": 8.0,
            "original_max_position_embeddings": 4096,
        },
    ),
    "longrope": ("longrope", LONG_ROPE),
    "longrope with an attention factor": ("longrope", {**LONG_ROPE, "attention_factor": 1.25}),
}


def transformers_tables(config: Any, kind: str, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin at POSITIONS, of angles in float64."""
    if kind == "default":
        exponents = torch.arange(0, 128, 2) / 128
        frequencies, scale = 1.0 / config.rope_parameters["rope_theta"] ** exponents, 1.0
    else:
        frequencies, scale = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=tokens)
    angles = torch.outer(POSITIONS.double(), frequencies.double())
    return angles.cos() * scale, angles.sin() * scale


def assert_like(args: ModelArgs, expected: tuple[torch.Tensor, torch.Tensor]) -> None:
    """Angles of 10,000 are rounded by 5e-4 in float32; the smallest planted fault changes them by more than 0.1."""
    for found, wanted in zip(rope_tables(args, args.rope_freq_base), expected, strict=True):
        half = found[POSITIONS, : wanted.shape[1]].double()
        torch.testing.assert_close(half, wanted, rtol=0, atol=2e-3)


def args_of(params: dict[str, Any], tokens: int = 10_240) -> ModelArgs:
    return ModelArgs(**params, max_seq_len=16, max_context_len=tokens)


@pytest.mark.parametrize("rule", RULES)
def test_tables_are_transformers(rule: str, tmp_path: Path) -> None:
    kind, numbers = RULES[rule]
    family = Phi3Config if kind == "longrope" else LlamaConfig
    rope = {"rope_type": kind, "rope_theta": 500000.0, **numbers}
    top = {k: v for k, v in numbers.items() if kind == "longrope" and k.startswith("original")}
    config = family(**SHAPE, **top, rope_parameters=rope, pad_token_id=0)
    config.save_pretrained(tmp_path)
    params = params_from_config(tmp_path / "config.json")
    assert_like(args_of(params), transformers_tables(config, kind, 10_240))


def test_short_texts_take_the_short_factors() -> None:
    """Tables for no more than the original length."""
    given = {
        "dim": 256, "n_heads": 2, "rope_freq_base": 500000.0, "rope_scaling_short_factor": SHORT,
        "rope_scaling_long_factor": LONG, "original_max_position_embeddings": 16384,
        "rope_scaling_attention_factor": 1.0, "use_hf_rope": True,
    }  # fmt: skip
    frequencies = 1 / 500000.0 ** (torch.arange(0, 128, 2) / 128) / torch.tensor(SHORT)
    angles = torch.outer(POSITIONS.double(), frequencies.double())
    assert_like(args_of(given), (angles.cos(), angles.sin()))


@pytest.mark.parametrize(("model_class", "factor"), [("llama3_1", 8.0), ("llama3_2", 32.0)])
def test_what_a_params_json_of_meta_leaves_unsaid(
    model_class: str, factor: float, tmp_path: Path
) -> None:
    """`use_scaled_rope` alone: 8 times for Llama 3.1, 32 times for 3.2, between 1 and 4 turns of 8,192 tokens."""
    params = {"dim": 256, "n_heads": 2, "n_layers": 1, "rope_theta": 500000.0, "vocab_size": 32}
    path = tmp_path / "params.json"
    path.write_text(json.dumps({**params, "use_scaled_rope": True}))
    config = build(
        {
            "base": {"model_class": model_class, "params": str(path)},
            "export": {"max_seq_length": 16, "max_context_length": 10_240},
        }
    )
    rope = {"rope_type": "llama3", "rope_theta": 500000.0, **LLAMA_3_1, "factor": factor}
    expected = LlamaConfig(**SHAPE, rope_parameters=rope)
    assert_like(model_args(config, None), transformers_tables(expected, "llama3", 10_240))


@pytest.mark.parametrize("kind", ["dynamic", "yarn", "proportional"])
def test_rules_that_are_not_here_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    rope = {"rope_type": kind, "rope_theta": 10000.0, "factor": 4.0}
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "llama", "rope_parameters": rope}))
    with pytest.raises(CheckpointError, match=f"rope scaling '{kind}' is none of"):
        params_from_config(path)


def gguf_file(
    folder: Path, tensors: dict[str, list[float]], metadata: dict[str, Any], model: str = "llama"
) -> GGUFFile:
    writer = gguf.GGUFWriter(folder / "m.gguf", model)
    writer.add_block_count(1)
    writer.add_embedding_length(256)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_context_length(131072)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500000.0)
    for key, value in metadata.items():
        (writer.add_string if isinstance(value, str) else writer.add_float32)(
            f"{model}.{key}", value
        )
    for name, numbers in tensors.items():
        writer.add_tensor(name, np.array(numbers, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return GGUFFile(folder / "m.gguf")


def test_the_divisors_of_a_gguf_file_count(tmp_path: Path) -> None:
    """llama.cpp's converter writes Llama 3.1's rule as the tensor `rope_freqs.weight`."""
    rope = {"rope_type": "llama3", "rope_theta": 500000.0, **LLAMA_3_1}
    config = LlamaConfig(**SHAPE, rope_parameters=rope)
    stretched, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    plain = 1 / 500000.0 ** (torch.arange(0, 128, 2) / 128)
    divisors = (plain.double() / stretched.double()).tolist()
    file = gguf_file(tmp_path, {"rope_freqs.weight": divisors}, {})
    assert_like(args_of(params_from_gguf(file)), transformers_tables(config, "llama3", 10_240))


def test_factors_for_short_and_long_texts_of_a_gguf_file(tmp_path: Path) -> None:
    rope = {"rope_type": "longrope", "rope_theta": 500000.0, **LONG_ROPE}
    top = {"original_max_position_embeddings": 4096}
    config = Phi3Config(**SHAPE, **top, rope_parameters=rope, pad_token_id=0)
    _, magnitude = ROPE_INIT_FUNCTIONS["longrope"](config, "cpu", seq_len=10_240)
    tensors = {"rope_factors_short.weight": SHORT, "rope_factors_long.weight": LONG}
    metadata = {"rope.scaling.original_context_length": 4096, "rope.scaling.attn_factor": magnitude}
    file = gguf_file(tmp_path, tensors, metadata, "phi3")
    assert_like(args_of(params_from_gguf(file)), transformers_tables(config, "longrope", 10_240))


@pytest.mark.parametrize(
    "metadata",
    [{"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {"rope.scale_linear": 4.0}],
)
def test_scaling_by_a_number_of_a_gguf_file(metadata: dict[str, Any], tmp_path: Path) -> None:
    rope = {"rope_type": "linear", "rope_theta": 500000.0, "factor": 4.0}
    config = LlamaConfig(**SHAPE, rope_parameters=rope)
    params = params_from_gguf(gguf_file(tmp_path, {}, metadata))
    assert_like(args_of(params), transformers_tables(config, "linear", 10_240))


def test_a_factor_of_no_rule_is_none(tmp_path: Path) -> None:
    metadata = {"rope.scaling.type": "none", "rope.scaling.factor": 4.0}
    params = params_from_gguf(gguf_file(tmp_path, {}, metadata))
    assert "rope_linear_factor" not in params


def test_another_rule_of_a_gguf_file_is_refused(tmp_path: Path) -> None:
    metadata = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}
    with pytest.raises(CheckpointError, match="rope scaling 'yarn'"):
        params_from_gguf(gguf_file(tmp_path, {}, metadata))
