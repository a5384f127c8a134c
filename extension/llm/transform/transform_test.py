# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites keep what a model computes: caches and attention by operators exactly, few bits within their error."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torchao.quantization.utils import compute_error

from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama, prepare
from executorch.extension.llm.export.stages import Stages
from executorch.extension.llm.formats.weight_bits import WeightBits, embedding_bits, linear_bits
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer
from executorch.extension.llm.quantization.weights import report
from executorch.extension.llm.transform.sessions import RopeOfSessions
from executorch.runtime import Runtime

SHAPE = {
    "dim": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 96,
    "hidden_dim": 96,
    "max_seq_len": 32,
    "max_context_len": 32,
}
TOKENS = torch.tensor([[5, 17, 3, 90, 42, 7, 11, 80, 2, 33, 64, 19]])
STEPS = ((0, 5), (5, 6), (6, 7), (7, 12))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Transformer]:
    """A checkpoint of Meta's names with its params.json; the model sees all tokens and gives all logits."""
    import json

    folder = tmp_path_factory.mktemp("llama")
    torch.manual_seed(4)
    model = construct_transformer(ModelArgs(**SHAPE, generate_full_logits=True)).eval()
    torch.save(model.state_dict(), folder / "consolidated.00.pth")
    shape = {key: value for key, value in SHAPE.items() if not key.startswith("max_")}
    (folder / "params.json").write_text(json.dumps(shape))
    return folder, model


def config_for(folder: Path, **groups: dict[str, Any]) -> Any:
    base = {"checkpoint": str(folder), "params": str(folder / "params.json")}
    lengths = {"max_seq_length": 32, "max_context_length": 32}
    groups["model"] = {"use_kv_cache": True} | groups.get("model", {})
    return build({"base": base, **groups, "export": lengths | groups.get("export", {})})


def word_tokenizer(folder: Path) -> str:
    """The path of a tokenizer.json: w0 to w89 are the ids 0 to 89."""
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(90)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    return str(folder / "tokenizer.json")


def stepwise(model: torch.nn.Module, steps: Sequence[tuple[int, int]] = STEPS) -> torch.Tensor:
    """Logits after each of the steps."""
    results = []
    with torch.no_grad():
        for start, end in steps:
            options = {"input_pos": torch.tensor([start])}
            results.append(model(TOKENS[:, start:end], options).clone())
    return torch.cat(results)


def last_of_steps(logits: torch.Tensor) -> torch.Tensor:
    return torch.stack([logits[0, end - 1] for _, end in STEPS])


def prepared(config: Any) -> torch.nn.Module:
    return prepare(config, Stages(say=False))[0].model


@pytest.mark.req("LLM-006")
def test_attention_by_operators_computes_the_same(checkpoint: tuple) -> None:
    folder, model = checkpoint
    rewritten = prepared(config_for(folder, model={"use_sdpa_with_kv_cache": True}))
    kinds = {type(m).__name__ for m in rewritten.modules()}
    assert {"SDPACustom", "CustomKVCache"} <= kinds and "KVCache" not in kinds
    torch.testing.assert_close(stepwise(rewritten), last_of_steps(model(TOKENS)))


@pytest.mark.req("LLM-007")
@pytest.mark.parametrize("operators", [False, True])
def test_a_cache_of_8_bits_is_close(checkpoint: tuple, operators: bool) -> None:
    folder, model = checkpoint
    options = {"quantize_kv_cache": True, "use_sdpa_with_kv_cache": operators}
    rewritten = prepared(config_for(folder, model=options))
    attention = rewritten.layers[0].attention
    assert attention.kv_cache.k_cache.dtype == torch.int8
    assert type(attention.SDPA).__name__ == ("QuantizedSDPA" if operators else "SDPA")
    expected = last_of_steps(model(TOKENS))
    assert compute_error(expected, stepwise(rewritten)) > 35


def windowed(model: Transformer, windows: list[int]) -> Transformer:
    """The same weights, and layers that see the last few positions only (0: all)."""
    other = copy.deepcopy(model)
    for layer, window in zip(other.layers, windows):
        layer.attention.window = window or None
    return other


@pytest.mark.req("LLM-007")
@pytest.mark.parametrize("in_8_bits", [False, True])
@pytest.mark.parametrize("operators", [False, True])
def test_local_layers_keep_a_window(checkpoint: tuple, operators: bool, in_8_bits: bool) -> None:
    """A ring of four positions has eight rows: later tokens overwrite the first."""
    folder, model = checkpoint
    options = {"local_global_attention": [4, 0], "use_sdpa_with_kv_cache": operators}
    options["quantize_kv_cache"] = in_8_bits
    rewritten = prepared(config_for(folder, model=options))
    first, second = (layer.attention.kv_cache for layer in rewritten.layers)
    assert first.is_ring_buffer and not second.is_ring_buffer
    assert first.k_cache.numel() * 4 == second.k_cache.numel()
    expected = last_of_steps(windowed(model, [4, 0])(TOKENS))
    assert compute_error(expected, stepwise(rewritten)) > (35 if in_8_bits else 90)


