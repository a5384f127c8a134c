# SPDX-License-Identifier: BSD-3-Clause
"""Parts of decoders and image encoders: what they compute, and that their programs compute it, too."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, export

from executorch.exir import to_edge
from executorch.extension.llm.modules import (
    KVCache,
    MultiHeadAttention,
    TiledTokenPositionalEmbedding,
    TilePositionalEmbedding,
    replace_mha_with_inference_mha,
    replace_tile_positional_embedding,
    replace_tiled_token_positional_embedding,
)
from executorch.extension.llm.modules.turboquant import TurboQuantKVCache
from executorch.extension.llm.modules.turboquant.codebook import (
    generate_rotation_matrix,
    solve_lloyd_max,
)
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


def rand(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def filled(module: nn.Module) -> nn.Module:
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(rand(*parameter.shape) + number / 8)
    return module.eval()


def program(model: nn.Module, inputs: tuple[Any, ...], shapes: Any = None) -> Any:
    edge = to_edge(export(copy.deepcopy(model), inputs, dynamic_shapes=shapes))
    return _load_for_executorch_from_buffer(edge.to_executorch().buffer)


RATIOS = [[[1, 1]], [[1, 4]], [[2, 2]], [[4, 1]], [[3, 1]]]


def test_tiles_get_the_embedding_of_their_place() -> None:
    model, x = filled(TilePositionalEmbedding(4, 8)), rand(1, 4, 5, 8)
    run = program(model, (x, torch.tensor(RATIOS[0])))
    for ratio in RATIOS:
        rows, columns = ratio[0]
        wanted = x.clone()
        for tile in range(rows * columns):  # row by row; padding stays as it is
            place = model.embedding[tile // columns, tile % columns]
            wanted[0, tile] += place * math.tanh(model.gate.item())
        inputs = (x, torch.tensor(ratio))
        torch.testing.assert_close(model(*inputs), wanted)
        torch.testing.assert_close(run.forward(inputs)[0], wanted)


def test_tokens_get_their_place_in_the_tile_and_in_the_image() -> None:
    model, x = filled(TiledTokenPositionalEmbedding(4, 8, 6, 2)), rand(1, 4, 10, 8)
    assert model.local_token_positional_embedding.shape == (10, 8)  # 3 x 3 patches and the tile
    run = program(model, (x, torch.tensor(RATIOS[0])))
    gate = math.tanh(model.gate.item())
    for ratio in RATIOS:
        rows, columns = ratio[0]
        wanted = x + model.local_token_positional_embedding * (1 - gate)
        for tile in range(rows * columns):
            place = model.global_token_positional_embedding[tile // columns, tile % columns]
            wanted[0, tile] += place * gate
        inputs = (x, torch.tensor(ratio))
        torch.testing.assert_close(model(*inputs), wanted)
        torch.testing.assert_close(run.forward(inputs)[0], wanted)


def test_tables_of_other_sizes_are_stretched_between_their_corners() -> None:
    line = torch.tensor([0.0, 1.0, 2.0])
    table = (line[:, None] * 10 + line)[:, :, None, None]  # 10 * row + column
    model = TilePositionalEmbedding(5, 1)
    model.load_state_dict({"embedding": table, "gate": torch.zeros(1)})
    half = torch.arange(5) / 2
    torch.testing.assert_close(model.embedding[:, :, 0, 0].detach(), half[:, None] * 10 + half)
    with pytest.raises(ValueError, match="as many rows as columns, found 2 x 3"):
        model.load_state_dict({"embedding": table[:2], "gate": torch.zeros(1)})

    tokens = TiledTokenPositionalEmbedding(2, 1, 4, 2)
    at = torch.arange(3.0)
    grid = (at[:, None] * 10 + at).reshape(9, 1)
    local = torch.cat([torch.tensor([[7.0]]), grid])
    patches = torch.arange(6.0)  # of 2 x 2 tiles with 3 x 3 patches, over the whole image
    image = (
        (patches[:, None] * 10 + patches).reshape(2, 3, 2, 3).transpose(1, 2).reshape(2, 2, 9, 1)
    )
    whole = torch.cat([table[:2, :2], image], 2)
    names = ("local_token_positional_embedding", "global_token_positional_embedding")
    tokens.load_state_dict({names[0]: local, names[1]: whole, "gate": torch.zeros(1)})
    wanted = torch.tensor([7.0, 0, 2, 20, 22])
    torch.testing.assert_close(tokens.local_token_positional_embedding[:, 0].detach(), wanted)
    step = torch.arange(4.0) * 5 / 3  # four patches a side where six were
    wanted = (step[:, None] * 10 + step).reshape(2, 2, 2, 2).transpose(1, 2).reshape(2, 2, 4)
    found = tokens.global_token_positional_embedding.detach()[..., 0]
    torch.testing.assert_close(found[:, :, 1:], wanted)
    torch.testing.assert_close(found[:, :, 0], table[:2, :2, 0, 0])


def attention(**options: Any) -> MultiHeadAttention:
    layers = {name: nn.Linear(32, out, bias=False) for name, out in
              (("q_proj", 32), ("k_proj", 16), ("v_proj", 16), ("output_proj", 32))}  # fmt: skip
    model = MultiHeadAttention(
        embed_dim=32, num_heads=4, num_kv_heads=2, head_dim=8, **layers, **options
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(rand(*parameter.shape) / 6)
    return model.eval()


def by_hand(
    model: MultiHeadAttention, x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """softmax(q k / sqrt(8)) v of every head, keys of head h // 2."""
    heads = []
    for head in range(4):
        q = (x @ model.q_proj.weight.T)[..., 8 * head : 8 * head + 8]
        shared = slice(8 * (head // 2), 8 * (head // 2) + 8)
        k, v = ((y @ w.weight.T)[..., shared] for w in (model.k_proj, model.v_proj))
        scores = q @ k.transpose(1, 2) / math.sqrt(8)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        heads.append(scores.softmax(-1) @ v)
    return torch.cat(heads, -1) @ model.output_proj.weight.T


def test_attention_is_causal_or_masked_or_neither() -> None:
    x, y = rand(2, 5, 32), rand(2, 7, 32)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    model = attention()
    torch.testing.assert_close(model(x, x), by_hand(model, x, x, causal))
    mask = (rand(2, 5, 5) > 0) | torch.eye(5, dtype=torch.bool)
    torch.testing.assert_close(model(x, x, mask=mask), by_hand(model, x, x, mask))
    model = attention(is_causal=False)
    torch.testing.assert_close(model(x, y), by_hand(model, x, y, None))
    with pytest.raises(ValueError, match="expected y .* or a cache, found neither"):
        model(x)


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = attention()
        self.attention.setup_cache(1, torch.float32, 12)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.attention(x, x, mask=mask)


def test_tokens_join_those_of_earlier_calls() -> None:
    model, x = SelfAttention(), rand(1, 9, 32)
    causal = torch.ones(12, 12, dtype=torch.bool).tril()
    wanted = by_hand(model.attention, x, x, causal[:9, :9])
    tokens = Dim("tokens", max=6)
    shapes = ({1: tokens}, {1: tokens})
    run = program(model, (x[:, :4], causal[None, :4]), shapes)
    for first, end in ((0, 5), (5, 6), (6, 9)):
        inputs = (x[:, first:end], causal[None, first:end])
        torch.testing.assert_close(model(*inputs), wanted[:, first:end])
        torch.testing.assert_close(run.forward(inputs)[0], wanted[:, first:end])
    assert model.attention.kv_cache.size == 9
    with pytest.raises(ValueError, match="at most 12 tokens in all, found 4 behind 9"):
        model(x[:, :4], causal[None, :4])
    model.attention.reset_cache()
    torch.testing.assert_close(model(x[:, :5], causal[None, :5]), wanted[:, :5])


class CrossAttention(SelfAttention):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.attention = attention(is_causal=False)
        self.attention.setup_cache(1, torch.float32, 7)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.attention(x, y)


def test_what_was_seen_stays_when_only_nan_comes() -> None:
    model, x, y = CrossAttention(), rand(1, 3, 32), rand(1, 7, 32)
    run = program(model, (x, y))
    nothing = torch.full_like(y, torch.nan)
    for other, seen in ((y, y), (nothing, y), (-y, -y), (nothing, -y)):
        wanted = by_hand(model.attention, x, seen, None)
        torch.testing.assert_close(model(x, other), wanted)
        torch.testing.assert_close(run.forward((x, other))[0], wanted)


@pytest.mark.parametrize("transposed", [True, False])
def test_a_cache_counts_its_tokens(transposed: bool) -> None:
    cache = KVCache(2, 6, 3, 4, torch.float32, transposed)
    order = (lambda x: x) if transposed else (lambda x: x.transpose(1, 2))
    new = rand(2, 3, 2, 4)
    cache.update(order(new), order(-new))
    copied = cache.clone()
    k, v = cache.update(order(new[:, :, :1]), order(new[:, :, 1:]))
    wanted = torch.cat([new, new[:, :, :1], torch.zeros(2, 3, 3, 4)], 2)
    assert torch.equal(order(k), wanted) and cache.size == 3
    assert torch.equal(order(v)[:, :, :3], torch.cat([-new, new[:, :, 1:]], 2))
    assert copied.size == 2 and torch.equal(
        order(copied.k_cache)[:, :, 2:], torch.zeros(2, 3, 4, 4)
    )
    with pytest.raises(ValueError, match="a batch of 2, found 1"):
        cache.update(order(new[:1]), order(new[:1]))


def of_torchtune(name: str, base: type[nn.Module]) -> type[nn.Module]:
    """A class that says it is torchtune's."""
    return type(name, (base,), {"__module__": "torchtune.modules.stand_in"})


@pytest.mark.parametrize(
    "replace, ours, make",
    [
        (replace_tile_positional_embedding, TilePositionalEmbedding, lambda cls: cls(4, 8)),
        (
            replace_tiled_token_positional_embedding,
            TiledTokenPositionalEmbedding,
            lambda cls: cls(4, 8, 6, 2),
        ),
    ],
)
def test_torchtunes_modules_are_replaced_with_their_weights(
    replace: Any, ours: Any, make: Any
) -> None:
    theirs = filled(make(of_torchtune(ours.__name__, ours)))
    model = nn.Sequential(nn.Sequential(theirs), make(ours))
    kept = model[1]
    assert replace(model) is model
    assert type(model[0][0]) is ours and model[1] is kept and not model[0][0].training
    for name, value in theirs.state_dict().items():
        assert torch.equal(model[0][0].state_dict()[name], value)


def test_torchtunes_attention_is_replaced_with_its_parts() -> None:
    theirs = attention()
    theirs.kv_cache = KVCache(1, 12, 2, 8, torch.float16)
    theirs.__class__ = of_torchtune("MultiHeadAttention", MultiHeadAttention)
    model = replace_mha_with_inference_mha(nn.ModuleDict({"layer": theirs}))
    ours = model["layer"]
    assert type(ours) is MultiHeadAttention and ours.q_proj is theirs.q_proj
    assert ours.kv_cache.k_cache.shape == (1, 12, 2, 8)
    assert ours.kv_cache.k_cache.dtype == torch.float16


def test_levels_have_the_least_error() -> None:
    # of a normal distribution cut at 3 deviations, in two cells: +- E|x| = 2 (phi(0) - phi(3)) / 0.9973 / sqrt(d)
    levels, boundaries = solve_lloyd_max(8, 1)
    phi = [math.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in (0, 3)]
    mean = 2 * (phi[0] - phi[1]) / math.erf(3 / math.sqrt(2)) / math.sqrt(8)
    torch.testing.assert_close(levels, torch.tensor([-mean, mean]))
    assert boundaries.tolist() == [0.0]
    # the numbers of release 1.4.1
    wanted = torch.tensor([-0.1852, -0.0557, 0.0557, 0.1852])
    torch.testing.assert_close(solve_lloyd_max(64, 2)[0], wanted, rtol=0, atol=5e-5)
    wanted = torch.tensor([0.0153, 0.0463, 0.0783, 0.1121, 0.1489, 0.1906, 0.2408, 0.3091])
    levels, boundaries = solve_lloyd_max(64, 4)
    torch.testing.assert_close(levels[8:], wanted, rtol=0, atol=5e-5)
    torch.testing.assert_close(boundaries, (levels[1:] + levels[:-1]) / 2)
    with pytest.raises(ValueError, match="found 0 and 4"):
        solve_lloyd_max(0, 4)


def test_a_rotation_is_orthogonal_and_that_of_its_seed() -> None:
    turn = generate_rotation_matrix(16, 3)
    torch.testing.assert_close(turn @ turn.T, torch.eye(16))
    assert torch.equal(turn, generate_rotation_matrix(16, 3))
    wanted = torch.tensor([0.8395, 0.4120, -0.2597, 0.2411])  # of release 1.4.1
    torch.testing.assert_close(generate_rotation_matrix(4)[0], wanted, rtol=0, atol=5e-5)


def test_a_cache_of_four_bits_keeps_lengths_and_directions() -> None:
    torch.manual_seed(0)
    k, v = torch.randn(1, 2, 3, 8), torch.randn(1, 2, 3, 8)
    cache = TurboQuantKVCache(2, 8, 16)
    run = program(cache, (torch.tensor([0, 1, 2]), k, v))
    for positions in (torch.tensor([0, 1, 2]), torch.tensor([5, 6, 7])):
        found = cache(positions, k, v)
        for one, other in zip(run.forward((positions, k, v)), found, strict=True):
            assert torch.equal(one, other)
    codes, lengths = found[:2]
    assert codes.dtype == torch.uint8 and codes.shape == (1, 2, 16, 4)
    # the bytes of release 1.4.1
    wanted = [[151, 162, 231, 155], [144, 151, 168, 120], [6, 56, 148, 118], [0, 0, 0, 0]]
    assert codes[0, 0, :4].tolist() == wanted
    assert torch.equal(lengths[0, 0, 5:8, 0], k.bfloat16().norm(dim=-1)[0, 0])
    again = cache._decompress(codes, lengths)[:, :, :3]
    error = (again - k).norm(dim=-1) / k.norm(dim=-1)
    assert error.max() < 0.2  # a coordinate's error is 0.1 of its deviation
    zeros = cache._compress(torch.zeros(1, 1, 1, 8))
    assert cache._decompress(*zeros).abs().max() == 0


@pytest.mark.parametrize(
    "options, message",
    [((2, 8, 16, 3), "4 bits .*, found 3"), ((2, 7, 16), "an even head_dim, found 7")],
)
def test_four_bits_need_pairs(options: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TurboQuantKVCache(*options)
