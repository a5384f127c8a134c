# SPDX-License-Identifier: BSD-3-Clause
"""Language models both ways: upstream's export_llm file runs here with upstream's logits, ours there with ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.quantization.utils import compute_error

from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.test.e2e.programs import run_in_python
from executorch.test.interop import peer

pytestmark = [pytest.mark.interop, pytest.mark.full]

SHAPE = {
    "dim": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 96,
    "hidden_dim": 96,
    "norm_eps": 1e-5,
}
LENGTHS = {"max_seq_length": 32, "max_context_length": 32}
TOKENS = torch.tensor([[5, 17, 3, 90, 42, 7, 11, 80, 2, 33, 64, 19]])
STEPS = ((0, 5), (5, 6), (6, 7), (7, 12))
CALLS = [("forward", [TOKENS[:, a:b].clone(), torch.tensor([a])]) for a, b in STEPS]

_CACHE = {"use_kv_cache": True}
_OPERATORS = {**_CACHE, "use_sdpa_with_kv_cache": True}
_XNNPACK = {"xnnpack": {"enabled": True, "extended_ops": True}}
_FEW_BITS = {"qmode": "8da4w", "group_size": 32, "embedding_quantize": "4,32"}
# options, and the decibels by which logits of few bits agree (None: equal up to the order of sums)
ROWS: dict[str, tuple[dict[str, Any], float | None]] = {
    "cache": ({"model": _CACHE}, None),
    "xnnpack": ({"model": _CACHE, "backend": _XNNPACK}, None),
    "custom_sdpa": ({"model": _OPERATORS}, None),
    "quantized_cache": ({"model": {**_CACHE, "quantize_kv_cache": True}}, 50.0),
    "quantized_cache_sdpa": ({"model": {**_OPERATORS, "quantize_kv_cache": True}}, 50.0),
    "8da4w": (
        {
            "model": _OPERATORS,
            "quantization": _FEW_BITS,
            "backend": {"xnnpack": {"enabled": True}},
        },
        30.0,
    ),
    "local_global": ({"model": {**_OPERATORS, "local_global_attention": [16, 0]}}, None),
}


@dataclass(frozen=True)
class Case:
    theirs: Path
    ours: Path
    theirs_there: Path
    ours_there: Path

    @staticmethod
    def logits(results: list[Any]) -> torch.Tensor:
        return torch.cat([result[0] for result in results])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("checkpoint")
    torch.manual_seed(4)
    model = construct_transformer(ModelArgs(**SHAPE, max_seq_len=32, max_context_len=32))
    torch.save(model.state_dict(), folder / "consolidated.00.pth")
    (folder / "params.json").write_text(json.dumps(SHAPE))
    return {
        "model_class": "llama3_2",
        "checkpoint": str(folder / "consolidated.00.pth"),
        "params": str(folder / "params.json"),
    }


@pytest.fixture(scope="module")
def cases(
    checkpoint: dict, tmp_path_factory: pytest.TempPathFactory, version: str
) -> dict[str, Case]:
    """Each option exported on both sides, and both files run there, in one process of the peer."""
    folder = tmp_path_factory.mktemp("files")
    found, jobs = {}, []
    for name, (groups, _) in ROWS.items():
        case = Case(*(folder / f"{name}-{end}" for end in ("t.pte", "o.pte", "t.out", "o.out")))
        tree = {"base": checkpoint, **groups}
        ours = build({**tree, "export": {**LENGTHS, "output_name": str(case.ours)}})
        export_llama(ours)
        jobs.append(peer.export_llm_job({**tree, "export": LENGTHS}, case.theirs))
        jobs.append(peer.run_job(case.theirs, CALLS, case.theirs_there, llm=True))
        jobs.append(peer.run_job(case.ours, CALLS, case.ours_there, llm=True))
        found[name] = case
    peer.do(jobs, folder, version)
    return found


def agree(found: torch.Tensor, expected: torch.Tensor, decibels: float | None) -> None:
    if decibels is None:
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    else:  # a value at the edge of two codes may fall to the other side
        assert compute_error(expected, found) > decibels


@pytest.mark.req("LLM-006", "KS-007")
@pytest.mark.parametrize("name", ROWS)
def test_their_language_model_runs_here(name: str, cases: dict[str, Case]) -> None:
    case, decibels = cases[name], ROWS[name][1]
    expected = Case.logits(torch.load(peer.result(case.theirs_there), weights_only=True))
    found = Case.logits(run_in_python(peer.result(case.theirs), CALLS))
    agree(found, expected, decibels)


@pytest.mark.req("LLM-006", "KS-007")
@pytest.mark.parametrize("name", ROWS)
def test_our_language_model_runs_there(name: str, cases: dict[str, Case]) -> None:
    case, decibels = cases[name], ROWS[name][1]
    expected = Case.logits(run_in_python(case.ours, CALLS))
    found = Case.logits(torch.load(peer.result(case.ours_there), weights_only=True))
    agree(found, expected, decibels)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row[1] is None])
def test_both_compute_the_same(name: str, cases: dict[str, Case]) -> None:
    sides = (cases[name].theirs, cases[name].ours)
    theirs, ours = (Case.logits(run_in_python(peer.result(side), CALLS)) for side in sides)
    agree(ours, theirs, None)


def test_our_files_are_not_larger(cases: dict[str, Case]) -> None:
    for name, case in cases.items():
        theirs = peer.result(case.theirs).stat().st_size
        assert case.ours.stat().st_size <= 1.02 * theirs, name
