# SPDX-License-Identifier: BSD-3-Clause
"""What a program with static attention takes and gives, kept from call to call: masks, caches, positions."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from typing_extensions import Self

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.rope import Rope
from executorch.extension.llm.model.static_attention import (
    StaticAttention,
    StaticKVCache,
    expect_style,
)


class StaticAttentionMask:
    """`tensor` (1, input_len, cache_len + input_len), added to scores: cached tokens are hidden until they are there.

    They fill a cache from its end (shift_pointer) or its beginning (smart_mask).
    """

    def __init__(
        self,
        input_len: int,
        cache_len: int,
        style: str,
        mask_val: float = float("-inf"),
        dtype: torch.dtype = torch.float32,
    ) -> None:
        expect_style(style)
        self.input_len, self.cache_len, self.style = input_len, cache_len, style
        self.mask_val, self.unmasked_len = mask_val, 0
        self.tensor = torch.zeros(1, input_len, cache_len + input_len, dtype=dtype)
        self.reset()

    def reset(self) -> None:
        """Hides all cached tokens; the input's mask stays."""
        self.unmasked_len = 0
        self.tensor[:, :, : self.cache_len] = self.mask_val

    def set_input_mask(self, input_mask: torch.Tensor) -> None:
        """(input_len, input_len): which tokens of a call see which of them."""
        self.tensor[:, :, self.cache_len :] = input_mask

    def unmask(self, new_unmasked_len: int) -> None:
        """So many more cached tokens are seen; as many as there are at most."""
        self.unmasked_len = min(self.unmasked_len + new_unmasked_len, self.cache_len)
        first = self.cache_len - self.unmasked_len if self.style == "shift_pointer" else 0
        self.tensor[:, :, first : first + self.unmasked_len] = 0


class NGramCache:
    """The last `max_size` n-grams, without repetitions."""

    def __init__(self, max_size: int) -> None:
        self.cache: deque[tuple[int, ...]] = deque(maxlen=max_size)

    def add(self, x: Sequence[int]) -> None:
        ngram = tuple(x)
        if ngram in self.cache:
            self.cache.remove(ngram)
        self.cache.append(ngram)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self.cache)

    def __str__(self) -> str:
        return str(list(self.cache))


