# SPDX-License-Identifier: BSD-3-Clause
"""Every key of a config.json, changed alone: the logits of transformers' model, or a refusal that names the key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers

from executorch.extension.llm.checkpoint.config_params import read_config
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.known_keys import CONFIG, Key
from executorch.extension.llm.checkpoint.load import load_into
from executorch.extension.llm.checkpoint.model_types import MODEL_TYPES
from executorch.extension.llm.checkpoint.params import params_from_config
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import Family
from executorch.extension.llm.model.transformer import construct_transformer

SMALL = {
    "vocab_size": 48,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
# What makes keys matter that are off otherwise.
ALSO: dict[str, dict[str, Any]] = {
    "mistral": {"sliding_window": 4},
    "phi3": {"sliding_window": 4, "original_max_position_embeddings": 64},
    "qwen2": {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    "qwen3": {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    "smollm3": {"use_sliding_window": True, "sliding_window": 4, "no_rope_layer_interval": 2},
    "gemma2": {"sliding_window": 4, "query_pre_attn_scalar": 12},
    "gemma3_text": {"sliding_window": 4, "query_pre_attn_scalar": 12},
    "lfm2": {"full_attn_idxs": [1], "block_multiple_of": 8},
    "granite": {"embedding_multiplier": 2.0, "attention_multiplier": 0.5},
}
TOKENS = torch.tensor([[5, 17, 3, 9, 40, 42, 7, 8, 21, 33]])
_SCALED = {"rope_type": "linear", "factor": 4.0}
_LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
_LONG = {
    "rope_type": "longrope",
    "short_factor": [1.0, 1.5, 2.0, 3.0],
    "long_factor": [1.0, 2.0, 4.0, 8.0],
}
# Values besides those that follow from what a key holds.
VALUES: dict[str, list[Any]] = {
    "hidden_act": ["gelu", "relu", "gelu_new", "tanh"],
    "hidden_activation": ["silu", "gelu"],
    "rope_parameters": [
        {"rope_theta": 500.0},
        {"rope_theta": 500.0, **_SCALED},
        {"rope_theta": 500.0, **_LLAMA3},
        {"rope_theta": 500.0, **_LONG},
        {"rope_theta": 500.0, "rope_type": "yarn", "factor": 4.0},
        {"rope_theta": 500.0, "rope_type": "dynamic", "factor": 4.0},
        {"rope_theta": 500.0, "partial_rotary_factor": 0.5},
    ],
    "layer_types": [["full_attention", "sliding_attention"], ["sliding_attention"] * 2],
    "no_rope_layers": [[0, 1], [1, 1]],
    "full_attn_idxs": [[0], [0, 1]],
    "sliding_window_pattern": [1, 2],
    "query_pre_attn_scalar": [7],
    "final_logit_softcapping": [0.5, None],
    "attn_logit_softcapping": [0.5, None],
    "num_key_value_heads": [1, 4],
    "num_attention_heads": [8],
    "sliding_window": [2, None],
    "rms_norm_eps": [0.1],
    "norm_eps": [0.1],
}
# Those that say what kind of file it is.
HEAD = {"model_type", "transformers_version", "architectures", "dtype", "id2label", "label2id"}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for numbers of this size take ten times the processor."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def other_values(name: str, value: Any) -> list[Any]:
    if name in VALUES:
        return VALUES[name]
    if isinstance(value, bool) or value is None:
        return [not value]
    if isinstance(value, int):
        return [value + 2]
    return [value * 1.5 + 0.1] if isinstance(value, float) else []


def config_of(kind: str, **changes: Any) -> transformers.PreTrainedConfig:
    sizes = dict(SMALL) if "head_dim" in MODEL_TYPES[kind].absent else {**SMALL, "head_dim": None}
    given = {**sizes, "tie_word_embeddings": False, **ALSO.get(kind, {}), **changes}
    if given["head_dim"] is None:
        del given["head_dim"]
    return transformers.AutoConfig.for_model(kind, **given)


def model_of(config: transformers.PreTrainedConfig) -> torch.nn.Module:
    config._attn_implementation = "eager"
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
            parameter.copy_(0.3 * noise + (1.0 if parameter.dim() == 1 else 0.0))
    return model


def ours(model: torch.nn.Module, config: dict[str, Any], folder: Path) -> torch.Tensor:
    """Our logits of its weights, read from a folder."""
    (folder / "config.json").write_text(json.dumps(config))
    state = {name: value.clone() for name, value in model.state_dict().items()}
    if model.lm_head.weight is model.get_input_embeddings().weight:
        del state["lm_head.weight"]
    safetensors.torch.save_file(state, folder / "model.safetensors")
    shape = params_from_config(folder / "config.json")
    names = read_config(folder / "config.json")[0].names
    args = ModelArgs(
        **{**shape, "max_seq_len": 16, "max_context_len": 16, "generate_full_logits": True}
    )
    with torch.device("meta"):
        made = construct_transformer(args).eval()
    load_into(made, open_checkpoint(folder), Family(names=names))
    with torch.no_grad():
        return made(TOKENS)


def changes_of(kind: str) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Other values of the keys that a number may depend on, and of all others."""
    known = config_of(kind).to_dict()
    matter: dict[str, list[Any]] = {}
    rest: dict[str, Any] = {}
    for name in sorted({*known, *ALSO.get(kind, {}), "sliding_window_pattern"} - HEAD):
        values = other_values(name, known.get(name))
        if CONFIG.get(name) == Key():
            rest.update((name, value) for value in values[:1])
        else:
            matter[name] = values
    return matter, rest


