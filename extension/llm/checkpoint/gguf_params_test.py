# SPDX-License-Identifier: BSD-3-Clause
"""Models of GGUF files: their shape by the metadata and by what llama.cpp knows of an architecture, keys that are
refused, and the numbers of transformers' models, in files as llama.cpp's converter writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import MODEL_ARCH, MODEL_ARCH_NAMES, Keys

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.known_keys import GGUF, Key
from executorch.extension.llm.checkpoint.load import load_into
from executorch.extension.llm.checkpoint.params import params_from_gguf
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import FAMILIES
from executorch.extension.llm.model.transformer import construct_transformer

LAYERS = 4
SMALL = {
    "embedding_length": 32,
    "block_count": LAYERS,
    "feed_forward_length": 40,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "vocab_size": 48,
}
SLIDING, FULL, CONV = "sliding_attention", "full_attention", "conv"


def write(
    architecture: str, path: Path, metadata: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    """`metadata`: below the architecture's name, with __ for a dot."""
    writer = gguf.GGUFWriter(path, architecture)
    given = {**SMALL, **{key.replace("__", "."): value for key, value in metadata.items()}}
    for key, value in given.items():
        name = f"{architecture}.{key}"
        if value is None:
            continue
        if isinstance(value, list):
            writer.add_array(name, value)
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, str):
            writer.add_string(name, value)
        else:
            add = writer.add_float32 if isinstance(value, float) else writer.add_int32
            add(name, value)
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def shape_of(architecture: str, folder: Path, **metadata: Any) -> dict[str, Any]:
    table = {"token_embd.weight": np.zeros((48, 32), np.float32)}
    write(architecture, folder / "model.gguf", metadata, table)
    return params_from_gguf(GGUFFile(folder / "model.gguf"))


# architecture, metadata, what ModelArgs get of it
ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("smollm3", {}, {"no_rope_layer_interval": 4}),
    ("llama", {}, {"no_rope_layer_interval": None, "layer_types": None, "use_hf_rope": None}),
    ("llama", {"attention__sliding_window": 8}, {"layer_types": [SLIDING] * 4, "sliding_window": 8}),
    ("phi3", {"attention__sliding_window": 8}, {"layer_types": [SLIDING] * 4, "sliding_window": 8}),
    ("phi3", {"attention__sliding_window": 0}, {"layer_types": None, "sliding_window": None}),
    ("phi3", {"rope__dimension_count": 6}, {"partial_rotary_factor": 0.75}),
    ("gemma", {}, {"act_fn": "gelu_approx", "embedding_scale_factor": 32**0.5, "layer_types": None}),
    (
        "gemma2",
        {},
        {
            "layer_types": [SLIDING, FULL] * 2,
            "sliding_window": 4096,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
            "attention_multiplier": None,
            "act_fn": "gelu_approx",
        },
    ),
    ("gemma2", {"attention__sliding_window": 8}, {"sliding_window": 8}),
    (
        "gemma2",
        {"attention__sliding_window": 8, "attention__sliding_window_pattern": [True, True, True, False]},
        {"layer_types": [SLIDING] * 3 + [FULL]},
    ),
    ("gemma2", {"block_count": 46, "attention__key_length": 16}, {"attention_multiplier": 8**-0.5}),
    ("gemma3", {"attention__sliding_window": 8, "block_count": 7}, {"layer_types": [SLIDING] * 5 + [FULL, SLIDING]}),
    ("gemma3", {"attention__sliding_window": 8, "rope__freq_base_swa": 500.0}, {"local_rope_theta": 500.0}),
    ("gemma3", {}, {"layer_types": None, "local_rope_theta": 10000.0}),
    ("gemma3", {"block_count": 62}, {"attention_multiplier": 8**-0.5}),
    ("granite", {"rope__scaling__finetuned": False}, {"rope_layers": [False] * 4}),
    ("granite", {"rope__scaling__finetuned": True, "logit_scale": 8.0}, {"rope_layers": None, "logits_scaling": 8.0}),
    ("lfm2", {"attention__head_count_kv": [0, 2, 0, 2]}, {"n_kv_heads": 2, "layer_types": [CONV, FULL] * 2}),
    ("llama", {"attention__head_count_kv": [2, 2, 2, 2]}, {"n_kv_heads": 2, "layer_types": None}),
    ("llama", {"feed_forward_length": [40] * 4}, {"hidden_dim": 40}),
    # the table of embeddings has 48 rows
    ("llama", {"vocab_size": 60}, {"vocab_size": 60}),
    ("llama", {"vocab_size": None}, {"vocab_size": 48}),
    ("llama", {"rope__scaling__type": "linear", "rope__scaling__factor": 4.0}, {"rope_linear_factor": 4.0}),
    ("llama", {"expert_count": 0, "attention__causal": True, "pooling_type": 3}, {"n_heads": 4}),
    ("llama", {"expert_used_count": 0, "use_parallel_residual": False, "shortconv__l_cache": 3}, {"n_heads": 4}),
]  # fmt: skip


