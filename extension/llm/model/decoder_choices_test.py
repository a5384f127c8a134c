# SPDX-License-Identifier: BSD-3-Clause
"""Each choice of ModelArgs alone: logits of plain formulas written here, head by head, without a cache and with one
that is filled in several calls."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.extension.llm.model import caches
from executorch.extension.llm.model.args import ActFn, ModelArgs
from executorch.extension.llm.model.attention import ATTENTION_TARGETS
from executorch.extension.llm.model.feed_forward import FEED_FORWARD_TARGETS
from executorch.extension.llm.model.lora import LoRALinear
from executorch.extension.llm.model.norms import RMSNormGated, RMSNormWithInputScale, make_norm
from executorch.extension.llm.model.transformer import (
    Transformer,
    check_tied,
    construct_transformer,
    is_tied,
)

SHAPE = {
    "dim": 24,
    "n_heads": 4,
    "n_kv_heads": 2,
    "n_layers": 3,
    "vocab_size": 40,
    "hidden_dim": 20,
    "max_seq_len": 16,
    "max_context_len": 16,
    "generate_full_logits": True,
}
TOKENS = torch.tensor([[5, 17, 3, 9, 30, 1, 22, 8, 11]])
FULL, SLIDING = "full_attention", "sliding_attention"
QK = {"use_qk_norm": True}
EXPERTS = {"moe": True, "num_experts": 5, "num_activated_experts": 2}
LORA = {"r": 2, "lora_alpha": 3}
ROWS: dict[str, dict[str, Any]] = {
    "plain": {},
    "one head": {"n_kv_heads": None},
    "head_dim": {"head_dim": 10},
    "halves": {"use_hf_rope": True},
    "a part turns": {"use_hf_rope": True, "head_dim": 12, "partial_rotary_factor": 0.5},
    "theta": {"rope_theta": 100.0, "rope_freq_base": 7.0},
    "linear factor": {"rope_linear_factor": 3.0},
    "local theta": {
        "layer_types": [FULL, SLIDING, FULL], "local_rope_theta": 50.0, "sliding_window": 3},
    "window": {"layer_types": [SLIDING, FULL, SLIDING], "sliding_window": 3},
    "wide window": {"layer_types": [SLIDING] * 3, "sliding_window": 16},
    "window of one less": {"layer_types": [SLIDING] * 3, "sliding_window": 8},
    "rope of some": {"rope_layers": [True, False, True], "no_rope_layer_interval": 1},
    "rope by turns": {"no_rope_layer_interval": 2},
    "bias": {"attention_qkv_bias": True},
    "norms behind": QK,
    "norms before": {**QK, "qk_norm_before_rope": True},
    "norms without weights": {**QK, "qk_norm_affine": False},
    "norms of one more": {**QK, "norm_type": "gemma3"},
    "unit offset": {**QK, "rms_norm_add_unit_offset": True},
    "layer norm": {"norm_type": "layernorm"},
    "eps": {"norm_eps": 0.5},
    "gate": {"use_q_gate": True},
    "scaled query": {"scale_query_by": 1.7},
    "scores": {"attention_multiplier": 0.6},
    "capped scores": {"attn_logit_softcapping": 0.4},
    "residual": {"residual_multiplier": 0.3},
    "embeddings": {"embedding_scale_factor": 2.5},
    "normed embeddings": {"normalize_tok_embeddings": True},
    "logits": {"logits_scaling": 3.0, "final_logit_softcapping": 0.5, "output_soft_cap_temp": 0.7},
    "output bias": {"output_bias": True},
    "pruned": {"output_prune_map": {0: 3, 1: 39, 2: 0}, "input_prune_map": {i: i for i in range(31)}},
    "norms behind both": {"post_attention_norm": True, "post_ffn_norm": True},
    "side by side": {"use_ffn_norm": False, "residual_multiplier": 0.5},
    "skipped": {"mlp_type": ["default", "skip", "default"]},
    "skipped attention": {"layer_types": [FULL, "skip_attention", FULL]},
    "shared keys": {"num_kv_shared_layers": 1, **QK},
    **{f"act {each}": {"act_fn": each} for each in ("gelu", "gelu_approx", "relu")},
    **{f"experts {each}": {**EXPERTS, "moe_score_func": each, "moe_route_scale": 1.5}
       for each in ("softmax", "softmax_all", "sigmoid")},
    "experts with more": {**EXPERTS, "moe_hidden_dim": 12, "moe_shared_expert_hidden_dim": 8,
                          "moe_use_expert_bias": True, "moe_score_func": "sigmoid"},
    "adapters": {**LORA, "target_modules": ["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"]},
    "adapters of others": {**LORA, "target_modules": ["k_proj", "output_proj", "up_proj"]},
    "derived width": {"hidden_dim": None, "multiple_of": 10},
    "derived width by more": {
        "hidden_dim": None, "multiple_of": 16, "ffn_dim_multiplier": 1.3, "max_context_len": 16},
}  # fmt: skip


def made(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    model = construct_transformer(ModelArgs(**{**SHAPE, **changes})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * (0.3 if parameter.dim() > 1 else 1.0))
    return model


# ---- The formulas ----


def rms(x: Tensor, eps: float, weight: Tensor | None = None, more: float = 0.0) -> Tensor:
    made = x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return made if weight is None else made * (more + weight)


class Plain:
    """A decoder by its state: one head, and one layer, after the other."""

    def __init__(self, model: Transformer, args: ModelArgs) -> None:
        self.args, self.state = args, dict(model.state_dict())
        self.more = 1.0 if args.norm_type == "gemma3" or args.rms_norm_add_unit_offset else 0.0
        self.shared: dict[str, tuple[Tensor, Tensor]] = {}

    def norm(self, name: str, x: Tensor) -> Tensor:
        weight = self.state[f"{name}.weight"]
        if self.args.norm_type == "layernorm" and "q_norm" not in name and "k_norm" not in name:
            bias = self.state[f"{name}.bias"]
            apart = x - x.mean(-1, keepdim=True)
            return rms(apart, self.args.norm_eps, weight) + bias
        return rms(x, self.args.norm_eps, weight, self.more)

    def linear(self, name: str, x: Tensor) -> Tensor:
        of = self.state
        base = f"{name}.linear" if f"{name}.linear.weight" in of else name
        made = x @ of[f"{base}.weight"].T + of.get(f"{base}.bias", 0.0)
        if f"{name}.lora_a.weight" in of:
            low = x @ of[f"{name}.lora_a.weight"].T @ of[f"{name}.lora_b.weight"].T
            made = made + self.args.lora_alpha / self.args.r * low
        return made

    def turned(self, x: Tensor, layer: int) -> Tensor:
        """x (tokens, head): element i of a pair turns with element j."""
        args = self.args
        is_local = args.layer_types is not None and args.layer_types[layer] == SLIDING
        theta = args.local_rope_theta if is_local and args.local_rope_theta else args.rope_freq_base
        factor = 1.0 if is_local and args.local_rope_theta else args.rope_linear_factor
        width = int(args.head_dim * args.partial_rotary_factor)
        made = x.clone()
        for pair in range(width // 2):
            halves = (pair, pair + width // 2)
            i, j = halves if args.use_hf_rope else (2 * pair, 2 * pair + 1)
            angle = torch.arange(len(x)) * theta ** (-2 * pair / width) / factor
            made[:, i] = x[:, i] * angle.cos() - x[:, j] * angle.sin()
            made[:, j] = x[:, i] * angle.sin() + x[:, j] * angle.cos()
        return made

    def has_rope(self, layer: int) -> bool:
        args = self.args
        if args.rope_layers is not None:
            return args.rope_layers[layer]
        return args.no_rope_layer_interval is None or (layer + 1) % args.no_rope_layer_interval > 0

    def positioned(self, x: Tensor, layer: int, norm: str) -> Tensor:
        def normed(x: Tensor) -> Tensor:
            if not self.args.use_qk_norm:
                return x
            name = f"layers.{layer}.attention.{norm}"
            return self.norm(name, x) if self.args.qk_norm_affine else rms(x, self.args.norm_eps)

        x = normed(x) if self.args.qk_norm_before_rope else x
        x = self.turned(x, layer) if self.has_rope(layer) else x
        return x if self.args.qk_norm_before_rope else normed(x)

    def attention(self, x: Tensor, layer: int) -> Tensor:
        args, name = self.args, f"layers.{layer}.attention"
        kind = args.layer_types[layer] if args.layer_types else FULL
        if kind == "skip_attention":
            return torch.zeros_like(x)
        tokens, width = len(x), args.head_dim
        q = self.linear(f"{name}.wq", x).reshape(tokens, args.n_heads, -1)
        q, gate = q[..., :width], q[..., width:]
        if args.n_layers - layer > args.num_kv_shared_layers:
            parts = (self.linear(f"{name}.{each}", x) for each in ("wk", "wv"))
            k, v = (each.reshape(tokens, args.n_kv_heads, width) for each in parts)
            heads = [self.positioned(k[:, h], layer, "k_norm_fn") for h in range(args.n_kv_heads)]
            self.shared[kind] = torch.stack(heads, 1), v
        k, v = self.shared[kind]
        scale = args.attention_multiplier or width**-0.5
        made = []
        for head in range(args.n_heads):
            own = head // (args.n_heads // args.n_kv_heads)
            query = self.positioned(q[:, head], layer, "q_norm_fn") * args.scale_query_by
            scores = query @ k[:, own].T * scale
            if args.attn_logit_softcapping:
                scores = args.attn_logit_softcapping * (scores / args.attn_logit_softcapping).tanh()
            back = torch.arange(tokens)[:, None] - torch.arange(tokens)
            seen = (back >= 0) & (back < (args.sliding_window if kind == SLIDING else tokens))
            out = scores.masked_fill(~seen, -math.inf).softmax(-1) @ v[:, own]
            made.append(out * gate[:, head].sigmoid() if args.use_q_gate else out)
        return self.linear(f"{name}.wo", torch.cat(made, -1))

    def act(self, x: Tensor) -> Tensor:
        if self.args.act_fn is ActFn.SILU:
            return x * x.sigmoid()
        if self.args.act_fn is ActFn.RELU:
            return x.clamp(min=0)
        if self.args.act_fn is ActFn.GELU:
            return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        return x * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def network(self, name: str, x: Tensor) -> Tensor:
        gated = self.act(self.linear(f"{name}.w1", x)) * self.linear(f"{name}.w3", x)
        return self.linear(f"{name}.w2", gated)

    def experts(self, name: str, x: Tensor) -> Tensor:
        args, of = self.args, self.state
        made = torch.zeros_like(x)
        for place, token in enumerate(x):
            raw = of[f"{name}.gate.weight"] @ token
            shares = raw.sigmoid() if args.moe_score_func == "sigmoid" else raw.softmax(-1)
            ranks = shares + of.get(f"{name}.expert_bias", 0.0)
            best = sorted(range(args.num_experts), key=lambda e: -ranks[e])[:args.num_activated_experts]  # fmt: skip
            whole = 1.0 if args.moe_score_func == "softmax_all" else shares[best].sum()
            for e in best:
                w1, w2, w3 = (of[f"{name}.cond_ffn.w{i}"][e] for i in (1, 2, 3))
                out = w2 @ (self.act(w1 @ token) * (w3 @ token))
                made[place] += args.moe_route_scale * shares[e] / whole * out
        if args.moe_shared_expert_hidden_dim:
            made = made + self.network(f"{name}.shared_expert", x)
        return made

    def block(self, x: Tensor, layer: int) -> Tensor:
        args, name = self.args, f"layers.{layer}"
        factor = 1.0 if args.residual_multiplier is None else args.residual_multiplier
        normed = self.norm(f"{name}.attention_norm", x)
        mixed = self.attention(normed, layer)
        if args.post_attention_norm:
            mixed = self.norm(f"{name}.post_attention_norm", mixed)
        if args.mlp_type and args.mlp_type[layer] == "skip":
            return x + factor * mixed
        if args.use_ffn_norm:
            x = x + factor * mixed
            normed, mixed = self.norm(f"{name}.ffn_norm", x), 0.0
        change = (self.experts(f"{name}.block_sparse_moe", normed) if args.moe
                  else self.network(f"{name}.feed_forward", normed))  # fmt: skip
        if args.post_ffn_norm:
            change = self.norm(f"{name}.post_ffn_norm", change)
        return x + factor * (mixed + change)

    def logits(self, tokens: Tensor) -> Tensor:
        args = self.args
        x = self.state["tok_embeddings.weight"][tokens] * args.embedding_scale_factor
        x = rms(x, args.norm_eps) if args.normalize_tok_embeddings else x
        for layer in range(args.n_layers):
            x = self.block(x, layer)
        made = self.linear("output", self.norm("norm", x)) / (args.logits_scaling or 1.0)
        for cap in (args.final_logit_softcapping, args.output_soft_cap_temp):
            made = made if cap is None else cap * torch.tanh(made / cap)
        if args.output_prune_map:
            full = torch.full((len(tokens), args.vocab_size), -math.inf)
            for here, there in args.output_prune_map.items():
                full[:, there] = made[:, here]
            return full
        return made


@pytest.mark.parametrize("name", ROWS)
def test_a_choice_computes_its_formula(name: str) -> None:
    model = made(**ROWS[name])
    with torch.no_grad():
        expected = Plain(model, model.params).logits(TOKENS[0])
        torch.testing.assert_close(model(TOKENS)[0], expected, rtol=2e-4, atol=2e-4)


def in_calls(model: Transformer, counts: list[int]) -> Tensor:
    """Logits of a text that comes in several calls."""
    found, start = [], 0
    for count in counts:
        options = {"input_pos": torch.tensor([start])}
        found.append(model(TOKENS[:, start : start + count], options))
        start += count
    return torch.cat(found, 1)


LINEAR = {
    "layer_types": ["linear_attention", "conv", FULL], "linear_num_key_heads": 2,
    "linear_num_value_heads": 4, "linear_key_head_dim": 6, "linear_value_head_dim": 5}  # fmt: skip


@pytest.mark.parametrize("name", [*ROWS, "mixers"])
def test_a_text_may_come_in_several_calls(name: str) -> None:
    changes = LINEAR if name == "mixers" else ROWS[name]
    whole, cached = made(**changes), made(**changes, use_kv_cache=True)
    cached.load_state_dict(whole.state_dict(), strict=False)
    with torch.no_grad():
        expected = whole(TOKENS)
        for counts in ([9], [3, 1, 5], [1] * 9):
            found = in_calls(cached, counts)
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        with caches.without_cache(cached):
            torch.testing.assert_close(in_calls(cached, [9]), expected, rtol=1e-4, atol=1e-4)
        assert all(getattr(each, "kv_cache", "") is not None for each in cached.modules()
                   if getattr(each, "use_kv_cache", False) and hasattr(each, "wk"))  # fmt: skip


def test_what_is_run_inside_leaves_no_state() -> None:
    model = made(**LINEAR, use_kv_cache=True)
    with torch.no_grad():
        in_calls(model, [4])
        before = [each.clone() for each in model.buffers()]
        with caches.state_as_before(model):
            model(TOKENS, {"input_pos": torch.tensor([0])})
            assert any(not torch.equal(a, b) for a, b in zip(before, model.buffers(), strict=True))
    assert all(torch.equal(a, b) for a, b in zip(before, model.buffers(), strict=True))


# ---- Norms, and what is refused ----


def test_other_norms() -> None:
    x, gate, weight = torch.randn(3, 6), torch.randn(3, 6), torch.randn(6)
    norm = RMSNormWithInputScale(6, 0.1)
    norm.weight.data = weight
    torch.testing.assert_close(norm(x), rms(x * weight, 0.1))
    gated = RMSNormGated(6, 0.1)
    gated.weight.data = weight
    torch.testing.assert_close(gated(x, gate), rms(x, 0.1, weight) * gate * gate.sigmoid())
    assert make_norm(ModelArgs(norm_type="layernorm", norm_eps=0.2), 6).eps == 0.2


# What a params.json leaves unsaid; with Llama's numbers, whose first files said little.
UNSAID = {
    "dim": 4096, "n_layers": 1, "n_heads": 32, "n_kv_heads": 32, "head_dim": 128, "vocab_size": 512,
    "hidden_dim": 11008, "multiple_of": 256, "norm_eps": 1e-5, "max_batch_size": 1, "max_seq_len": 2048,
    "max_context_len": 2048, "num_experts": 8, "num_activated_experts": 2, "linear_conv_kernel_dim": 4,
    "linear_num_key_heads": 32, "linear_value_head_dim": 128, "rope_freq_base": 10000.0,
    "rope_scale_factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "bos_idx": 1, "eos_idx": 3,
    "eos_count": 2, "partial_rotary_factor": 1.0, "rope_linear_factor": 1.0, "scale_query_by": 1.0,
    "embedding_scale_factor": 1.0, "moe_route_scale": 1.0, "sliding_window": None,
    "moe_score_func": "softmax", "attention_type": "mha", "norm_type": "rmsnorm", "act_fn": ActFn.SILU,
    **dict.fromkeys(("use_ffn_norm", "apply_embedding", "apply_output", "qk_norm_affine"), True),
    **dict.fromkeys(("moe", "use_kv_cache", "use_hf_rope", "use_qk_norm", "attention_qkv_bias"), False),
}  # fmt: skip


def test_what_is_not_said() -> None:
    found = vars(ModelArgs())
    assert {name: found[name] for name in UNSAID} == UNSAID
    # 8/3 of 768 up to a multiple of 256
    assert ModelArgs(dim=768).hidden_dim == 2048 and rope_rows() == 16
    assert rope_rows(ffn_dim_multiplier=1.3) == 32


def rope_rows(**changes: Any) -> int:
    return len(made(**changes).rope.freqs_cos)


def test_adapters_are_where_their_targets_are() -> None:
    for target, name in {**ATTENTION_TARGETS, **FEED_FORWARD_TARGETS}.items():
        layer = made(**LORA, target_modules=[target]).layers[0]
        part = layer.attention if name in ("wq", "wk", "wv", "wo") else layer.feed_forward
        adapted = [each for each, module in part.named_children() if isinstance(module, LoRALinear)]
        assert adapted == [name], target
    targets = "q_proj k_proj v_proj o_proj output_proj gate_proj down_proj up_proj"
    assert [*ATTENTION_TARGETS, *FEED_FORWARD_TARGETS] == targets.split()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"n_kv_heads": 3}, "expected a multiple of n_kv_heads"),
    ({"use_sdpa_with_kv_cache_op": True}, "needs use_kv_cache"),
    ({"act_fn": "tanh"}, "expected one of silu, gelu, gelu_approx, relu"),
    ({"layer_types": [FULL] * 2}, "layer_types: expected 3 entries"),
    ({"mlp_type": ["default"]}, "mlp_type: expected 3 entries"),
    ({"rope_layers": [True]}, "rope_layers: expected 3 entries"),
    ({"layer_types": ["other"] * 3}, "layer_types.0.: expected one of"),
    ({"attention_type": "other"}, "attention_type: expected one of"),
    ({"norm_type": "other"}, "norm_type: expected rmsnorm"),
    ({"moe": True, "moe_score_func": "other"}, "moe_score_func: expected"),
    ({"target_modules": ["q_proj"]}, "LoRA needs r"),
    ({"target_modules": ["q_proj"], "r": 2}, "LoRA needs r"),
    ({"target_modules": ["q_proj"], "lora_alpha": 2}, "LoRA needs r"),
    ({"target_modules": ["up_proj"]}, "LoRA needs r"),
    ({"target_modules": ["up_proj"], "r": 2}, "LoRA needs r"),
    ({"target_modules": ["up_proj"], "lora_alpha": 2}, "LoRA needs r"),
    ({"target_modules": ["up_proj"], "r": 0, "lora_alpha": 2}, "a rank of 1 or more"),
    ({"output_prune_map": {}}, "an id for each"),
    ({"output_prune_map": {1: 2}}, "an id for each"),
    ({"output_prune_map": {0: 40}}, "ids below vocab_size"),
    ({"input_prune_map": {0: -1}}, "ids below vocab_size"),
    ({**LINEAR, "linear_num_value_heads": 3}, "a multiple of linear_num_key_heads"),
    *(({name: True}, f"{name} is not supported") for name in (
        "use_attn_o_gate", "use_attn_o_norm", "use_residual_gate", "use_ffn_learnable_scales",
        "output_linear_intermediate_dim")),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_cannot_be_made(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)


def test_what_cannot_be_called() -> None:
    h = torch.randn(1, 9, 24)
    model = made(apply_embedding=False)
    plain = made()
    for untied in (model, plain, made(apply_output=False)):
        assert not is_tied(untied)
    for tokens, hidden, message in (
        (None, None, "found both or none"), (TOKENS, h, "found both or none"),
        (TOKENS, None, "has no embeddings"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            model(tokens, h=hidden)
    given = plain.tok_embeddings(TOKENS)
    torch.testing.assert_close(plain(h=given), plain(TOKENS))
    assert made(apply_output=False)(TOKENS).shape == (1, 9, 24)
    with pytest.raises(ValueError, match="holds two weights"):
        check_tied(plain)
    plain.output.weight = plain.tok_embeddings.weight
    check_tied(plain)
    shared = made(num_kv_shared_layers=3)
    with pytest.raises(ValueError, match="no layer of type full_attention before it"):
        shared(TOKENS)
    with pytest.raises(ValueError, match="the position of the first token"):
        made(use_kv_cache=True)(TOKENS)
