# SPDX-License-Identifier: BSD-3-Clause
"""The decoder: token embeddings, layers, a norm, and the logits of the last token (or of all)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attention import ATTENTION_REGISTRY, ForwardOptions
from executorch.extension.llm.model.feed_forward import make_feed_forward
from executorch.extension.llm.model.mixers import ShortConv
from executorch.extension.llm.model.norms import ScalelessRMSNorm, make_norm
from executorch.extension.llm.model.rope import Rope

# what `layer_types` may say, and the attention that a layer then has; None keeps `attention_type`
LAYER_TYPES = {
    "full_attention": None,
    "sliding_attention": None,
    "linear_attention": "gated_deltanet",
    "skip_attention": "skip",
    "conv": None,
}


class TransformerBlock(nn.Module):
    """x + mix(norm(x)), then x + feed_forward(norm(x)), with the norms and scales that a family adds."""

    def __init__(self, args: ModelArgs, layer: int, rope: Rope) -> None:
        super().__init__()
        kind = args.layer_type(layer)
        if kind not in LAYER_TYPES:
            raise ValueError(
                f"layer_types[{layer}]: expected one of {', '.join(LAYER_TYPES)}, found {kind!r}"
            )
        self.layer_type, self.residual = kind, args.residual_multiplier
        self.attention_norm = make_norm(args, args.dim)
        if kind == "conv":
            self.conv = ShortConv(args)
        else:
            name = LAYER_TYPES[kind] or args.attention_type
            if name not in ATTENTION_REGISTRY:
                known = ", ".join(sorted(ATTENTION_REGISTRY))
                raise ValueError(f"attention_type: expected one of {known}, found {name!r}")
            make = ATTENTION_REGISTRY[name]
            self.attention = make(args, layer, rope, **args.attention_kwargs)
        self.post_attention_norm = make_norm(args, args.dim) if args.post_attention_norm else None
        self.parallel = not args.use_ffn_norm
        skipped = args.mlp_type is not None and args.mlp_type[layer] == "skip"
        self.feed_forward = self.block_sparse_moe = self.ffn_norm = self.post_ffn_norm = None
        if skipped:
            return
        if not self.parallel:
            self.ffn_norm = make_norm(args, args.dim)
        if args.moe:
            self.block_sparse_moe = make_feed_forward(args)
        else:
            self.feed_forward = make_feed_forward(args)
        self.post_ffn_norm = make_norm(args, args.dim) if args.post_ffn_norm else None

    def _added(self, x: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
        return x + (change if self.residual is None else self.residual * change)

    def forward(
        self,
        x: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        options: ForwardOptions,
        rows: slice | torch.Tensor | None = None,
    ) -> torch.Tensor:
        """(batch, tokens, dim); with `rows` those tokens alone, which is all that is computed behind the attention."""
        normed = self.attention_norm(x)
        if self.layer_type == "conv":
            mixed = self.conv(normed, options.get("input_pos"))
        else:
            mixed, update = self.attention(normed, cos, sin, **options)
            if update:
                options.update(update)
                options["updates"].update(update)
        if self.post_attention_norm is not None:
            mixed = self.post_attention_norm(mixed)
        inner = self.block_sparse_moe if self.feed_forward is None else self.feed_forward
        if self.layer_type == "skip_attention":
            mixed = torch.zeros_like(x)
        if rows is not None:
            x, mixed, normed = x[:, rows], mixed[:, rows], normed[:, rows]
        if inner is None:
            return self._added(x, mixed)
        if self.parallel:  # one norm for both branches
            return self._added(x, mixed + inner(normed))
        x = self._added(x, mixed)
        change = inner(self.ffn_norm(x))
        if self.post_ffn_norm is not None:
            change = self.post_ffn_norm(change)
        return self._added(x, change)


class Transformer(nn.Module):
    """tokens int64 (batch, tokens) to logits (batch, vocabulary) of the last token; with
    `generate_full_logits` (batch, tokens, vocabulary).

    With `use_kv_cache` the options' `input_pos`, int64 (1,), is the position of the first token. `h` (batch, tokens,
    dim) may come instead of tokens. The options' `logits_of`, int64 (rows,), chooses tokens: logits are (batch, rows,
    vocabulary); `last_valid_token_pos`, int64 (1,), is that of one token. Where attention hands something on (static
    attention its new keys and values), the result is (logits, what it hands on).
    """

    def __init__(self, params: ModelArgs, layers: nn.ModuleList, rope: Rope) -> None:
        super().__init__()
        self.params, self.vocab_size, self.n_layers = params, params.vocab_size, params.n_layers
        self.use_kv_cache, self.generate_full_logits = (
            params.use_kv_cache,
            params.generate_full_logits,
        )
        self.max_seq_len, self.max_context_len = params.max_seq_len, params.max_context_len
        # with a pruned vocabulary, ids of the model are not those of the tokenizer: {id here: id there}
        ids = params.input_prune_map
        self.tok_embeddings = None
        if params.apply_embedding:
            rows = len(ids) if ids else params.vocab_size
            self.tok_embeddings = nn.Embedding(rows, params.dim)
        self.layers, self.norm, self.rope = layers, make_norm(params, params.dim), rope
        outputs = params.output_prune_map
        self.output = None
        if params.apply_output:
            columns = len(outputs) if outputs else params.vocab_size
            self.output = nn.Linear(params.dim, columns, bias=params.output_bias)
        if outputs:
            there = torch.tensor([outputs[here] for here in range(len(outputs))], device="cpu")
            self.register_buffer("output_ids", there, persistent=False)
        self.embedding_norm = (
            ScalelessRMSNorm(params.dim, params.norm_eps)
            if params.normalize_tok_embeddings
            else None
        )

    def _hidden(self, tokens: torch.Tensor | None, h: torch.Tensor | None) -> torch.Tensor:
        if (tokens is None) == (h is None):
            raise ValueError("expected either tokens or h (embeddings), found both or none")
        if h is None:
            if self.tok_embeddings is None:
                raise ValueError("the model has no embeddings (apply_embedding): expected h")
            h = self.tok_embeddings(tokens)
            if self.params.embedding_scale_factor != 1.0:
                h = h * self.params.embedding_scale_factor
        return h if self.embedding_norm is None else self.embedding_norm(h)

    def forward(
        self,
        tokens: torch.Tensor | None = None,
        attn_options: ForwardOptions | None = None,
        h: torch.Tensor | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, dict[str, Any]]:
        options: dict[str, Any] = {"shared_kv": {}, "shared_masks": {}, "updates": {}}
        options |= attn_options or {}
        h = self._hidden(tokens, h)
        seqlen = h.shape[1]
        tables: dict[bool, tuple[torch.Tensor, torch.Tensor]] = {}
        rows = self._rows(options)
        for number, layer in enumerate(self.layers, 1):
            local = layer.layer_type == "sliding_attention"
            if local not in tables:
                tables[local] = self._tables(options, seqlen, local)
            h = layer(h, *tables[local], options, rows if number == len(self.layers) else None)
        h = self.norm(h.squeeze(1) if isinstance(rows, slice) else h)
        logits = h if self.output is None else self._logits(h)
        return (logits, options["updates"]) if options["updates"] else logits

    def _rows(self, options: dict[str, Any]) -> slice | torch.Tensor | None:
        """Tokens whose logits are wanted: all, those that the options choose, or the last."""
        for name in (
            "logits_of",
            *(() if self.generate_full_logits else ("last_valid_token_pos",)),
        ):
            if options.get(name) is not None:
                return options[name]
        return None if self.generate_full_logits else slice(-1, None)

    def _tables(
        self, options: dict[str, Any], seqlen: int, local: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        cos = options.get("freqs_cos_override")
        if cos is not None:
            return cos, options["freqs_sin_override"]
        return self.rope.get_freqs(options.get("input_pos"), seqlen, local)

    def _logits(self, h: torch.Tensor) -> torch.Tensor:
        logits = self.output(h)
        if self.params.logits_scaling is not None:
            logits = logits / self.params.logits_scaling
        for cap in (self.params.final_logit_softcapping, self.params.output_soft_cap_temp):
            if cap is not None:
                logits = cap * torch.tanh(logits / cap)
        if self.params.output_prune_map:
            shape = (*logits.shape[:-1], self.vocab_size)
            full = torch.full(shape, float("-inf"), dtype=logits.dtype)
            full[..., self.output_ids] = logits
            logits = full
        return logits


def construct_transformer(model_args: ModelArgs) -> Transformer:
    """The transformer of a shape, with PyTorch's random weights."""
    rope = Rope(model_args)
    layers = [TransformerBlock(model_args, i, rope) for i in range(model_args.n_layers)]
    return Transformer(model_args, nn.ModuleList(layers), rope)


def is_tied(model: nn.Module) -> bool:
    """Whether the output layer is the table of embeddings."""
    output, table = model.output, model.tok_embeddings
    return output is not None and table is not None and output.weight is table.weight


def check_tied(model: nn.Module) -> None:
    if not is_tied(model):
        raise ValueError(
            "model.use_shared_embedding: expected a model whose output layer is its table of embeddings; this one "
            "holds two weights"
        )