def test_what_the_architecture_says(tmp_path: Path) -> None:
    for architecture, metadata, expected in ROWS:
        found = shape_of(architecture, tmp_path, **metadata)
        assert {key: found.get(key) for key in expected} == expected, (architecture, metadata)


# architecture, metadata, words of the refusal
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("llama", {"attention__head_count_kv": [2, 2, 1, 2]}, "attention.head_count_kv"),
    ("llama", {"attention__head_count_kv": [2, 2, 0, 2]}, "attention.head_count_kv"),
    ("llama", {"attention__head_count_kv": [2, 2]}, "attention.head_count_kv"),
    ("lfm2", {"feed_forward_length": [40, 80, 40, 40]}, "feed_forward_length"),
    ("lfm2", {"shortconv__l_cache": 4}, "shortconv.l_cache"),
    ("qwen2", {"attention__sliding_window": 8}, "sliding_window"),
    ("llama", {"attention__sliding_window": -8}, "attention.sliding_window"),
    ("llama", {"attention__sliding_window": 8.5}, "attention.sliding_window"),
    ("llama", {"attention__value_length": 4}, "attention.value_length"),
    ("llama", {"rope__dimension_count": 4}, "rope.dimension_count"),
    ("llama", {"attention__causal": False}, "attention.causal"),
    ("llama", {"expert_count": 8}, "expert_count"),
    ("llama", {"expert_used_count": 2}, "expert_used_count"),
    ("llama", {"use_parallel_residual": True}, "use_parallel_residual"),
    ("llama", {"rope__scaling__type": "yarn"}, "yarn"),
    ("llama", {"attention__clamp_kqv": 8.0}, "attention.clamp_kqv"),
    ("gemma3", {"attention__sliding_window": 8, "attention__sliding_window_pattern": [1]}, "sliding_window_pattern"),
    ("llama", {"attention__layer_norm_rms_epsilon": 0.0}, "norm_eps"),
    ("llama", {"rope__scaling__factor": "four"}, "rope.scaling.factor"),
    ("mamba", {}, "mamba"),
]  # fmt: skip


def test_what_is_not_computed_is_refused_by_name(tmp_path: Path) -> None:
    for architecture, metadata, words in REFUSED:
        with pytest.raises(CheckpointError) as caught:
            shape_of(architecture, tmp_path, **metadata)
        assert words in str(caught.value), (architecture, metadata)


def test_every_key_of_ggufs_own_package_is_known_or_refused_by_name(tmp_path: Path) -> None:
    groups = [group for group in vars(Keys).values() if isinstance(group, type)]
    names = {
        value.removeprefix("{arch}.")
        for group in groups
        for value in vars(group).values()
        if isinstance(value, str) and value.startswith("{arch}.")
    }
    assert len(names) > 80 and not any(key == Key() for key in map(GGUF.get, {*SMALL}))
    for name in sorted(names - {*GGUF}):
        with pytest.raises(CheckpointError) as caught:
            shape_of("llama", tmp_path, **{name: 3})
        assert name in str(caught.value)


