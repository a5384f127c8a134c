# SPDX-License-Identifier: BSD-3-Clause
"""A language model that upstream's export_llm wrote keeps its logits: 8da4w on XNNPACK, a 4-bit embedding, a cache of
8 bits and llama::custom_quantized_sdpa (README.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.runtime import Runtime

# What upstream's wheel 1.4.1 computes after each of the three calls.
LOGITS = [
    [
        0.8351,
        0.58006,
        0.30143,
        0.20156,
        -0.16419,
        0.78217,
        -0.59783,
        0.08456,
        0.65562,
        0.15085,
        0.16398,
        -0.12256,
        1.10414,
        -0.21666,
        -0.37174,
        0.04768,
    ],
    [
        -0.30237,
        0.34591,
        -0.04597,
        -0.91276,
        0.63258,
        0.27635,
        0.07112,
        -0.62374,
        -0.06489,
        -1.05843,
        -0.16334,
        -0.70274,
        -0.24647,
        -0.0016,
        -0.90423,
        -0.16603,
    ],
    [
        -0.03628,
        0.29274,
        0.36159,
        -1.13661,
        0.45785,
        -0.69144,
        -0.90312,
        -0.5486,
        -0.39256,
        0.57493,
        0.38696,
        -0.21142,
        0.53462,
        -0.20113,
        0.48934,
        -1.02668,
    ],
]
CALLS = [([5, 1, 3], 0), ([9], 3), ([4], 4)]


@pytest.mark.req("RT-005", "LLM-006", "LLM-007", "LLM-008", "LLM-009")
def test_upstreams_language_model_runs() -> None:
    path = Path(__file__).parent / "llama_8da4w_1_4_1.pte"
    method = Runtime.get().load_program(path).load_method("forward")
    for (tokens, start), expected in zip(CALLS, LOGITS, strict=True):
        found = method.execute([torch.tensor([tokens]), torch.tensor([start])])[0][0]
        # an activation at the edge of two of 256 codes may fall to the other side
        torch.testing.assert_close(found, torch.tensor(expected), rtol=0, atol=0.02)