class StaticAttentionIOManager:
    """Runs `model(tokens (batch, input_len), options) -> (logits, {"out_cache_state": ...})` over texts of any length.

    `cache_lens`: rows of each layer's cache, or of all; 0 for none. A full cache forgets its oldest tokens
    (shift_pointer), or takes no more (smart_mask).
    """

    NGramCache = NGramCache

    def __init__(
        self,
        config_or_model: ModelArgs | nn.Module,
        input_len: int,
        cache_lens: int | list[int],
        batch_size: int = 1,
        dtype: torch.dtype = torch.float32,
        style: str = "shift_pointer",
        mask_val: float = float("-inf"),
    ) -> None:
        expect_style(style)
        is_config = isinstance(config_or_model, ModelArgs)
        args: ModelArgs = config_or_model if is_config else config_or_model.params
        lens = [cache_lens] * args.n_layers if isinstance(cache_lens, int) else list(cache_lens)
        if len(lens) != args.n_layers:
            raise ValueError(
                f"cache_lens: expected one number, or one of each of {args.n_layers} layers, found {len(lens)}"
            )
        self.input_len, self.style, self.mask_val = input_len, style, mask_val
        self._masks = {
            rows: StaticAttentionMask(input_len, rows, style, mask_val, dtype)
            for rows in sorted(set(lens))
        }
        self.generate_full_logits = args.generate_full_logits
        layers = _caches_of_args(args) if is_config else _caches_of(config_or_model)
        rope = Rope(args) if is_config else _rope_of(config_or_model, args)
        self.freqs_cos, self.freqs_sin = rope.freqs_cos.to(dtype), rope.freqs_sin.to(dtype)
        self.k_caches: dict[str, torch.Tensor] = {}
        self.v_caches: dict[str, torch.Tensor] = {}
        for layer, head, kv_heads in layers:
            if not lens[layer]:
                continue
            shape = (batch_size, *kv_heads, lens[layer], args.head_dim)
            for caches in (self.k_caches, self.v_caches):
                key = StaticKVCache.calculate_cache_key(layer, head)
                caches[key] = torch.zeros(shape, dtype=dtype)
        self.pos, self.cache_full = 0, False

    @property
    def masks(self) -> dict[int, torch.Tensor]:
        return {rows: mask.tensor for rows, mask in self._masks.items()}

    def reset(self) -> None:
        """A new text."""
        self.pos, self.cache_full = 0, False
        for mask in self._masks.values():
            mask.reset()

    def with_input_len(self, input_len: int) -> Self:
        """For calls of other lengths, with the same caches, from the same position on: a text's prompt is read by one,
        its answer by the other. Each has a position of its own."""
        other = copy.copy(self)
        other.input_len, other._masks = input_len, {}
        for rows, mask in self._masks.items():
            ours = StaticAttentionMask(
                input_len, rows, mask.style, mask.mask_val, mask.tensor.dtype
            )
            ours.unmask(mask.unmasked_len)
            other._masks[rows] = ours
        return other

    def prefill(self, model: Callable[..., Any], tokens: list[int] | torch.Tensor) -> torch.Tensor:
        """Logits of all tokens, or of the last one where the model has no others."""
        tokens = torch.atleast_2d(torch.as_tensor(tokens, dtype=torch.int32))
        if not tokens.shape[-1]:
            raise ValueError("prefill: expected one token or more, found none")
        self._set_causal_mask()
        logits = [self._step(model, part) for part in tokens.split(self.input_len, 1)]
        return torch.cat(logits, 1) if self.generate_full_logits else logits[-1]

    def _step(self, model: Callable[..., Any], tokens: torch.Tensor) -> torch.Tensor:
        """Logits of at most `input_len` tokens, which are in the cache then."""
        count = tokens.shape[-1]
        logits, updates = self._run_once(model, tokens)
        self._update_states(updates, 0, count)
        return logits[:, :count] if self.generate_full_logits else logits

    def decode(
        self,
        model: Callable[..., Any],
        init_token: int,
        n: int,
        stop_tokens: list[int] | None = None,
    ) -> list[int]:
        """`init_token` and the likeliest `n` after it; fewer when one of `stop_tokens` comes, which is the last."""
        self._set_causal_mask()
        found = [init_token]
        for _ in range(n):
            logits = self._step(model, torch.tensor([found[-1:]], dtype=torch.int32))
            found.append(int(logits.reshape(-1, logits.shape[-1])[-1].argmax()))
            if found[-1] in (stop_tokens or ()):
                break
        return found

    def _set_causal_mask(self) -> None:
        above = torch.full((self.input_len, self.input_len), self.mask_val)
        self._set_input_mask(above.triu(1))

    def _set_input_mask(self, input_mask: torch.Tensor) -> None:
        for mask in self._masks.values():
            mask.set_input_mask(input_mask)

    def _run_once(
        self,
        model: Callable[..., Any],
        tokens: torch.Tensor,
        offsets: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, Any]:
        """Logits, and new keys and values. `offsets` (input_len,) of positions are 0, 1, .. by default; others may be
        guesses behind the last position, which are not kept."""
        count = tokens.shape[-1]
        last = self.pos + (count - 1 if offsets is None else 0)
        offsets = torch.arange(self.input_len) if offsets is None else offsets
        positions = (self.pos + offsets).clamp(max=self.freqs_cos.shape[0] - 1)
        if last >= self.freqs_cos.shape[0]:
            raise ValueError(
                f"static attention: expected positions below {self.freqs_cos.shape[0]}, which the rotary tables have "
                f"(max_context_len), found {last}"
            )
        padded = nn.functional.pad(tokens, (0, self.input_len - count))
        return self._call(model, padded, positions, count)

    def _call(
        self, model: Callable[..., Any], tokens: torch.Tensor, positions: torch.Tensor, count: int
    ) -> tuple[torch.Tensor, Any]:
        """Logits, and new keys and values; `count` tokens are there, the others are padding."""
        options: dict[str, Any] = {
            "masks": self.masks,
            "freqs_cos_override": self.freqs_cos[positions],
            "freqs_sin_override": self.freqs_sin[positions],
            "in_cache_state": (self.k_caches, self.v_caches),
        }
        if not self.generate_full_logits:
            options["last_valid_token_pos"] = torch.tensor([count - 1])
        logits, updates = model(tokens, options)
        return logits, updates["out_cache_state"]

    def _update_states(self, attn_updates: Any, update_pos: int, update_len: int) -> None:
        """Tokens [update_pos, update_pos + update_len) of a call join the caches."""
        rows = min((cache.shape[-2] for cache in self.k_caches.values()), default=0)
        if self.style == "smart_mask" and self.k_caches and self.pos + update_len > rows:
            self.cache_full = True
            raise ValueError(
                f"static attention: expected {rows} tokens at most, which the caches hold, found "
                f"{self.pos + update_len}; shift_pointer forgets the oldest instead"
            )
        for caches, new in zip((self.k_caches, self.v_caches), attn_updates):
            for key, update in new.items():
                options = (self.style, False, update_pos, update_len)
                caches[key] = StaticKVCache.apply_update(caches[key], update, self.pos, *options)
        self.pos += update_len
        for mask in self._masks.values():
            mask.unmask(update_len)

    def lookahead_decode(
        self,
        model: Callable[..., Any],
        init_token: int,
        n: int,
        ngram_size: int,
        window_size: int,
        n_verifications: int,
        stop_tokens: list[int] | None = None,
        ngram_caches: dict[int, NGramCache] | None = None,
    ) -> list[int]:
        """What `decode` gives, in fewer calls: each guesses n-grams beside and checks those guessed before.

        A call has `window_size` columns of ngram_size - 1 guesses, which are an n-gram each with what comes after
        them, and `n_verifications` n-grams that began with the last token. `ngram_caches` (by first token) keeps them
        for other texts. Needs the logits of all tokens.
        """
        rows = ngram_size - 1
        needed = (window_size + n_verifications) * rows
        if not self.generate_full_logits:
            raise ValueError("lookahead_decode: expected a model with generate_full_logits")
        if ngram_size < 2 or window_size < 1 or needed > self.input_len:
            raise ValueError(
                f"lookahead_decode: expected (window_size + n_verifications) * (ngram_size - 1) of at most input_len, "
                f"{self.input_len}, found {needed}"
            )
        sizes = (ngram_size, window_size, n_verifications)
        self._set_input_mask(self._get_lookahead_decoding_mask(*sizes))
        offsets = self._get_lookahead_position_offsets(*sizes)
        pool = {} if ngram_caches is None else ngram_caches
        window = [[init_token] * window_size for _ in range(rows)]
        found = [init_token]
        while len(found) <= n:
            window[0][0] = found[-1]
            guesses = list(pool.get(found[-1], ()))[-n_verifications:] if n_verifications else []
            tokens = [token for row in window for token in row]
            tokens += [token for ngram in guesses for token in ngram]
            logits, updates = self._run_once(
                model, torch.tensor([tokens], dtype=torch.int32), offsets
            )
            likeliest = logits[0].argmax(-1).tolist()
            best, accepted = 0, [likeliest[0]]
            for number, ngram in enumerate(guesses):
                at = (window_size * rows) + number * rows
                agreed = [likeliest[0]]
                for i, token in enumerate(ngram):
                    if token != agreed[-1]:
                        break
                    agreed.append(likeliest[at + i])
                if len(agreed) > len(accepted):
                    best, accepted = at, agreed
            accepted = accepted[: n + 1 - len(found)]
            self._update_states(updates, 0, 1)
            if len(accepted) > 1:
                self._update_states(updates, best, len(accepted) - 1)
            for token in accepted:
                found.append(token)
                if token in (stop_tokens or ()):
                    return found
            new = likeliest[(rows - 1) * window_size : rows * window_size]
            for column in range(window_size):
                ngram = [row[column] for row in window] + [new[column]]
                pool.setdefault(ngram[0], NGramCache(max(n_verifications, 1))).add(ngram[1:])
            window = [*window[1:], new]
        return found

    def _get_lookahead_decoding_mask(
        self, ngram_size: int, window_size: int, n_verifications: int
    ) -> torch.Tensor:
        """The first row of guesses is causal; those below see it up to their column, and their column above them. A
        checked n-gram sees the first token and itself."""
        rows = ngram_size - 1
        seen = torch.zeros(self.input_len, self.input_len, dtype=torch.bool)
        seen[:, 0] = True
        for row in range(rows):
            for column in range(window_size):
                at = row * window_size + column
                seen[at, : column + 1] = True
                seen[at, column : at + 1 : window_size] = True
        for number in range(n_verifications):
            at = window_size * rows + number * rows
            seen[at : at + rows, at : at + rows] = torch.ones(rows, rows, dtype=torch.bool).tril()
        return torch.where(seen, 0.0, self.mask_val)

    def _get_lookahead_position_offsets(
        self, ngram_size: int, window_size: int, n_verifications: int
    ) -> torch.Tensor:
        """Behind the position of the first token."""
        rows = ngram_size - 1
        places = [row + column for row in range(rows) for column in range(window_size)]
        places += [i + 1 for _ in range(n_verifications) for i in range(rows)]
        return torch.tensor(places + [0] * (self.input_len - len(places)), dtype=torch.int32)