@pytest.mark.req("LLM-007")
@pytest.mark.parametrize("operators", [False, True])
def test_a_text_outgrows_its_cache_with_sinks(checkpoint: tuple, operators: bool) -> None:
    """Nothing is lost while all fits; 60 tokens go through a cache of 2 + 2 * 8 rows and stay finite."""
    folder, model = checkpoint
    options = {"use_attention_sink": "2,8", "use_sdpa_with_kv_cache": operators}
    rewritten = prepared(config_for(folder, model=options))
    assert rewritten.layers[0].attention.kv_cache.max_context_length == 18
    with torch.no_grad():
        short = rewritten(TOKENS[:, :8], {"input_pos": torch.tensor([0])})
        torch.testing.assert_close(short, model(TOKENS)[:, 7], rtol=1e-4, atol=1e-5)
        for place in range(8, 60):
            token = torch.tensor([[place % 96]])
            logits = rewritten(token, {"input_pos": torch.tensor([place])})
    held = rewritten.layers[0].attention.kv_cache.cache_positions_manager.cache_positions
    assert held[:2].tolist() == [0, 1] and sorted(held.tolist())[2:] == list(range(44, 60))
    assert logits.isfinite().all()


def test_rings_forget_an_earlier_text(checkpoint: tuple) -> None:
    folder, _ = checkpoint
    rewritten = prepared(config_for(folder, model={"local_global_attention": [4]}))
    first = stepwise(rewritten)
    torch.testing.assert_close(stepwise(rewritten), first)


@pytest.mark.req("LLM-008", "LLM-009")
def test_what_modes_mean() -> None:
    assert linear_bits("8da4w", None) == WeightBits(4, 128, True)
    assert linear_bits("8da4w", 32) == WeightBits(4, 32, True)
    assert linear_bits("int8", None) == WeightBits(8, 0, False)
    assert linear_bits("torchao:8da3w", 64) == WeightBits(3, 64, True)
    assert linear_bits("torchao:fpa4w", 32) == WeightBits(4, 32, False)
    assert embedding_bits("4,32") == WeightBits(4, 32, False)
    assert embedding_bits("8,0") == WeightBits(8, 0, False)
    assert embedding_bits("torchao:2,64") == WeightBits(2, 64, False)


# qmode, group, embedding_quantize -> decibels between eager models; bits a weight
MODES = {
    "8da4w": ("8da4w", 32, "4,32", 15, 4.2),
    "int8": ("int8", None, "8,0", 35, 8.2),
    "4w": ("4w", 32, None, 15, 7.0),
    "torchao8": ("torchao:8da8w", 32, "torchao:8,32", 30, 8.2),
    "torchao4": ("torchao:8da4w", 32, "2,32", 1, 4.1),
}


@pytest.mark.req("LLM-008", "LLM-009", "LLM-016")
@pytest.mark.parametrize("name", MODES)
def test_a_quantized_program_computes_what_its_model_does(
    name: str, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, model = checkpoint
    qmode, group, table, decibels, bits = MODES[name]
    config = config_for(
        folder,
        quantization={"qmode": qmode, "group_size": group, "embedding_quantize": table},
        backend={"xnnpack": {"enabled": name != "4w"}},
        export={"output_name": str(tmp_path / "m.pte")},
    )
    eager = prepared(config)
    assert float(report(eager).rsplit("; ", 1)[1].split()[0]) < bits
    expected = stepwise(eager)
    assert compute_error(last_of_steps(model(TOKENS)), expected) > decibels
    path = export_llama(config)
    method = Runtime.get().load_program(path).load_method("forward")
    outputs = [
        method.execute([TOKENS[:, start:end].clone(), torch.tensor([start])])[0]
        for start, end in STEPS
    ]
    # inputs of a few bits: a value at the edge of two may fall to the other side
    assert compute_error(expected, torch.cat(outputs)) > 30


@pytest.mark.parametrize("mode", ["xnnpack_dynamic", "xnnpack_dynamic_qc4"])
def test_a_captured_graph_is_quantized(mode: str, checkpoint: tuple, tmp_path: Path) -> None:
    folder, model = checkpoint
    sizes = {}
    for name, quantization in (("float", {}), (mode, {"pt2e_quantize": mode})):
        config = config_for(
            folder,
            quantization=quantization,
            backend={"xnnpack": {"enabled": True}},
            export={"output_name": str(tmp_path / f"{name}.pte")},
        )
        sizes[name] = Path(export_llama(config)).stat().st_size
    method = Runtime.get().load_program(str(tmp_path / f"{mode}.pte")).load_method("forward")
    (logits,) = method.execute([TOKENS, torch.tensor([0])])
    decibels = 10 if mode.endswith("qc4") else 25
    assert compute_error(model(TOKENS)[:, -1], logits) > decibels
    assert sizes[mode] < 0.75 * sizes["float"]


def test_groups_that_do_not_divide_are_said(checkpoint: tuple) -> None:
    folder, _ = checkpoint
    wrong = {"embedding_quantize": "4,48"}
    with pytest.raises(ValueError, match="expected a group that divides 64"):
        prepared(config_for(folder, quantization=wrong))
    kept = prepared(config_for(folder, quantization={"qmode": "8da4w", "group_size": 96}))
    assert "32-bit" in report(kept)  # only rows of 96 are divided


def test_sessions_turn_sliding_layers_by_the_tables_of_these() -> None:
    """Windows that no text outgrows leave layers their own base."""
    shape = {"dim": 16, "n_heads": 2, "max_context_len": 8, "local_rope_theta": 100.0}
    rope = RopeOfSessions(ModelArgs(**shape, use_kv_cache=True))
    places = torch.tensor([3, 8 + 5, 16])  # of three sessions
    for local, table in ((False, rope.freqs_cos), (True, rope.local_freqs_cos)):
        assert torch.equal(rope.get_freqs(places, 3, local)[0], table[[3, 5, 0]])
    assert not torch.equal(rope.freqs_cos, rope.local_freqs_cos)
