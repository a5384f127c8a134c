# SPDX-License-Identifier: BSD-3-Clause
"""What the bench of language models prints follows from the seconds it was given."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from typing import Any

import pytest
import torch

from executorch.test.e2e.build_tree import binary
from executorch.tools.bench import llm_bandwidth
from executorch.tools.bench.llm import _LOOP, PROMPTS, as_json, row_of, table


def _answer(prefill: float, decode: list[float], load: float = 9.0) -> dict[str, object]:
    return {"prefill": prefill, "decode": decode, "load": load, "resident": 2_000_000}


@pytest.mark.req("LLM-046")
def test_rows_are_medians_over_rounds() -> None:
    answers = {n: [_answer(t, [t / 4, 0.25, t / 4]) for t in (1.0, 4.0, 2.0)] for n in PROMPTS}
    starts = [_answer(2.0, [], load) for load in (0.25, 8.0, 0.5)]
    row = row_of("ours", starts, answers)
    assert row.prefill == {n: n / 2.0 for n in PROMPTS}
    assert row.decode == dict.fromkeys(PROMPTS, 4.0)  # of 0.25 five times, 0.5 twice and 1 twice
    assert row.decodes == dict.fromkeys(PROMPTS, [4.0, 1.0, 2.0])
    assert (row.load, row.first, row.resident) == (0.5, 2.5, 2_000_000)
    (written,) = json.loads(as_json([row]))
    assert written["engine"] == "ours" and written["prefill"]["128"] == 64
    wanted = "| ours | 16 (8-32) | 64 (32-128) | 256 (128-512) | 4 (1-4) | 4 (1-4) | 0.500 | 2.500 | 2 | 2 |"
    assert wanted in table([row])


def test_a_row_says_the_perplexity_where_it_was_asked() -> None:
    answers = {n: [_answer(1.0, [0.25])] for n in PROMPTS}
    row = row_of("ours", [_answer(2.0, [])], answers)
    lines = table([replace(row, perplexity=17.25), replace(row, engine="other")]).splitlines()
    assert lines[0].endswith("| perplexity |") and lines[2].endswith("| 17.25 = |")
    assert lines[3].endswith("|  |")
    rows = [replace(row, perplexity=each) for each in (17.0, 17.16, 17.18)]
    assert [line.split("|")[-2] for line in table(rows).splitlines()[2:]] == [
        *(" 17.00 = ", " 17.16 = ", " 17.18 ")
    ]


def test_the_perplexity_of_a_side_is_that_of_its_logits() -> None:
    scope: dict[str, Any] = {}
    exec(_LOOP, scope)
    tokens, vocabulary = torch.randint(0, 7, (2 * 5 + 3,)).tolist(), torch.randn(7, 7).double()

    def logits(given: list[int], position: int) -> Any:
        return vocabulary[given[0]].numpy()

    windows = torch.tensor(tokens[:10]).view(2, 5)
    rows = vocabulary[windows[:, :-1]].flatten(0, 1)
    expected = torch.nn.functional.cross_entropy(rows, windows[:, 1:].flatten()).exp()
    assert scope["perplexity"](logits, tokens, 5) == pytest.approx(float(expected))


@pytest.mark.parametrize("program", ["read_bandwidth", "llm_steps"])
def test_programs_refuse_what_they_cannot_do(program: str) -> None:
    path = binary(f"tools/bench/{program}")
    wrong = {"read_bandwidth": "--megabytes=0", "llm_steps": "--model_path=missing.pte"}[program]
    done = subprocess.run([path, wrong], capture_output=True, text=True, check=False, input="")
    assert done.returncode == 1
    assert done.stderr


def test_bandwidth_is_measured_for_each_count_of_threads() -> None:
    command = [binary("tools/bench/read_bandwidth"), "--megabytes=4", "--rounds=2"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines and all('"gigabytes_per_second"' in line for line in lines)


def test_shares_of_bandwidth_are_of_the_moment() -> None:
    # 1 GB of weights and 1 MB of cache a token. Memory has 50 GB/s, then 25; where it changes no token counts.
    answer = {"decode": [0.025] * 8 + [0.05] * 4, "read": [0.02] * 8 + [0.04] * 4}
    tokens = list(llm_bandwidth.tokens_of(answer, 10, 1e9, 1e6))
    assert [round(token.bandwidth / 1e9) for token in tokens] == [50] * 4 + [25] * 3
    assert tokens[0].share == pytest.approx((1e9 + 14e6) / 50e9 / 0.025)
    written = llm_bandwidth.table({(10, "model"): tokens}).splitlines()
    assert written[2:] == [
        "| 10 | model | 25.0 | 3 | 50.0 | 0.82 |",
        "| 10 | model | 50.0 | 4 | 25.0 | 0.81 |",
    ]
