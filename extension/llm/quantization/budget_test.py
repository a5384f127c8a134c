# SPDX-License-Identifier: BSD-3-Clause
"""What a budget chooses: the steps that save most for a byte, estimated errors beside those measured, and programs that
compute what was chosen within the size or the loss."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.llm.export.caches_test import run_steps
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS
from executorch.extension.llm.formats.panels import pack_codes, unpack_panels
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.caches import without_cache
from executorch.extension.llm.model.likelihood import module_logits
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.extension.llm.quantization.budget import as_chosen, hold
from executorch.extension.llm.quantization.budget_text import budget_of
from executorch.extension.llm.quantization.forms import FAMILIES, matrix, sites_of
from executorch.extension.llm.quantization.sensitivity import measure_errors
from executorch.extension.llm.transform.transform_test import (
    SHAPE,
    checkpoint,
    config_for,
    stepwise,
    word_tokenizer,
)

__all__ = ["checkpoint"]  # the fixture


@pytest.mark.parametrize(
    ("text", "loss", "size"),
    [
        ("perplexity +3%", math.log(1.03), None),
        (" Perplexity+0.5 %", math.log(1.005), None),
        ("80 MB", None, 80e6),
        ("1.2GB", None, 1.2e9),
    ],
)
def test_a_budget_is_a_loss_or_a_size(text: str, loss: float | None, size: float | None) -> None:
    found = budget_of(text)
    assert found.bytes == size
    assert found.loss == (None if loss is None else pytest.approx(loss))


@pytest.mark.parametrize("text", ["80", "perplexity 3%", "-3 MB", "+3%", ""])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a loss such as .*'80 MB', found"):
        budget_of(text)


def _model(**options: Any) -> nn.Module:
    torch.manual_seed(4)
    model = construct_transformer(ModelArgs(**SHAPE, **options)).eval().requires_grad_(False)
    model.tok_embeddings.weight.mul_(0.15)  # or the next token would be certain
    model.output.weight = model.tok_embeddings.weight
    return model


def _texts() -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(1)
    return [torch.randint(0, 90, (1, 31), generator=draw) for _ in range(24)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("use_kv_cache", [False, True])
def test_errors_foretell_what_a_text_loses(family: str, use_kv_cache: bool) -> None:
    """What is estimated is the Kullback-Leibler divergence to second order, of random weights with errors of parts in
    ten (4 bits) and thousand (8)."""
    model, texts = _model(use_kv_cache=use_kv_cache), _texts()
    before = [buffer.clone() for buffer in model.buffers()]
    logits = module_logits(model)
    with without_cache(model):
        sites = sites_of(model, FAMILIES[family], texts, logits)
        measure_errors(model, sites, texts, logits)
    assert len(sites) == 7 * SHAPE["n_layers"] + (1 if FAMILIES[family].tied else 2)
    assert all(map(torch.equal, before, model.buffers()))
    with torch.no_grad():
        exact = torch.cat([logits(text) for text in texts]).log_softmax(-1)
        for place in (0, -1):
            chosen = [site.options[place] for site in sites]
            with as_chosen(sites, chosen):
                found = torch.cat([logits(text) for text in texts]).log_softmax(-1)
            lost = functional.kl_div(found, exact, reduction="batchmean", log_target=True).item()
            assert sum(o.error for o in chosen) == pytest.approx(lost, rel=0.4)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("is_shared", [False, True])
def test_what_is_held_computes_what_was_measured(family: str, is_shared: bool) -> None:
    model, text = _model(use_kv_cache=False, generate_full_logits=True), _texts()[:1]
    logits, wanted = module_logits(model), FAMILIES[family]
    wanted = wanted.with_shared_table() if is_shared else wanted
    sites = sites_of(model, wanted, text, logits)
    assert len(sites) == 7 * SHAPE["n_layers"] + (1 if wanted.tied else 2)
    chosen = [site.options[i % len(site.options)] for i, site in enumerate(sites)]
    with torch.no_grad():
        with as_chosen(sites, chosen):
            expected = logits(text[0])
        assert not torch.allclose(expected, logits(text[0]), rtol=1e-3, atol=1e-3)
        hold(model, sites, chosen)
        torch.testing.assert_close(logits(text[0]), expected, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("number", [2, 6, 8])
@pytest.mark.parametrize("rows", [16, 37])
def test_codes_are_packed_as_blocks(number: int, rows: int) -> None:
    form, draw = BLOCK_FORMATS[number], torch.Generator().manual_seed(rows)
    low = -(1 << form.code_bits - 1)
    codes = torch.randint(low, -low, (rows, 96), generator=draw, dtype=torch.int8)
    scales = torch.randn(rows, 3, generator=draw).half().float()
    panels = pack_codes(form, codes.numpy(), scales.numpy())
    np.testing.assert_array_equal(unpack_panels(form, panels, rows), matrix((codes, scales)))


def _configured(folder: Path, tmp_path: Path, quantization: dict[str, Any], **groups: Any) -> Any:
    text = tmp_path / "text.txt"
    text.write_text(" ".join(f"w{7 * i * i % 90}" for i in range(300)))
    given = {"calibration_data": str(text), **quantization}
    config = config_for(
        folder,
        quantization=given,
        export={"output_name": str(tmp_path / "m.pte"), "tokenizer_in_program": False},
        **groups,
    )
    config.base.tokenizer_path = word_tokenizer(tmp_path)
    return config


@pytest.mark.parametrize(
    ("quantization", "backend", "operator"),
    [
        ({}, {}, "llama::linear_of_blocks"),
        ({"qmode": "8da4w"}, {"xnnpack": {"enabled": True}}, "XnnpackBackend"),
    ],
    ids=["blocks", "8da4w"],
)
def test_a_program_within_a_budget(
    quantization: dict, backend: dict, operator: str, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, model = checkpoint
    path = tmp_path / "m.pte"
    config = _configured(
        folder, tmp_path, {"budget": "perplexity +0.5%", **quantization}, backend=backend
    )
    export_llama(config)
    report = path.with_suffix(".budget.md").read_text()
    assert report.count("\n| layers.") == 7 * SHAPE["n_layers"] and "perplexity +0.5%" in report
    program = deserialize_pte_binary(path.read_bytes()).program
    named = {op.name for plan in program.execution_plan for op in plan.operators}
    named |= {each.id for plan in program.execution_plan for each in plan.delegates}
    assert operator in named
    found = run_steps(path)
    expected = stepwise(construct_like(model))
    noise = (found - expected).square().mean() / expected.square().mean()
    assert 0 < noise < 10**-1.5
    smaller = _configured(folder, tmp_path, {"budget": "0.001 MB", **quantization})
    with pytest.raises(
        ValueError, match=r"expected 0\.\d MB or more for this model, found 0.001 MB"
    ):
        export_llama(smaller)


def construct_like(model: nn.Module) -> nn.Module:
    """The checkpoint's weights with a cache."""
    found = construct_transformer(ModelArgs(**SHAPE, use_kv_cache=True)).eval()
    found.load_state_dict(model.state_dict(), strict=False)
    return found


def test_a_loss_that_no_form_keeps_is_refused(checkpoint: tuple, tmp_path: Path) -> None:
    config = _configured(checkpoint[0], tmp_path, {"budget": "perplexity +0.00001%"})
    with pytest.raises(ValueError, match="expected a perplexity that these forms reach"):
        export_llama(config)


def test_a_budget_chooses_all_weights(checkpoint: tuple, tmp_path: Path) -> None:
    for more, message in (
        ({"embedding_quantize": "4,32"}, "leave out quantization.embedding_quantize"),
        ({"qmode": "int8"}, "leave out other values of quantization.qmode"),
    ):
        config = _configured(checkpoint[0], tmp_path, {"budget": "80 MB", **more})
        with pytest.raises(ValueError, match=message):
            export_llama(config)
    config = _configured(
        checkpoint[0], tmp_path, {"budget": "80 MB"}, model={"use_shared_embedding": True}
    )
    with pytest.raises(ValueError, match="this one holds two weights"):
        export_llama(config)
