# SPDX-License-Identifier: BSD-3-Clause
"""The detector of speech scores as release 1.4.1 does, and so does its program."""

from __future__ import annotations

import torch

from executorch.examples.models.silero_vad.export_silero_vad import (
    CONTEXT_SIZE,
    HIDDEN_DIM,
    WINDOW_SIZE,
    SileroVAD16k,
)
from executorch.exir import to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


@torch.no_grad()
def test_speech_is_scored_window_by_window() -> None:
    random = torch.Generator().manual_seed(0)
    model = SileroVAD16k().eval()
    for _, parameter in sorted(model.state_dict().items()):
        parameter.copy_(torch.randn(parameter.shape, generator=random) * 0.1)
    state = torch.zeros(2, 1, HIDDEN_DIM)
    samples = CONTEXT_SIZE + WINDOW_SIZE
    exported = torch.export.export(model, (torch.zeros(1, samples), state))
    run = _load_for_executorch_from_buffer(to_edge(exported).to_executorch().buffer)
    # with these weights and windows; the sum of the last state is theirs, too
    for wanted in (0.558934, 0.570665, 0.579034, 0.601741):
        window = torch.randn(1, samples, generator=random)
        found = run.forward((window, state))
        score, state = model(window, state)
        assert abs(score.item() - wanted) < 1e-5
        for one, other in zip(found, (score, state), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    assert abs(state.sum().item() - 11.37278) < 1e-3
