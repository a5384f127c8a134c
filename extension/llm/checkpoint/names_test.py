# SPDX-License-Identifier: BSD-3-Clause
"""Names of checkpoints: every row of every table names a weight of a decoder, in whatever file of its kind; how fused
tensors are shared out, what ties two weights, what is refused, and what a chat template may name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.extension.llm.checkpoint import keys
from executorch.extension.llm.checkpoint.config_params import params_from_config
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.load import load_into
from executorch.extension.llm.checkpoint.tokenizer import chat_settings, tokenizer_json
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import Family
from executorch.extension.llm.model.transformer import Transformer, construct_transformer, is_tied

SHAPE = {
    "dim": 16,
    "n_heads": 4,
    "n_kv_heads": 2,
    "n_layers": 2,
    "vocab_size": 12,
    "hidden_dim": 10,
    "max_seq_len": 8,
    "max_context_len": 8,
    "linear_num_key_heads": 2,
}
ALL = {
    "use_qk_norm": True,
    "attention_qkv_bias": True,
    "post_attention_norm": True,
    "post_ffn_norm": True,
}
LORA = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
KINDS: list[dict[str, Any]] = [
    ALL,
    {"layer_types": ["conv"] * 2},
    {"layer_types": ["linear_attention"] * 2},
    {"r": 2, "lora_alpha": 4, "target_modules": LORA},
]


def made(**changes: Any) -> Transformer:
    with torch.device("meta"):
        return construct_transformer(ModelArgs(**{**SHAPE, **changes})).eval()


def weights() -> set[str]:
    """Of decoders with all that there is, for any layer."""
    names = [name for kind in KINDS for name in made(**kind).state_dict()]
    return {name.replace("layers.1.", "layers.{}.") for name in names if "layers.0." not in name}


def parts(ours: str) -> list[str]:
    head, _, tail = ours.rpartition(".")
    base, _, names = head.rpartition(".")
    return [f"{base}.{each}.{tail}".removeprefix(".") for each in names.split("+")]


TABLES = {
    **keys.NAMES,
    "gguf": keys.GGUF_NAMES,
    "tune": keys.TUNE_NAMES,
    "adapter": keys.ADAPTER_NAMES,
}
# How many rows each has, so that none goes in silence.
COUNTS = {
    "base": 12, "qkv_bias": 3, "qk_norm": 2, "gemma_norms": 3, "fused": 2, "lfm2": 12, "delta_net": 9,
    "gguf": 24, "tune": 14, "adapter": 14,
}  # fmt: skip


def test_each_row_names_a_weight_of_a_decoder() -> None:
    known = weights()
    assert {name: len(table) for name, table in TABLES.items()} == COUNTS
    for name, table in TABLES.items():
        missing = [theirs for theirs, ours in table.items() if not known.issuperset(parts(ours))]
        assert missing == [] and all(isinstance(theirs, str) for theirs in table), name


def read(
    given: dict[str, Tensor],
    family: Family | None = None,
    names: Iterable[str] = (),
    **changes: Any,
) -> dict[str, Tensor]:
    args = ModelArgs(**{**SHAPE, "use_hf_rope": True, **changes})
    pairs = keys.to_model_names(given.items(), [*given, *names], family or Family(), args)
    return dict(pairs)


X = torch.arange(16 * 3.0).reshape(16, 3)
# A file's tensors, the family, what ModelArgs say besides, and what the model gets.
FILES: list[tuple[dict[str, Tensor], Family, dict[str, Any], dict[str, Tensor]]] = [
    ({"tok_embeddings.weight": X, "rope.x": X}, Family(), {}, {"tok_embeddings.weight": X, "rope.x": X}),
    ({"model.embed_tokens.weight": X, "model.layers.1.self_attn.rotary_emb.inv_freq": X}, Family(), {},
     {"tok_embeddings.weight": X}),
    ({"lm_head.weight": X}, Family(), {}, {"output.weight": X}),
    # rows of the halves of heads of 4 become neighbors, where those turn: 0 and 2, 1 and 3
    ({"model.layers.1.self_attn.q_proj.weight": X}, Family(), {"use_hf_rope": False},
     {"layers.1.attention.wq.weight": X.reshape(4, 2, 2, 3).transpose(1, 2).reshape(16, 3)}),
    ({"model.layers.1.self_attn.k_proj.weight": X[:8]}, Family(), {"use_hf_rope": False},
     {"layers.1.attention.wk.weight": X[:8].reshape(2, 2, 2, 3).transpose(1, 2).reshape(8, 3)}),
    ({"model.layers.1.self_attn.v_proj.weight": X[:8]}, Family(), {"use_hf_rope": False},
     {"layers.1.attention.wv.weight": X[:8]}),
    ({"model.layers.1.self_attn.q_proj.weight": X}, Family(), {}, {"layers.1.attention.wq.weight": X}),
    ({"model.layers.0.self_attn.q_proj.weight": X}, Family(has_neighbors=True), {"use_hf_rope": False},
     {"layers.0.attention.wq.weight": X}),
    ({"model.layers.0.self_attn.q_proj.weight": X}, Family(has_neighbors=True), {},
     {"layers.0.attention.wq.weight": X.reshape(4, 2, 2, 3).transpose(1, 2).reshape(16, 3)}),
    # heads: 16 rows of queries, 8 of keys, 8 of values
    ({"model.layers.0.self_attn.qkv_proj.weight": X.repeat(2, 1)}, Family(names=("base", "fused")), {},
     {"layers.0.attention.wq.weight": X, "layers.0.attention.wk.weight": X[:8],
      "layers.0.attention.wv.weight": X[8:]}),
    ({"model.layers.0.mlp.gate_up_proj.weight": X}, Family(names=("base", "fused")), {},
     {"layers.0.feed_forward.w1.weight": X[:8], "layers.0.feed_forward.w3.weight": X[8:]}),
    ({"model.layers.0.conv.conv.weight": X, "model.layers.0.conv.in_proj.weight": X[:15]},
     Family(names=("base", "lfm2")), {},
     {"layers.0.conv.conv.weight": X[:, None], "layers.0.conv.B_proj.weight": X[:5],
      "layers.0.conv.C_proj.weight": X[5:10], "layers.0.conv.x_proj.weight": X[10:15]}),
    # llama.cpp's: in the order that turns; Gemma's norms have the one in them
    ({"blk.0.attn_q.weight": X, "token_embd.weight": X, "rope_freqs.weight": X}, Family(),
     {"use_hf_rope": False}, {"layers.0.attention.wq.weight": X, "tok_embeddings.weight": X}),
    ({"token_embd.weight": X, "output_norm.weight": X, "blk.1.ffn_norm.weight": X}, Family(),
     {"norm_type": "gemma3"},
     {"tok_embeddings.weight": X, "norm.weight": X - 1, "layers.1.ffn_norm.weight": X - 1}),
    ({"token_embd.weight": X, "output_norm.weight": X}, Family(), {},
     {"tok_embeddings.weight": X, "norm.weight": X}),
    ({"blk.1.ffn_up.weight": X.repeat(2, 1)[:20], "blk.1.shortconv.conv.weight": X}, Family(), {},
     {"layers.1.feed_forward.w1.weight": X[:10], "layers.1.feed_forward.w3.weight": X.repeat(2, 1)[10:20],
      "layers.1.conv.conv.weight": X[:, None]}),
    ({"blk.1.ffn_up.weight": X[:10]}, Family(), {}, {"layers.1.feed_forward.w3.weight": X[:10]}),
    # torchtune's
    ({"layers.0.attn.q_proj.weight": X, "norm.scale": X}, Family(), {"use_hf_rope": False},
     {"layers.0.attention.wq.weight": X, "norm.weight": X}),
    ({"layers.1.sa_norm.scale": X}, Family(), {}, {"layers.1.attention_norm.weight": X}),
    # adapters: what goes in has no heads
    ({"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": X,
      "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": X}, Family(), {"use_hf_rope": False},
     {"layers.0.attention.wq.lora_a.weight": X,
      "layers.0.attention.wq.lora_b.weight": X.reshape(4, 2, 2, 3).transpose(1, 2).reshape(16, 3)}),
    # a text model within a larger one, with the family's prefix, with another, with none
    ({"model.text.layers.0.mlp.up_proj.weight": X, "vision.layers.0.mlp.up_proj.weight": X,
      "model.text.embed_tokens.weight": X, "lm_head.weight": X}, Family(prefix="model.text."), {},
     {"layers.0.feed_forward.w3.weight": X, "tok_embeddings.weight": X, "output.weight": X}),
    ({"other.text.layers.0.mlp.up_proj.weight": X, "vision.layers.0.mlp.up_proj.weight": X,
      "other.text.embed_tokens.weight": X}, Family(), {},
     {"layers.0.feed_forward.w3.weight": X, "tok_embeddings.weight": X}),
    ({"text.model.layers.0.mlp.up_proj.weight": X, "text.lm_head.weight": X, "text.model.embed_tokens.weight": X,
      "vision.layers.0.x": X}, Family(prefix="text.model."), {},
     {"layers.0.feed_forward.w3.weight": X, "output.weight": X, "tok_embeddings.weight": X}),
    ({"model.norm.weight": X, "model.embed_tokens.weight": X, "vision.x.weight": X}, Family(prefix="a.model."), {},
     {"norm.weight": X, "tok_embeddings.weight": X}),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(FILES)))
def test_names_and_order_of_a_file(place: int) -> None:
    given, family, changes, expected = FILES[place]
    found = read(given, family, **changes)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name


@pytest.mark.parametrize("rows", [16, 18, 7])
def test_rows_that_cannot_be_shared_out_are_refused(rows: int) -> None:
    """Of keys and values 16 are needed, and one of queries at least; of convolutions three equal parts."""
    fused, lfm2 = Family(names=("base", "fused")), Family(names=("base", "lfm2"))
    for name, family in (("self_attn.qkv_proj", fused), ("conv.in_proj", lfm2)):
        given = {f"model.layers.0.{name}.weight": torch.zeros(rows, 2)}
        if rows == 18:  # two of queries, and three times six
            assert len(read(given, family)) == 3
            continue
        with pytest.raises(ValueError, match=f"cannot share {rows} rows out to"):
            read(given, family)


def test_both_orders_undo_each_other() -> None:
    assert torch.equal(keys.halved(keys.interleaved(X, 2), 2), X)
    assert keys.interleaved(torch.arange(8), 2).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert keys.halved(torch.arange(8), 1).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def checkpoint(state: dict[str, Tensor]) -> Any:
    class Given(dict[str, Tensor]):
        path, names = Path("file"), list(state)

        def __iter__(self) -> Any:
            return iter(state.items())

    return Given()


def test_weights_are_tied_where_they_are_one() -> None:
    """Without an output layer in the file, or with equal ones; of a family that ties."""
    model = made()
    state = {name: torch.randn(each.shape) for name, each in model.state_dict().items()}
    state["output.weight"] = state["tok_embeddings.weight"].clone()
    alone = {name: each for name, each in state.items() if name != "output.weight"}
    other = {**state, "output.weight": state["output.weight"] + 1}
    for given, is_one in ((state, True), (alone, True), (other, False)):
        model = made()
        load_into(model, checkpoint(given), Family())
        assert is_tied(model) == is_one
    model = made()
    load_into(model, checkpoint(state), Family(tied=False))
    assert not is_tied(model)
    with pytest.raises(CheckpointError, match="missing weights: output.weight"):
        load_into(made(), checkpoint(alone), Family(tied=False))


def test_layers_with_adapters_take_plain_weights() -> None:
    model = made(r=2, lora_alpha=4, target_modules=["q_proj"], attention_qkv_bias=True)
    plain = made(attention_qkv_bias=True).state_dict()
    state = {name: torch.randn(each.shape) for name, each in plain.items()}
    low = {f"layers.{i}.attention.wq.lora_{side}.weight": torch.randn(sizes)
           for i in (0, 1) for side, sizes in (("a", (2, 16)), ("b", (16, 2)))}  # fmt: skip
    load_into(model, checkpoint(state), Family(tied=False), torch.float16, low.items())
    found = model.state_dict()
    for name, linear in (("weight", "linear.weight"), ("bias", "linear.bias")):
        wanted = state[f"layers.1.attention.wq.{name}"].half()
        assert torch.equal(found[f"layers.1.attention.wq.{linear}"], wanted)
    for name, each in low.items():
        assert torch.equal(found[name], each.half())


def test_long_lists_are_cut() -> None:
    with pytest.raises(CheckpointError, match="missing weights: .* and 14 more;"):
        load_into(made(), checkpoint({"norm.weight": torch.ones(16), "output.weight": torch.ones(12, 16)}),
                  Family(tied=False))  # fmt: skip
    many = {f"layers.0.other{i}.weight": torch.ones(1) for i in range(6)}
    with pytest.raises(CheckpointError, match="model has not: .* and 1 more;"):
        load_into(made(), checkpoint(many), Family())
    state = {name: torch.ones(each.shape) for name, each in made().state_dict().items()}
    for part, changes in (
        ("tok_embeddings", {"apply_embedding": False}),
        ("output", {"apply_output": False}),
    ):
        load_into(made(**changes), checkpoint(state), Family())
        with pytest.raises(CheckpointError, match=f"model has not: {part}.other"):
            load_into(made(), checkpoint({**state, f"{part}.other": torch.ones(1)}), Family())


# What a config.json says besides a model type, and words of the refusal.
REFUSED: list[tuple[str | dict[str, Any], str]] = [
    ("[]", "expected JSON with a model_type"),
    ("{", "expected JSON with a model_type"),
    ({}, "expected JSON with a model_type"),
    ({"model_type": "other"}, "is none of llama, "),
    *(({"model_type": "llama", "hidden_size": value}, "expected a positive number")
      for value in (0, -1, True, "4", float("inf"), [4])),
    ({"model_type": "llama", "attention_bias": True}, "attention_bias: expected False"),
    ({"model_type": "llama", "other": 1}, "other=1: this key is not known"),
    ({"model_type": "llama", "other": "x" * 99}, "x{56}\\.\\.\\.: this key"),
    ({"model_type": "llama", "hidden_act": "tanh"}, "hidden_act: expected one of silu"),
    ({"model_type": "llama", "sliding_window": 4}, "sliding_window: expected none, found 4"),
    ({"model_type": "llama", "partial_rotary_factor": 0.5}, "partial_rotary_factor .*expected 1.0"),
    ({"model_type": "llama", "rope_scaling": {"rope_type": "linear"}}, "KeyError"),
    ({"model_type": "llama", "rope_scaling": {"type": "ntk"}}, "'ntk' is none of default"),
    ({"model_type": "llama", "rope_scaling": {"rope_type": "su"}}, "'su' is none of default"),
    ({"model_type": "gemma3_text", "attn_logit_softcapping": 5.0}, "attn_logit_softcapping: expected null"),
    ({"model_type": "gemma3_text", "rope_parameters": {
        "full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_type": "linear", "factor": 2}}},
     "expected rope_type default, found 'linear'"),
    ({"model_type": "mistral", "no_rope_layers": [1]}, "IndexError"),
]  # fmt: skip
# And what ModelArgs get of others.
TAKEN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"text_config": {"model_type": "llama", "hidden_size": 64}, "model_type": "x"}, {"dim": 64}),
    ({"model_type": "llama", "_name": 3, "hidden_size": 64.0, "head_dim": None}, {"dim": 64.0}),
    ({"model_type": "gemma", "hidden_act": "gelu"}, {"act_fn": "gelu_approx"}),
    ({"model_type": "llama", "hidden_act": "gelu"}, {"act_fn": "gelu"}),
    ({"model_type": "gemma2", "hidden_activation": None}, {"act_fn": "gelu_approx"}),
    ({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 3.0}}, {"rope_linear_factor": 3.0}),
    ({"model_type": "phi3", "rope_scaling": {"type": "su", "short_factor": [1.0], "long_factor": [2.0]}},
     {"rope_scaling_short_factor": [1.0], "rope_scaling_long_factor": [2.0],
      "original_max_position_embeddings": 4096, "max_position_embeddings": 4096}),
    ({"model_type": "llama", "rope_parameters": {"rope_theta": 5.0}}, {"rope_freq_base": 5.0}),
    ({"model_type": "gemma3_text", "rope_parameters": {
        "full_attention": {"rope_theta": 7.0}, "sliding_attention": {"rope_theta": 3.0}}},
     {"rope_freq_base": 7.0, "local_rope_theta": 3.0}),
    ({"model_type": "qwen2", "num_hidden_layers": 3, "sliding_window": 4, "use_sliding_window": True,
      "max_window_layers": 2}, {"layer_types": ["full_attention"] * 2 + ["sliding_attention"]}),
    ({"model_type": "qwen2", "num_hidden_layers": 3, "layer_types": ["sliding_attention"] * 3},
     {"layer_types": None, "sliding_window": None}),
    # 2/3 of 100 is 66, half as much again 99, up to a multiple of 8
    ({"model_type": "lfm2", "block_ff_dim": 100, "block_ffn_dim_multiplier": 1.5, "block_multiple_of": 8},
     {"hidden_dim": 104}),
    ({"model_type": "lfm2", "block_ff_dim": 100, "block_auto_adjust_ff_dim": False}, {"hidden_dim": 100}),
    ({"model_type": "lfm2", "intermediate_size": 100}, {"hidden_dim": 256}),
    ({"model_type": "lfm2", "num_hidden_layers": 2, "full_attn_idxs": [1]},
     {"layer_types": ["conv", "full_attention"], "sliding_window": None}),
]  # fmt: skip


def shape_of(config: str | dict[str, Any], folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return params_from_config(path)


def test_what_a_config_says(tmp_path: Path) -> None:
    for config, expected in TAKEN:
        found = shape_of(config, tmp_path)
        assert {key: found.get(key) for key in expected} == expected, config


# Of layers that transformers has, and this decoder has not.
OTHER_LAYERS = """attention_bias mlp_bias lm_head_bias conv_bias use_bidirectional_attention add_cross_attention
    is_encoder_decoder rope_interleaved"""


def test_layers_that_there_are_not_may_be_off(tmp_path: Path) -> None:
    off, on = dict.fromkeys(OTHER_LAYERS.split(), False), dict.fromkeys(OTHER_LAYERS.split(), True)
    off, on = {**off, "conv_L_cache": 3}, {**on, "conv_L_cache": 4}
    plain = shape_of({"model_type": "llama"}, tmp_path)
    assert shape_of({"model_type": "llama", **off}, tmp_path) == plain
    for name, value in on.items():
        with pytest.raises(CheckpointError, match=f"{name}: expected {off[name]}, found {value}"):
            shape_of({"model_type": "llama", name: value}, tmp_path)


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_what_a_config_may_not_say(place: int, tmp_path: Path) -> None:
    config, words = REFUSED[place]
    with pytest.raises(CheckpointError, match=words):
        shape_of(config, tmp_path)


def gguf(metadata: dict[str, Any], architecture: str = "llama") -> Any:
    given = {f"tokenizer.{name}": value for name, value in metadata.items()}
    return SimpleNamespace(metadata=given, path=Path("file"), architecture=lambda: architecture)


def test_what_a_template_may_name() -> None:
    """By ids, which may be none of the tokens; one template, several, or one besides several."""
    tokens = ["a", "b", "c", "d", "e", "f", "g"]
    names = ("bos", "eos", "unknown", "seperator", "padding", "cls", "mask")
    ids = {f"ggml.{name}_token_id": place for place, name in enumerate(names)}
    theirs = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    expected = {f"{name}_token": token for name, token in zip(theirs, tokens, strict=True)}
    assert chat_settings(gguf({"ggml.tokens": tokens, **ids})) == expected
    assert chat_settings(gguf({"ggml.tokens": ["a"], "ggml.eos_token_id": 1})) == {}
    assert chat_settings(gguf({"ggml.bos_token_id": 0})) == {}
    assert chat_settings(gguf({"chat_template": "x"})) == {"chat_template": "x"}
    two = {"chat_template.tool_use": "y", "chat_template.rag": "z"}
    rows = [{"name": "tool_use", "template": "y"}, {"name": "rag", "template": "z"}]
    assert chat_settings(gguf(two)) == {"chat_template": rows}
    default = {"name": "default", "template": "x"}
    assert chat_settings(gguf({"chat_template": "x", **two})) == {"chat_template": [default, *rows]}


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"ggml.model": "llama"}, "found 'llama', None"),
        ({"ggml.model": "gpt2", "ggml.pre": "other"}, "found 'gpt2', 'other'"),
        ({"ggml.tokens": []}, "lacks tokenizer.ggml.tokens or .merges"),
        ({"ggml.merges": []}, "lacks tokenizer.ggml.tokens or .merges"),
        ({"ggml.token_type": [1]}, "2 tokens, and 1 kinds"),
    ],
)
def test_tokenizers_that_are_refused(metadata: dict[str, Any], words: str) -> None:
    whole = {
        "ggml.model": "gpt2",
        "ggml.pre": "gpt-2",
        "ggml.tokens": ["a", "b"],
        "ggml.merges": ["a b"],
    }
    made = tokenizer_json(gguf(whole))
    assert made["model"]["vocab"] == {"a": 0, "b": 1} and made["model"]["merges"] == [["a", "b"]]
    assert made["added_tokens"] == [] and not made["model"]["ignore_merges"]
    with pytest.raises(CheckpointError, match=words):
        tokenizer_json(gguf({**whole, **metadata}))
