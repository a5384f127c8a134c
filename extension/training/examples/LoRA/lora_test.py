# SPDX-License-Identifier: BSD-3-Clause
"""An adapter that learns on the runtime: step for step as in eager PyTorch, then data of an inference program."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.extension.llm.model.transformer import Transformer
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.extension.training.examples.LoRA.export_model import (
    TOKENS,
    inference_program,
    training_program,
)
from executorch.extension.training.examples.LoRA.model import NextToken, small_language_model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from executorch.extension.training.examples.LoRA.finetune import finetune

pytestmark = pytest.mark.filterwarnings("ignore:This API is experimental")
TEXT = (
    b"A language model learns this sentence by heart, word for word, and then it says it again. "
    * 3
)


def eager_losses(model: Transformer, steps: int) -> list[float]:
    """Of the same text in the same order; the model keeps what it learned."""
    tokens = torch.tensor(list(TEXT))
    windows = len(tokens) // (TOKENS + 1)
    adapter = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(adapter, lr=1e-2, weight_decay=0.0)
    losses = []
    for step in range(steps):
        start = step % windows * (TOKENS + 1)
        optimizer.zero_grad()
        loss = NextToken(model)(tokens[None, start : start + TOKENS + 1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.req("EXT-031", "RT-048", "RT-008")
@pytest.mark.parametrize("steps", [10, pytest.param(100, marks=pytest.mark.full)])
def test_an_adapter_learns_as_in_eager_and_serves_an_inference_program(
    steps: int, tmp_path: Path
) -> None:
    model = small_language_model()
    frozen = sum(p.numel() for p in model.parameters() if not p.requires_grad)
    program = training_program(model)
    plan = program.executorch_program.execution_plan[0]
    names = [
        value.val.string_val
        for each in program.executorch_program.execution_plan
        if each.name == "__et_training_fqn_forward"
        for value in each.values
    ]
    assert names
    assert all("lora_" in name for name in names), "the base has no gradients"
    constants = sum(len(buffer.storage) for buffer in program.executorch_program.constant_buffer)
    assert constants >= 4 * frozen, "and is no part of the memory that is written"
    assert plan.name == "forward"

    program.save(tmp_path / "train.pte")
    found = finetune(tmp_path / "train.pte", TEXT, tmp_path / "adapter.ptd", steps)
    trained = copy.deepcopy(model)
    expected = eager_losses(trained, steps)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert found[-1] < 0.95 * found[0]

    inference_program(model).save(tmp_path / "lora.pte")
    runner = _load_for_executorch(str(tmp_path / "lora.pte"), str(tmp_path / "adapter.ptd"))
    tokens = torch.tensor(list(TEXT[:TOKENS]))[None]
    (logits,) = runner.forward((tokens,))
    with torch.no_grad():
        torch.testing.assert_close(logits, trained(tokens), rtol=1e-3, atol=1e-3)
        assert not torch.allclose(logits, model(tokens), rtol=1e-2, atol=1e-2)


def test_a_text_that_is_too_short_is_refused(tmp_path: Path) -> None:
    training_program(small_language_model()).save(tmp_path / "train.pte")
    with pytest.raises(ValueError, match="expected a text of 33 bytes or more, found 5"):
        finetune(tmp_path / "train.pte", TEXT[:5], tmp_path / "adapter.ptd")
