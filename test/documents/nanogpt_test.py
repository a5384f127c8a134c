# SPDX-License-Identifier: BSD-3-Clause
"""The guide on custom language models runs: nanoGPT's GPT-2 to a file, plain, on XNNPACK, with a record."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from executorch.devtools import parse_etrecord
from executorch.runtime import Runtime
from executorch.test.documents import guide, nanogpt
from executorch.test.documents.xnnpack_test import in_a_folder  # noqa: F401

SMALL = nanogpt.GPTConfig(block_size=64, vocab_size=100, n_layer=2, n_head=4, n_embd=64)
SHAPES = [
    pytest.param(SMALL, id="small"),
    pytest.param(nanogpt.GPTConfig(), id="124M", marks=pytest.mark.full),
]
BASIC, XNNPACK, SUMMARY, GRAPH, RECORD = guide.today("nanogpt.md")


@pytest.fixture(autouse=True)
def model_py(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("model")
    module.GPT = nanogpt.GPT
    monkeypatch.setitem(sys.modules, "model", module)


def assert_the_file_is_the_model(longest: int) -> None:
    """At lengths up to the longest, the file gives the logits of eager."""
    model = nanogpt.GPT.from_pretrained("gpt2")
    method = Runtime.get().load_program("nanogpt.pte").load_method("forward")
    for length in (1, 7, longest):
        tokens = torch.randint(0, 100, (1, length))
        with torch.no_grad():
            expected, _ = model(tokens)
        found = method.execute([tokens])[0]
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.req("LLM-020", "LLM-021")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_basic_export(shape: nanogpt.GPTConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanogpt.GPT, "shape", shape)
    guide.run(BASIC, {})
    assert_the_file_is_the_model(shape.block_size)


@pytest.mark.req("LLM-021", "LLM-022")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_export_to_xnnpack_and_its_record(
    shape: nanogpt.GPTConfig,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(nanogpt.GPT, "shape", shape)
    names = guide.run(XNNPACK, {})
    assert_the_file_is_the_model(shape.block_size - 1)
    guide.run(SUMMARY, names)
    assert "Total delegated subgraphs: " in capsys.readouterr().out
    info = names["delegation_info"]
    # upstream: 350 of 1,110 nodes
    assert info.num_delegated_nodes > info.num_non_delegated_nodes
    table = names["df"].set_index("op_type")
    # the last one's weights are the embedding table, which the program holds once
    linears = table.loc["aten_linear_default", "occurrences_in_delegated_graphs"]
    assert linears == 4 * shape.n_layer
    guide.run(GRAPH, names)
    shown = capsys.readouterr().out
    assert "backend_id: XnnpackBackend" in shown and "transformer_h_0_attn_c_attn_weight" in shown
    guide.run(RECORD, names)
    record = parse_etrecord("etrecord.bin")
    assert Path("etrecord.bin").stat().st_size > 0
    assert record.edge_dialect_program is not None
