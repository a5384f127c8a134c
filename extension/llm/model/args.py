# SPDX-License-Identifier: BSD-3-Clause
"""The shape of a transformer: what a params.json may say."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional


class ActFn(Enum):
    SILU = "silu"
    GELU = "gelu"
    GELU_APPROX = "gelu_approx"
    RELU = "relu"

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self is ActFn.SILU:
            return functional.silu(x)
        if self is ActFn.RELU:
            return functional.relu(x)
        return functional.gelu(x, approximate="tanh" if self is ActFn.GELU_APPROX else "none")

    @classmethod
    def from_string(cls, name: str) -> ActFn:
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(act.value for act in cls)
            raise ValueError(f"act_fn: expected one of {known}, found {name!r}") from None


@dataclass
class ModelArgs:
    """Widths are counts of elements; None takes the value that the comment or `__post_init__` derives."""

    dim: int = 4096
    n_layers: int = 1
    n_heads: int = 32
    n_kv_heads: int | None = None  # n_heads
    vocab_size: int = 512
    hidden_dim: int | None = None  # from dim, ffn_dim_multiplier and multiple_of
    head_dim: int | None = None  # dim // n_heads
    linear_conv_kernel_dim: int = 4
    linear_key_head_dim: int | None = None
    linear_value_head_dim: int | None = None
    linear_num_key_heads: int | None = None
    linear_num_value_heads: int | None = None
    rms_norm_add_unit_offset: bool = False  # norms multiply by 1 + weight
    multiple_of: int = 256
    ffn_dim_multiplier: float | None = None
    model_architecture: str | None = None
    attention_multiplier: float | None = None  # instead of 1 / sqrt(head_dim)
    norm_eps: float = 1e-5
    post_attention_norm: bool = False
    post_ffn_norm: bool = False
    max_batch_size: int = 1
    max_seq_len: int = 2048
    max_context_len: int = 2048
    use_ffn_norm: bool = True
    output_bias: bool = False
    moe: bool = False
    num_experts: int = 8
    num_activated_experts: int = 2
    moe_hidden_dim: int | None = None
    moe_shared_expert_hidden_dim: int | None = None
    moe_use_expert_bias: bool = False
    moe_score_func: str = "softmax"  # sigmoid, softmax (of the chosen), softmax_all
    moe_route_scale: float = 1.0
    attention_type: str = "mha"
    use_q_gate: bool = False
    norm_type: str = "rmsnorm"  # rmsnorm, layernorm, gemma3 (1 + weight)
    act_fn: ActFn = ActFn.SILU
    attention_qkv_bias: bool = False
    use_kv_cache: bool = False
    use_sdpa_with_kv_cache_op: bool = False
    device: str = "cpu"
    generate_full_logits: bool = False
    logits_scaling: float | None = None  # a divisor
    enable_dynamic_shape: bool = False
    input_prune_map: dict[int, int] | None = None
    output_prune_map: dict[int, int] | None = None
    apply_embedding: bool = True
    apply_output: bool = True
    embedding_scale_factor: float = 1.0
    use_qk_norm: bool = False
    qk_norm_before_rope: bool = False
    qk_norm_affine: bool = True
    residual_multiplier: float | None = None
    use_hf_rope: bool = False  # halves of a head turn together, instead of neighbors
    no_rope_layer_interval: int | None = None
    partial_rotary_factor: float = 1.0
    rope_theta: float | None = None  # wins over rope_freq_base
    local_rope_theta: float | None = None
    rope_freq_base: float = 10000.0
    use_scaled_rope: bool = False
    rope_scale_factor: int = 8
    high_freq_factor: int = 4
    rope_scaling_short_factor: list[float] | None = None
    rope_scaling_long_factor: list[float] | None = None
    original_max_position_embeddings: int | None = None
    max_position_embeddings: int | None = None
    rope_scaling_attention_factor: float | None = None
    bos_idx: int = 1
    eos_idx: int = 3
    bos_count: int = -1
    eos_count: int = 2
    quantization_args: dict[str, Any] | None = None
    lora_args: dict[str, Any] | None = None
    r: int | None = None
    lora_alpha: int | None = None
    target_modules: list[str] | None = None
    peft_type: str | None = None
    base_model_name_or_path: str | None = None
    kv_io_bit_width: int | None = None
    attention_kwargs: dict[str, Any] = field(default_factory=dict)
    layer_types: list[str] | None = None
    mlp_type: list[str] | None = None
    sliding_window: int | None = None
    num_kv_shared_layers: int = 0
    final_logit_softcapping: float | None = None
    attn_logit_softcapping: float | None = None
    normalize_tok_embeddings: bool = False
    use_attn_o_gate: bool = False
    use_attn_o_norm: bool = False
    use_residual_gate: bool = False
    use_ffn_learnable_scales: bool = False
    scale_query_by: float = 1.0
    output_soft_cap_temp: float | None = None
    output_linear_intermediate_dim: int = 0
    low_freq_factor: float = 1  # of Llama 3.1's rule, beside high_freq_factor
    rope_linear_factor: float = 1.0  # all frequencies are divided by it
    rope_layers: list[bool] | None = None  # of each layer, wins over no_rope_layer_interval

    def __post_init__(self) -> None:
        if isinstance(self.act_fn, str):
            self.act_fn = ActFn.from_string(self.act_fn)
        if self.n_kv_heads is None:
            self.n_kv_heads = self.n_heads
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads: expected a multiple of n_kv_heads ({self.n_kv_heads}), found {self.n_heads}"
            )
        if self.head_dim is None:
            self.head_dim = self.dim // self.n_heads
        if self.use_sdpa_with_kv_cache_op and not self.use_kv_cache:
            raise ValueError("use_sdpa_with_kv_cache_op needs use_kv_cache")
        if self.rope_theta is not None:
            self.rope_freq_base = self.rope_theta
        if self.hidden_dim is None:
            self.hidden_dim = self._derived_hidden_dim()
        for name, like in (("key", "head_dim"), ("value", "head_dim")):
            if getattr(self, f"linear_{name}_{like}") is None:
                setattr(self, f"linear_{name}_{like}", self.head_dim)
            if getattr(self, f"linear_num_{name}_heads") is None:
                setattr(self, f"linear_num_{name}_heads", self.n_heads)
        for name in ("layer_types", "mlp_type", "rope_layers"):
            given = getattr(self, name)
            if given is not None and len(given) < self.n_layers:
                raise ValueError(
                    f"{name}: expected {self.n_layers} entries (n_layers), found {len(given)}"
                )

        for name in ("input_prune_map", "output_prune_map"):
            self._check_prune_map(name, getattr(self, name))
        for name, given in (
            ("use_attn_o_gate", self.use_attn_o_gate),
            ("use_attn_o_norm", self.use_attn_o_norm),
            ("use_residual_gate", self.use_residual_gate),
            ("use_ffn_learnable_scales", self.use_ffn_learnable_scales),
            ("output_linear_intermediate_dim", self.output_linear_intermediate_dim),
        ):
            if given:
                raise ValueError(f"{name} is not supported here: no family of the table has it")

    def _check_prune_map(self, name: str, kept: dict[int, int] | None) -> None:
        if kept is None:
            return
        if not kept or sorted(kept) != list(range(len(kept))):
            raise ValueError(
                f"{name}: expected an id for each of 0, 1, 2, ..., found {sorted(kept)[:5]}"
            )
        wrong = [there for there in kept.values() if not 0 <= there < self.vocab_size]
        if wrong:
            raise ValueError(
                f"{name}: expected ids below vocab_size ({self.vocab_size}), found {wrong[:5]}"
            )

    def _derived_hidden_dim(self) -> int:
        width = int(2 * 4 * self.dim / 3)
        if self.ffn_dim_multiplier:
            width = int(self.ffn_dim_multiplier * width)
        return -(-width // self.multiple_of) * self.multiple_of

    def layer_type(self, layer: int) -> str:
        return self.layer_types[layer] if self.layer_types else "full_attention"

    def has_rope(self, layer: int) -> bool:
        """Whether queries and keys of a layer are turned by their positions."""
        if self.rope_layers is not None:
            return bool(self.rope_layers[layer])
        interval = self.no_rope_layer_interval
        return not (interval and (layer + 1) % interval == 0)

    def window(self, layer: int) -> int | None:
        """How many positions a layer sees; None: all, as where the window is no shorter than the context."""
        window = self.sliding_window if self.layer_type(layer) == "sliding_attention" else None
        return window if window and window < self.max_context_len else None

    @property
    def rotary_dim(self) -> int:
        return int(self.head_dim * self.partial_rotary_factor)


def read_params(path: str | Path) -> dict[str, Any]:
    """A params.json as keyword arguments of ModelArgs; errors name the file and the key.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not JSON, or not an object.
        TypeError: a key that ModelArgs lacks.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"base.params: expected a JSON file, found none at {path}")
    try:
        given = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ValueError(f"{path}: expected a JSON object, found {type(given).__name__}")
    known = {f.name for f in dataclasses.fields(ModelArgs)}
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{path}: unknown key {name!r}{hint}")
    return given
