# SPDX-License-Identifier: BSD-3-Clause
"""Programs with every cache and attention, in our runtime: the numbers of their eager models, call after call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.transform.transform_test import (
    STEPS,
    TOKENS,
    checkpoint,
    config_for,
    last_of_steps,
    prepared,
    stepwise,
    windowed,
)
from executorch.runtime import Runtime

__all__ = ["checkpoint"]  # the fixture

_OPERATORS = {"use_sdpa_with_kv_cache": True}
# options of `model`, and operators that the program must call
ROWS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "plain": ({}, {"aten::index_put"}),
    "custom_sdpa": (_OPERATORS, {"llama::update_cache", "llama::custom_sdpa"}),
    "half_sdpa": (
        {**_OPERATORS, "kv_cache_dtype": "fp16"},
        {"llama::update_cache", "llama::custom_sdpa"},
    ),
    "rings_half_sdpa": (
        {**_OPERATORS, "local_global_attention": [4, 0], "kv_cache_dtype": "bf16"},
        {"llama::update_cache_with_indices", "llama::custom_sdpa"},
    ),
    "8_bits": ({"quantize_kv_cache": True}, {"quantized_decomposed::quantize_per_token"}),
    "8_bits_sdpa": (
        {**_OPERATORS, "quantize_kv_cache": True},
        {"llama::update_cache", "llama::custom_quantized_sdpa"},
    ),
    "rings": ({"local_global_attention": [4, 0]}, {"aten::index_put"}),
    "rings_sdpa": (
        {**_OPERATORS, "local_global_attention": [4, 0]},
        {"llama::update_cache_with_indices", "llama::custom_sdpa"},
    ),
    "rings_8_bits_sdpa": (
        {**_OPERATORS, "local_global_attention": [4, 0], "quantize_kv_cache": True},
        {"llama::update_cache_with_indices", "llama::custom_quantized_sdpa"},
    ),
    "sinks": ({"use_attention_sink": "2,8"}, {"aten::index_put"}),
    "sinks_sdpa": (
        {**_OPERATORS, "use_attention_sink": "2,8"},
        {"llama::update_cache_with_indices", "llama::custom_sdpa"},
    ),
}
_ALWAYS = ("custom_sdpa", "half_sdpa", "8_bits_sdpa", "rings_8_bits_sdpa")


def operators(path: Path) -> set[str]:
    plan = deserialize_pte_binary(path.read_bytes()).program.execution_plan[0]
    return {op.name for op in plan.operators}


def run_steps(path: str | Path, steps: Any = STEPS, tokens: torch.Tensor = TOKENS) -> torch.Tensor:
    method = Runtime.get().load_program(str(path)).load_method("forward")
    return torch.cat(
        [
            method.execute([tokens[:, start:end].clone(), torch.tensor([start])])[0].clone()
            for start, end in steps
        ]
    )


@pytest.mark.req("LLM-006", "LLM-007", "KS-007")
@pytest.mark.parametrize(
    "name",
    [name if name in _ALWAYS else pytest.param(name, marks=pytest.mark.full) for name in ROWS],
)
def test_a_program_keeps_what_its_eager_model_keeps(
    name: str, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, _ = checkpoint
    options, wanted = ROWS[name]
    path = tmp_path / "m.pte"
    config = config_for(folder, model=options, export={"output_name": str(path)})
    expected = stepwise(prepared(config))
    export_llama(config)
    assert wanted <= operators(path)
    torch.testing.assert_close(run_steps(path), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.req("LLM-007")
def test_a_program_with_sinks_goes_on_beyond_its_cache(checkpoint: tuple, tmp_path: Path) -> None:
    """60 tokens through 2 + 2 * 8 rows; the eager model, whose tokens see the same positions, says the same."""
    folder, _ = checkpoint
    options = {"use_attention_sink": "2,8", **_OPERATORS}
    config = config_for(folder, model=options, export={"output_name": str(tmp_path / "m.pte")})
    eager = prepared(config)
    export_llama(config)
    tokens = torch.arange(60)[None] * 7 % 96
    steps = [(0, 5), *((place, place + 1) for place in range(5, 60))]
    with torch.no_grad():
        expected = torch.cat(
            [eager(tokens[:, a:b], {"input_pos": torch.tensor([a])}).clone() for a, b in steps]
        )
    found = run_steps(tmp_path / "m.pte", steps, tokens)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    # what the window has left behind is forgotten: another token there changes nothing, a sink's does
    other, sink = tokens.clone(), tokens.clone()
    other[0, 20], sink[0, 1] = 3, 3
    last = [run_steps(tmp_path / "m.pte", steps, t)[-1] for t in (other, sink)]
    assert (last[0] - found[-1]).abs().max() < (last[1] - found[-1]).abs().max()


@pytest.mark.req("LLM-005")
def test_texts_beyond_the_lengths_are_errors(checkpoint: tuple, tmp_path: Path) -> None:
    """`max_seq_length` bounds a call, `max_context_length` all calls together."""
    folder, model = checkpoint
    lengths = {"max_seq_length": 8, "max_context_length": 16}
    for number, options in enumerate(({}, _OPERATORS)):
        path = tmp_path / f"{number}.pte"
        export = {**lengths, "output_name": str(path)}
        export_llama(config_for(folder, model=options, export=export))
        program = Runtime.get().load_program(str(path))
        assert program.load_method("get_max_seq_len").execute([]) == [8]
        assert program.load_method("get_max_context_len").execute([]) == [16]
        assert program.load_method("keeps_all_positions").execute([]) == [True]
        method = program.load_method("forward")
        tokens = torch.arange(12)[None]
        (logits,) = method.execute([tokens[:, :7].clone(), torch.tensor([0])])
        torch.testing.assert_close(logits, model(tokens[:, :7])[:, -1], rtol=1e-4, atol=1e-4)
        with pytest.raises(RuntimeError, match="7"):
            method.execute([tokens[:, :9].clone(), torch.tensor([0])])
        method.execute([tokens[:, 7:12].clone(), torch.tensor([7])])
        with pytest.raises(RuntimeError):
            method.execute([tokens[:, :5].clone(), torch.tensor([12])])


@pytest.mark.req("LLM-007")
def test_local_layers_forget_what_a_window_has_left(checkpoint: tuple, tmp_path: Path) -> None:
    folder, model = checkpoint
    path = tmp_path / "m.pte"
    options = {**_OPERATORS, "local_global_attention": [4, 0]}
    export_llama(config_for(folder, model=options, export={"output_name": str(path)}))
    expected = last_of_steps(windowed(model, [4, 0])(TOKENS))
    torch.testing.assert_close(run_steps(path), expected, rtol=1e-4, atol=1e-4)
    program = Runtime.get().load_program(str(path))
    # a call of more would overwrite, within itself, what its first tokens see
    assert program.load_method("get_max_seq_len").execute([]) == [5]
    assert program.load_method("keeps_all_positions").execute([]) == [False]
    with pytest.raises(RuntimeError, match="5"):
        program.load_method("forward").execute([TOKENS[:, :6].clone(), torch.tensor([0])])


@pytest.mark.parametrize(
    "delegated", [True, pytest.param(False, marks=pytest.mark.full)], ids=["xnnpack", "kernels"]
)
def test_a_tied_table_is_in_the_file_once(
    delegated: bool, checkpoint: tuple, tmp_path: Path
) -> None:
    """The output layer reads the table of embeddings, on a kernel where a delegate would hold a copy."""
    folder, model = checkpoint
    state = {k: v for k, v in model.state_dict().items() if k != "output.weight"}
    torch.save(state, tmp_path / "tied.pth")
    sizes = []
    for source in (tmp_path / "tied.pth", folder):
        path = tmp_path / "m.pte"
        config = config_for(
            folder, export={"output_name": str(path)}, backend={"xnnpack": {"enabled": delegated}}
        )
        config.base.checkpoint = str(source)
        eager = prepared(config)
        export_llama(config)
        sizes.append(path.stat().st_size)
        torch.testing.assert_close(run_steps(path), stepwise(eager), rtol=1e-4, atol=1e-4)
    table = model.tok_embeddings.weight.numel() * 4
    assert sizes[1] - sizes[0] > 0.8 * table
