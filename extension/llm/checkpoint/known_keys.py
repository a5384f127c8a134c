# SPDX-License-Identifier: BSD-3-Clause
"""Every key of a config.json, and of a GGUF file's metadata, that is known: what it says of a model's numbers.

A key that is not here might change the numbers, and is refused by its name; so is a value that nothing here computes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executorch.extension.llm.checkpoint.errors import CheckpointError


@dataclass(frozen=True)
class Key:
    """`field` of ModelArgs takes a positive number as it is; `only` are the values that change nothing; `kind`: what a
    rule of the reader takes. None of them: no number depends on it."""

    field: str | None = None
    only: tuple[Any, ...] | None = None
    kind: type | None = None  # float: a number, 0 or more; str: a text; object: the rule checks it


Keys = Mapping[str, Key]


def _fields(rows: str) -> dict[str, Key]:
    """Lines "theirs ours"."""
    pairs = (line.split() for line in rows.strip().splitlines())
    return {theirs: Key(field=ours) for theirs, ours in pairs}


def _only(rows: Mapping[str, Any]) -> dict[str, Key]:
    return {name: Key(only=(value,)) for name, value in rows.items()}


def _named(names: str, kind: type | None = None) -> dict[str, Key]:
    return dict.fromkeys(names.split(), Key(kind=kind))


_SIZES_OF_CONFIG = _fields("""
    hidden_size dim
    num_hidden_layers n_layers
    num_attention_heads n_heads
    num_key_value_heads n_kv_heads
    head_dim head_dim
    intermediate_size hidden_dim
    vocab_size vocab_size
    rms_norm_eps norm_eps
    norm_eps norm_eps
    embedding_multiplier embedding_scale_factor
    residual_multiplier residual_multiplier
    attention_multiplier attention_multiplier
    logits_scaling logits_scaling
    final_logit_softcapping final_logit_softcapping
    attn_logit_softcapping attn_logit_softcapping
""")
# Of layers that there are in transformers and not here.
_OTHER_LAYERS = _only(
    {
        "attention_bias": False,
        "mlp_bias": False,
        "lm_head_bias": False,
        "conv_bias": False,
        "conv_L_cache": 3,
        "use_bidirectional_attention": False,
        "add_cross_attention": False,
        "is_encoder_decoder": False,
        "rope_interleaved": False,
    }
)
# config_params.py reads them.
_RULES_OF_CONFIG = _named(
    """
    block_auto_adjust_ff_dim block_ff_dim block_ffn_dim_multiplier block_multiple_of full_attn_idxs hidden_act
    hidden_activation layer_types max_position_embeddings max_window_layers model_type no_rope_layer_interval
    no_rope_layers original_max_position_embeddings partial_rotary_factor query_pre_attn_scalar rope_local_base_freq
    rope_parameters rope_scaling rope_theta sliding_window sliding_window_pattern use_sliding_window
""",
    kind=object,
)
# Of training, of generation, of files: load.py ties weights by the tensors that there are.
_NO_NUMBERS_OF_CONFIG = _named("""
    architectures attention_dropout attn_implementation auto_map bad_words_ids begin_suppress_tokens block_dim
    bos_token_id cache_implementation chunk_size_feed_forward conv_dim conv_dim_out conv_use_xavier_init
    cross_attention_hidden_size decoder_start_token_id diversity_penalty do_sample dtype early_stopping embd_pdrop
    encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty finetuning_task forced_bos_token_id
    forced_eos_token_id full_attn_mod id2label initializer_range interpolate_factor is_decoder is_llama_config label2id
    length_penalty max_length min_length model_max_length no_repeat_ngram_size num_beam_groups num_beams num_heads
    num_return_sequences output_attentions output_hidden_states output_scores pad_token_id prefix pretraining_tp
    problem_type pruned_heads remove_invalid_values repetition_penalty resid_pdrop return_dict
    return_dict_in_generate sep_token_id suppress_tokens task_specific_params temperature tf_legacy_loss theta
    tie_embedding tie_encoder_decoder tie_word_embeddings tokenizer_class top_k top_p torch_dtype torchscript
    transformers.js_config transformers_version typical_p unsloth_fixed unsloth_version use_bfloat16 use_cache
    use_pos_enc
""")
CONFIG: Keys = {
    **_SIZES_OF_CONFIG,
    **_OTHER_LAYERS,
    **_RULES_OF_CONFIG,
    **_NO_NUMBERS_OF_CONFIG,
}
# Of rope_parameters, once rope_scaling.
ROPE: Keys = _named(
    """
    attention_factor factor high_freq_factor long_factor low_freq_factor original_max_position_embeddings
    partial_rotary_factor rope_theta rope_type short_factor type
""",
    kind=object,
)

# Below the architecture's name, as "llama.block_count". gguf_params.py reads those that are named alone.
GGUF: Keys = {
    **_fields("""
        embedding_length dim
        block_count n_layers
        attention.head_count n_heads
        attention.head_count_kv n_kv_heads
        attention.key_length head_dim
        feed_forward_length hidden_dim
        vocab_size vocab_size
        attention.layer_norm_rms_epsilon norm_eps
        rope.freq_base rope_freq_base
        rope.freq_base_swa local_rope_theta
        attn_logit_softcapping attn_logit_softcapping
        final_logit_softcapping final_logit_softcapping
        attention.scale attention_multiplier
        embedding_scale embedding_scale_factor
        residual_scale residual_multiplier
        logit_scale logits_scaling
    """),
    **_named(
        """attention.sliding_window attention.value_length context_length rope.dimension_count rope.scale_linear
        rope.scaling.attn_factor rope.scaling.factor rope.scaling.original_context_length""",
        float,
    ),
    **_named("rope.scaling.type", str),
    **_named("attention.sliding_window_pattern", object),
    **_only(
        {
            "attention.causal": True,
            "expert_count": 0,
            "expert_used_count": 0,
            "shortconv.l_cache": 3,
            "use_parallel_residual": False,
        }
    ),
    **_named("rope.scaling.finetuned", object),
    **_named("pooling_type tensor_data_layout"),
}


def read_known(given: Mapping[str, Any], keys: Keys, where: str) -> dict[str, Any]:
    """What fields of ModelArgs take, in `keys`' own words. None counts as absent; names that begin with _ are notes of
    the program that wrote the file.

    Raises:
        CheckpointError: a key that is not known, or a value that is not computed here.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or name.startswith("_"):
            continue
        if (key := keys.get(name)) is None:
            raise CheckpointError(
                f"{where}: {name}={_short(value)}: this key is not known, and might change what the model computes; "
                "take it out where it does not"
            )
        if key.only is not None and value not in key.only:
            expected = ", ".join(map(repr, key.only))
            raise CheckpointError(f"{where}: {name}: expected {expected}, found {_short(value)}")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key.field is not None:
            if not is_number or not 0 < value < math.inf:
                raise CheckpointError(
                    f"{where}: {name} ({key.field}): expected a positive number, found {_short(value)}"
                )
            found[key.field] = value
        elif key.kind is float and not (is_number and 0 <= value < math.inf):
            raise CheckpointError(f"{where}: {name}: expected a number, found {_short(value)}")
        elif key.kind is str and not isinstance(value, str):
            raise CheckpointError(f"{where}: {name}: expected a text, found {_short(value)}")
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