# layer, head, (kv heads,) where a cache has those of all
Places = Iterator[tuple[int, int, tuple[int, ...]]]


def _caches_of_args(args: ModelArgs) -> Places:
    for layer in range(args.n_layers - args.num_kv_shared_layers):
        if args.attention_type == "static":
            yield from ((layer, head, ()) for head in range(args.n_kv_heads))
        else:
            yield layer, 0, (args.n_kv_heads,)


def _caches_of(model: nn.Module) -> Places:
    for layer in _layers_of(model):
        if not layer.is_kv_shared_layer:
            heads = () if layer.split_mha else (layer.n_kv_heads,)
            yield from ((layer.layer_id, head, heads) for head in range(len(layer.k_caches)))


def _layers_of(model: nn.Module) -> list[StaticAttention]:
    layers = [layer for layer in model.modules() if isinstance(layer, StaticAttention)]
    if not layers:
        raise ValueError(
            "StaticAttentionIOManager: expected a model with static attention "
            "(transform_attention_mha_to_static_attention), found none"
        )
    return layers


def _rope_of(model: nn.Module, args: ModelArgs) -> Rope:
    """Tables as the layers want them, also after adopt_hf_rope()."""
    return Rope(dataclasses.replace(args, use_hf_rope=_layers_of(model)[0].rope.use_hf_rope))
