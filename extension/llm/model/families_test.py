# SPDX-License-Identifier: BSD-3-Clause
"""Each family at a tiny size: the logits of transformers' model with the same weights, eager and from a program."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers

from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.model.caches import without_cache
from executorch.extension.llm.model.families import FAMILIES
from executorch.extension.llm.model.likelihood import module_logits
from executorch.runtime import Runtime

VOCABULARY = 160
SMALL = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def long_rope(original: int) -> dict[str, Any]:
    """Texts longer than `original` take the long factors; the model has room for 32 tokens, the text has 9."""
    rope = {
        "rope_type": "longrope",
        "short_factor": [1.0, 1.1, 1.3],
        "long_factor": [1.0, 2.0, 4.0],
        "original_max_position_embeddings": original,
        "partial_rotary_factor": 0.5,
        "rope_theta": 10000.0,
    }
    top = {"original_max_position_embeddings": original, "partial_rotary_factor": 0.5}
    return {"rope_parameters": rope, **top}


_STRETCHED = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}
# transformers' config, model_class here, what the config says besides SMALL
ROWS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", "llama2", {}),
    "llama3_1": ("LlamaConfig", "llama3_1", {"rope_parameters": _STRETCHED}),
    "llama_tied": ("LlamaConfig", "smollm2", {"tie_word_embeddings": True}),
    "qwen2_5": ("Qwen2Config", "qwen2_5_0_5b", {"tie_word_embeddings": True}),
    "qwen3": ("Qwen3Config", "qwen3_0_6b", {"head_dim": 16}),
    "phi_4_mini": ("Phi3Config", "phi_4_mini", long_rope(64)),
    "phi_4_mini_long": ("Phi3Config", "phi_4_mini", long_rope(8)),
    "smollm3": (
        "SmolLM3Config",
        "smollm3_3b",
        {"num_hidden_layers": 5, "no_rope_layer_interval": 4},
    ),
    "granite": (
        "GraniteConfig",
        "granite_2b",
        {
            "embedding_multiplier": 3.0,
            "residual_multiplier": 0.4,
            "attention_multiplier": 0.2,
            "logits_scaling": 2.0,
        },
    ),
    "gemma": ("GemmaConfig", "gemma_2b", {"head_dim": 16}),
    "gemma2": (
        "Gemma2Config",
        "gemma2_2b",
        {"head_dim": 16, "sliding_window": 4, "query_pre_attn_scalar": 10},
    ),
    "gemma3": (
        "Gemma3TextConfig",
        "gemma3_1b",
        {"head_dim": 16, "sliding_window": 4, "num_hidden_layers": 7},
    ),
    "lfm2": (
        "Lfm2Config",
        "lfm2_350m",
        {"layer_types": ["conv", "conv", "full_attention"], "block_multiple_of": 16},
    ),
}
# Families whose shape is a params.json: model_class, transformers' config and what it says besides SMALL, the same as
# params.json has it, what tensors of the text model are called in such a checkpoint.
_PARAMS = {
    "dim": 48,
    "hidden_dim": 80,
    "n_layers": 3,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": VOCABULARY,
    "rope_theta": 10000.0,
    "norm_eps": 1e-6,
}
_HEADS = {
    "head_dim": 16,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
}
_SCALES = {"residual_multiplier": 0.4, "attention_multiplier": 0.2, "logits_scaling": 2.0}
BY_PARAMS: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    (
        "qwen3_5_0_8b",
        "Qwen3_5TextConfig",
        {
            **_HEADS,
            "rope_parameters": {"rope_theta": 10000.0, "partial_rotary_factor": 0.25, "rope_type": "default"},
        },
        {
            **_HEADS,
            "use_hf_rope": True,
            "use_qk_norm": True,
            "qk_norm_before_rope": True,
            "partial_rotary_factor": 0.25,
            "use_q_gate": True,
            "rms_norm_add_unit_offset": True,
        },
        "model.language_model.",
    ),
    (
        "glm_1_5b",
        "GlmConfig",
        {
            "head_dim": 12,
            "attention_bias": False,
            "rms_norm_eps": 1e-6,
            "rope_parameters": {"rope_theta": 10000.0, "partial_rotary_factor": 1.0, "rope_type": "default"},
        },
        {"head_dim": 12, "use_hf_rope": True},
        "model.",
    ),
    ("internvl3_1b", "Qwen2Config", {}, {"use_hf_rope": True, "attention_qkv_bias": True}, "language_model.model."),
    ("smolvlm_500m", "LlamaConfig", {}, {}, "model.text_model."),
    (
        "granite_speech_2b",
        "GraniteConfig",
        {"embedding_multiplier": 3.0, **_SCALES},
        {"embedding_scale_factor": 3.0, **_SCALES},
        "language_model.model.",
    ),
]  # fmt: skip
TOKENS = torch.tensor([[5, 17, 3, 99, 150, 42, 7, 8, 121]])
# sums in another order, through a few layers
TOLERANCE = {"rtol": 2e-4, "atol": 2e-5}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, torch.Tensor]]:
    """A folder of each, and what its model gives for every token."""
    made = {}
    for name, (kind, _, extra) in ROWS.items():
        torch.manual_seed(len(made))
        config = getattr(transformers, kind)(**{**SMALL, "tie_word_embeddings": False, **extra})
        config._attn_implementation = "eager"
        model = transformers.AutoModelForCausalLM.from_config(config).eval().float()
        with torch.no_grad():
            for parameter in model.parameters():  # norms of ones would hide which is which
                parameter.add_(0.05 * torch.randn_like(parameter))
            logits = model(TOKENS).logits
        folder = tmp_path_factory.mktemp(name)
        model.save_pretrained(folder)
        made[name] = folder, logits
    return made


def config_for(name: str, folder: Path, **groups: dict[str, Any]) -> LlmConfig:
    base = {"model_class": ROWS[name][1], "checkpoint": str(folder)}
    lengths = {"max_seq_length": 32, "max_context_length": 32}
    return build({"base": base, "export": lengths | groups.pop("export", {}), **groups})


@pytest.mark.req("LLM-004")
@pytest.mark.parametrize("name", ROWS)
def test_a_family_computes_what_transformers_does(name: str, checkpoints: dict) -> None:
    folder, expected = checkpoints[name]
    loaded = load_model(config_for(name, folder, debug={"generate_full_logits": True}))
    torch.testing.assert_close(loaded.model(TOKENS), expected, **TOLERANCE)


def test_a_folder_says_itself_what_its_tensors_are_called(checkpoints: dict) -> None:
    """Whatever base.model_class is, as chat and serve leave it at its default."""
    for folder, expected in checkpoints.values():
        base = {"checkpoint": str(folder)}
        lengths = {"max_seq_length": 32, "max_context_length": 32}
        given = {"base": base, "export": lengths, "debug": {"generate_full_logits": True}}
        torch.testing.assert_close(load_model(build(given)).model(TOKENS), expected, **TOLERANCE)


@pytest.mark.parametrize("row", BY_PARAMS, ids=lambda row: row[0])
def test_a_family_with_a_params_json_computes_what_transformers_does(
    row: tuple[str, str, dict[str, Any], dict[str, Any], str], tmp_path: Path
) -> None:
    name, kind, extra, params, prefix = row
    torch.manual_seed(3)
    config = getattr(transformers, kind)(**{**SMALL, "tie_word_embeddings": False, **extra})
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval().float()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        expected = model(TOKENS).logits
    state = {
        key.replace("model.", prefix, 1) if key.startswith("model.") else key: value
        for key, value in model.state_dict().items()
    }
    safetensors.torch.save_file(state, tmp_path / "model.safetensors")
    (tmp_path / "params.json").write_text(json.dumps({**_PARAMS, **params}))
    base = {
        "model_class": name,
        "checkpoint": str(tmp_path / "model.safetensors"),
        "params": str(tmp_path / "params.json"),
    }
    lengths = {"max_seq_length": 32, "max_context_length": 32}
    given = {"base": base, "export": lengths, "debug": {"generate_full_logits": True}}
    loaded = load_model(build(given))
    torch.testing.assert_close(loaded.model(TOKENS), expected, **TOLERANCE)


@pytest.mark.req("LLM-004", "LLM-006", "LLM-018")
@pytest.mark.parametrize("name", ["llama3_1", "qwen3", "phi_4_mini", "gemma3", "lfm2", "granite"])
def test_a_program_with_a_cache_computes_the_same(
    name: str, checkpoints: dict, tmp_path: Path
) -> None:
    """A prompt in one call, then one token, then two."""
    folder, expected = checkpoints[name]
    config = config_for(
        name,
        folder,
        model={"use_kv_cache": True},
        backend={"xnnpack": {"enabled": name in ("llama3_1", "gemma3")}},
        export={"output_dir": str(tmp_path)},
    )
    path = export_llama(config)
    assert Path(path) == tmp_path / f"{ROWS[name][1]}.pte"
    method = Runtime.get().load_program(path).load_method("forward")
    for start, end in ((0, 6), (6, 7), (7, 9)):
        (logits,) = method.execute([TOKENS[:, start:end].clone(), torch.tensor([start])])
        torch.testing.assert_close(logits, expected[:, end - 1], **TOLERANCE)


@pytest.mark.parametrize("name", ROWS)
def test_a_cache_may_be_left_out(name: str, checkpoints: dict) -> None:
    """Whole texts, as transformers reads them, whatever state is there; and it stays."""
    folder, expected = checkpoints[name]
    model = load_model(config_for(name, folder, model={"use_kv_cache": True})).model
    logits = module_logits(model)
    with torch.no_grad():
        logits(TOKENS.flip(1))
        before = {name: buffer.clone() for name, buffer in model.named_buffers()}
        with without_cache(model):
            found = logits(TOKENS)
    torch.testing.assert_close(found, expected[0], **TOLERANCE)
    after = dict(model.named_buffers())
    assert list(after) == list(before)
    assert all(torch.equal(after[name], buffer) for name, buffer in before.items())


def test_every_family_has_a_shape_that_builds_and_takes_a_checkpoint_of_its_names() -> None:
    """Params files are read, and every row names groups of names that exist."""
    from executorch.extension.llm.checkpoint.keys import NAMES

    for name, family in FAMILIES.items():
        assert set(family.names) <= set(NAMES), name
        if family.params is None:
            continue
        base = {"model_class": name, "checkpoint": "random"}
        config = build({"base": base})
        from executorch.extension.llm.export.models import model_args
        from executorch.extension.llm.model.transformer import construct_transformer

        args = dataclasses.replace(model_args(config, None), max_context_len=128)
        with torch.device("meta"):
            model = construct_transformer(args)
        assert len(model.layers) == args.n_layers, name


def test_names_of_a_checkpoint_are_read_without_its_tensors(checkpoints: dict) -> None:
    folder, _ = checkpoints["llama"]
    names = open_checkpoint(folder).names
    assert "model.layers.2.mlp.up_proj.weight" in names and "lm_head.weight" in names