def written(
    kind: str, config: transformers.PreTrainedConfig, changes: dict[str, Any]
) -> dict[str, Any]:
    """As a config.json has it: without what transformers works out of other keys."""
    derived = {"layer_types", "no_rope_layers", "full_attn_idxs"} - {*changes, *ALSO.get(kind, {})}
    return {
        name: value for name, value in config.to_dict().items() if name not in derived
    } | changes


def theirs(kind: str, changes: dict[str, Any]) -> tuple[Any, torch.nn.Module, torch.Tensor] | None:
    """transformers' config, model and logits; None where it refuses."""
    try:
        config = config_of(kind, **changes)
        model = model_of(config)
        with torch.no_grad():
            return config, model, model(TOKENS).logits
    except Exception:
        return None


@pytest.mark.parametrize("kind", MODEL_TYPES)
@pytest.mark.filterwarnings("ignore")
def test_a_key_is_computed_as_transformers_does_or_refused_by_its_name(
    kind: str, tmp_path: Path
) -> None:
    _, _, plain = theirs(kind, {})
    matter, rest = changes_of(kind)
    computed = set()
    rows = [{}, rest, *({name: value} for name, values in matter.items() for value in values)]
    for changes in rows:
        if (made := theirs(kind, changes)) is None:
            continue
        config, model, expected = made
        try:
            found = ours(model, written(kind, config, changes), tmp_path)
        except CheckpointError as error:
            assert next(iter(changes)) in str(error), f"{changes}: {error}"
            continue
        error = float((found - expected).abs().max() / expected.abs().max())
        assert error < 1e-3, f"{changes}: {error:.3f} of the largest logit"
        if expected.shape != plain.shape or not torch.equal(expected, plain):
            computed |= {*changes}
    assert not computed & {*rest}
    assert len(computed) >= 9


@pytest.mark.parametrize("kind", MODEL_TYPES)
def test_an_absent_key_is_what_transformers_takes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    config = transformers.AutoConfig.for_model(kind).to_dict()
    path.write_text(json.dumps(config))
    expected = params_from_config(path)
    path.write_text(json.dumps({"model_type": kind}))
    found = params_from_config(path)
    if "head_dim" not in found:
        found["head_dim"] = found["dim"] // found["n_heads"]
        expected.setdefault("head_dim", found["head_dim"])
    expected.setdefault("n_kv_heads", expected["n_heads"])
    found.setdefault("n_kv_heads", found["n_heads"])
    assert found == expected