# architecture, transformers' config and what it says, metadata that llama.cpp's converter writes of it
CONVERTED: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("llama", "LlamaConfig", {}, {}),
    ("llama", "MistralConfig", {"sliding_window": 4}, {"attention__sliding_window": 4}),
    ("granite", "GraniteConfig",
     {"embedding_multiplier": 3.0, "residual_multiplier": 0.5, "attention_multiplier": 0.25, "logits_scaling": 2.0},
     {"embedding_scale": 3.0, "residual_scale": 0.5, "attention__scale": 0.25, "logit_scale": 2.0}),
    ("smollm3", "SmolLM3Config", {}, {}),
    ("qwen2", "Qwen2Config", {}, {}),
    ("qwen3", "Qwen3Config", {"head_dim": 16}, {"attention__key_length": 16, "attention__value_length": 16}),
    ("phi3", "Phi3Config", {"sliding_window": 4}, {"attention__sliding_window": 4, "rope__dimension_count": 8}),
    ("gemma", "GemmaConfig", {"head_dim": 16}, {"attention__key_length": 16}),
    ("gemma2", "Gemma2Config", {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 4},
     {"attention__key_length": 16, "attention__sliding_window": 4, "attn_logit_softcapping": 50.0}),
    ("gemma3", "Gemma3TextConfig",
     {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 4, "num_hidden_layers": 7},
     {"attention__key_length": 16, "attention__sliding_window": 4, "block_count": 7, "rope__freq_base": 1000000.0}),
    ("lfm2", "Lfm2Config", {"full_attn_idxs": [1, 3], "block_auto_adjust_ff_dim": False, "rope_theta": 10000.0},
     {"attention__head_count_kv": [0, 2, 0, 2], "shortconv__l_cache": 3}),
]  # fmt: skip


def converted(architecture: str, model: torch.nn.Module, layers: int) -> dict[str, np.ndarray]:
    """Names by gguf's own map; rows of queries and keys as neighbors where llama.cpp turns those."""
    (arch,) = [each for each in MODEL_ARCH if MODEL_ARCH_NAMES[each] == architecture]
    names, found = gguf.get_tensor_name_map(arch, layers), {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and model.config.tie_word_embeddings:
            continue
        for projection, heads in (("q_proj", 4), ("k_proj", 2)):
            if f".{projection}." in name and architecture in ("llama", "granite", "smollm3"):
                halves = tensor.reshape(heads, 2, -1, *tensor.shape[1:])
                tensor = halves.swapaxes(1, 2).reshape(tensor.shape)
        if architecture.startswith("gemma") and name.endswith("norm.weight"):
            tensor = tensor + 1
        if name.endswith("conv.conv.weight"):
            tensor = tensor.squeeze(1)
        found[names.get_name(name, (".weight", ".bias"))] = tensor.float().numpy()
    return found


@pytest.mark.parametrize("row", CONVERTED, ids=lambda row: row[1])
def test_a_converted_file_computes_what_transformers_does(
    row: tuple[str, str, dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    architecture, kind, extra, metadata = row
    sizes = {
        "vocab_size": 48,
        "hidden_size": 32,
        "intermediate_size": 40,
        "num_hidden_layers": LAYERS,
    }
    heads = {
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "pad_token_id": 0,
        "rms_norm_eps": 1e-6,
    }
    config = getattr(transformers, kind)(**{**sizes, **heads, "norm_eps": 1e-6, **extra})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    tokens = torch.tensor([[5, 17, 3, 9, 40, 42, 7, 8, 21, 33]])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        expected = model(tokens).logits
    path = tmp_path / "model.gguf"
    bases = {"rope__freq_base": config.rope_parameters.get("rope_theta", 1e6)}
    tensors = converted(architecture, model, config.num_hidden_layers)
    write(architecture, path, {**bases, **metadata}, tensors)
    shape = params_from_gguf(GGUFFile(path))
    args = ModelArgs(
        **{**shape, "max_seq_len": 16, "max_context_len": 16, "generate_full_logits": True}
    )
    with torch.device("meta"):
        ours = construct_transformer(args).eval()
    load_into(ours, open_checkpoint(path), FAMILIES["llama2"])
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens), expected, rtol=2e-4, atol=2e-4)
