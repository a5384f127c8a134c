# SPDX-License-Identifier: BSD-3-Clause
"""Weights rounded by a text: to the nearest where inputs are not tied together, nearer in what a layer gives if so."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.extension.llm.export.caches_test import run_steps
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.formats.weight_bits import WeightBits, limits, linear_bits
from executorch.extension.llm.quantization import rounding
from executorch.extension.llm.quantization.recipes import dequantize_weight
from executorch.extension.llm.quantization.rounding import (
    ScaleRule,
    Ties,
    best_scales,
    quantize_linears_by_text,
    round_by_ties,
)
from executorch.extension.llm.quantization.weights import (
    quantize_by_least_squares,
    quantize_linears,
)
from executorch.extension.llm.transform.transform_test import (
    checkpoint,
    config_for,
    word_tokenizer,
)

__all__ = ["checkpoint"]  # the fixture

BITS = WeightBits(4, 32, True)


def test_what_is_not_tied_is_rounded_to_the_nearest() -> None:
    torch.manual_seed(0)
    weight, worth = torch.randn(24, 96), torch.rand(96) + 0.1
    codes, scales = round_by_ties(weight, Ties.of(torch.diag(worth)), BITS)
    wide = scales.repeat_interleave(32, 1)
    assert torch.equal(codes, (weight / wide).round().clamp(-8, 7).to(torch.int8))
    # no worse by what columns are worth than scales of least squares, which hold all of them alike
    plain = quantize_by_least_squares(weight, 32, *limits(4))
    errors = [
        ((weight - q * s.repeat_interleave(32, 1)).square() * worth).sum()
        for q, s in ((codes, scales), plain)
    ]
    assert errors[0] < errors[1]


def test_scales_are_those_that_a_form_holds() -> None:
    torch.manual_seed(0)
    groups = torch.randn(64, 32)
    groups[:, 3] = 3.0  # the largest, so that of signed scales -8 is worth trying
    rule = ScaleRule(torch.bfloat16, signed=True)
    signed = best_scales(groups, torch.ones(32), 4, rule)
    plain = best_scales(groups, torch.ones(32), 4)
    assert (
        torch.equal(signed, signed.bfloat16().float()) and (signed < 0).any() and (plain > 0).all()
    )
    errors = [
        (groups - (groups / s[:, None]).round().clamp(-8, 7) * s[:, None]).square().sum()
        for s in (signed, plain)
    ]
    assert errors[0] < errors[1]
    assert best_scales(torch.zeros(1, 32), torch.ones(32), 4).item() > 0


@pytest.mark.parametrize("memory", [1 << 30, 1])
def test_layers_give_what_is_nearer(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of 12 directions in 64 columns: errors of columns can make up for each other. One byte at a time: the text
    is run for each layer."""
    monkeypatch.setattr(rounding, "_MEMORY", memory)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 40), nn.Linear(40, 8))
    texts = list(torch.randn(4, 50, 12) @ torch.randn(12, 64))
    expected = torch.stack([model[0](text) for text in texts])
    plain, by_text = (
        nn.Sequential(*(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 40), nn.Linear(40, 8)))
        for _ in "ab"
    )
    for other in (plain, by_text):
        other.load_state_dict(model.state_dict())
    quantize_linears(plain, BITS)
    runs = []
    quantize_linears_by_text(by_text, BITS, texts, lambda text: runs.append(by_text(text)))
    assert len(runs) == (4 if memory > 1 else 8)
    assert by_text[2].weight.target_dtype == torch.int4 and type(by_text[3].weight) is nn.Parameter
    errors = []
    for other in (plain, by_text):
        weight = dequantize_weight(other[0].weight)
        given = torch.stack([nn.functional.linear(text, weight, model[0].bias) for text in texts])
        errors.append((given - expected).square().mean().item())
    assert errors[1] < 0.3 * errors[0]


def test_layers_of_one_input_are_rounded_alike() -> None:
    torch.manual_seed(0)
    layers = nn.ModuleList(nn.Linear(64, 24) for _ in range(4))  # the last is not reached
    for layer in layers:
        layer.load_state_dict(layers[0].state_dict())
    texts = list(torch.randn(2, 40, 12) @ torch.randn(12, 64))

    def run(text: torch.Tensor) -> None:
        layers[0](text), layers[1](text), layers[2](text.clone())

    quantize_linears_by_text(layers, BITS, texts, run)
    codes = [layer.weight.qdata for layer in layers]
    assert torch.equal(codes[0], codes[1]) and torch.equal(codes[0], codes[2])
    assert not torch.equal(codes[0], codes[3])


def test_a_program_of_weights_rounded_by_a_text(checkpoint: tuple, tmp_path: Path) -> None:
    assert linear_bits("8da4w-gptq", 32) == BITS
    folder, _ = checkpoint
    text = tmp_path / "text.txt"
    text.write_text(" ".join(f"w{7 * i * i % 90}" for i in range(300)))
    path, alone = tmp_path / "m.pte", {"tokenizer_in_program": False}
    quantization = {"qmode": "8da4w-gptq", "group_size": 32, "calibration_data": str(text)}
    config = config_for(
        folder, quantization=quantization, export={**alone, "output_name": str(path)}
    )
    with pytest.raises(ValueError, match="8da4w-gptq needs base.tokenizer_path"):
        export_llama(config)
    config.base.tokenizer_path = word_tokenizer(tmp_path)
    export_llama(config)
    found = run_steps(path)
    plain = tmp_path / "plain.pte"
    quantization = {"qmode": "8da4w", "group_size": 32}
    export_llama(
        config_for(folder, quantization=quantization, export={**alone, "output_name": str(plain)})
    )
    assert path.stat().st_size == plain.stat().st_size
    assert not torch.equal(found, run_steps(plain)) and found.isfinite().all()
    config.quantization.calibration_data = "w1 w2"
    with pytest.raises(ValueError, match="expected a text of 128 tokens or more.* found 2 tokens"):
        export_llama(config)
