# SPDX-License-Identifier: BSD-3-Clause
"""Images and sound through the runner in Python: a small program answers what its modules answer in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from executorch.extension.llm.runner import (
    GenerationConfig,
    MultimodalInput,
    MultimodalRunner,
    generate_hf,
    generate_text_hf,
    make_audio_input,
    make_image_input,
    make_text_input,
    make_token_input,
)
from executorch.extension.llm.runner.test import tiny_multimodal
from executorch.extension.llm.runner.test.tiny_llama import VOCABULARY, TinyLlama
from executorch.extension.llm.runner.test.tiny_multimodal import AUDIO, IMAGE, Model

IMAGE_ID = 300


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return tiny_multimodal.make(tmp_path_factory.mktemp("multimodal") / "model.pte")


@pytest.fixture
def runner(model: Model, llama: TinyLlama) -> MultimodalRunner:
    return MultimodalRunner(model.program, llama.tokenizer)


def greedy(count: int, **more: Any) -> GenerationConfig:
    return GenerationConfig(
        temperature=0, max_new_tokens=count, ignore_eos=True, silent=True, echo=False, **more
    )


@torch.no_grad()
@pytest.mark.req("LLM-047")
def test_inputs_of_all_kinds_answer_as_eager(
    model: Model, llama: TinyLlama, runner: MultimodalRunner
) -> None:
    text, later = "The quick", " fox?"
    inputs = [
        make_text_input(text),
        make_image_input(IMAGE),
        make_audio_input(AUDIO),
        make_text_input(later),
    ]
    embeddings = [
        model.ids(llama.encode(text)),
        model.vision(IMAGE[None]),
        model.audio(AUDIO),
        model.ids(llama.encode(later)),
    ]
    expected = llama.decode(model.greedy(embeddings, 12))
    assert runner.generate_text(inputs, greedy(12)) == expected
    runner.reset()
    runner.prefill(inputs[:2])
    pieces: list[str] = []
    runner.generate(inputs[2:], greedy(12), pieces.append)
    assert "".join(pieces) == expected
    # each input counts
    runner.reset()
    assert runner.generate_text(inputs[:1] + inputs[2:], greedy(12)) != expected


@torch.no_grad()
@pytest.mark.req("LLM-047")
def test_inputs_of_transformers_processors(
    model: Model, llama: TinyLlama, runner: MultimodalRunner
) -> None:
    from transformers.feature_extraction_utils import BatchFeature

    ids = [5, 6, IMAGE_ID, IMAGE_ID, 7]
    batch = BatchFeature({"input_ids": torch.tensor([ids]), "pixel_values": IMAGE[None]})
    expected = llama.decode(
        model.greedy([model.ids([5, 6]), model.vision(IMAGE[None]), model.ids([7])], 6)
    )
    assert generate_text_hf(runner, batch, greedy(6), IMAGE_ID) == expected
    runner.reset()
    pieces: list[str] = []
    generate_hf(runner, batch, greedy(6), IMAGE_ID, pieces.append)
    assert "".join(pieces) == expected
    runner.reset()
    alone = BatchFeature({"input_ids": torch.tensor([5, 6])})
    assert runner.generate_text_hf(alone, greedy(6)) == llama.decode(
        model.greedy([model.ids([5, 6])], 6)
    )
    with pytest.raises(RuntimeError, match="expected image_token_id, found None"):
        generate_hf(runner, batch, greedy(1))
    with pytest.raises(RuntimeError, match="token 9 in input_ids, found none"):
        generate_hf(runner, batch, greedy(1), 9)
    with pytest.raises(RuntimeError, match="found several"):
        twice = {"input_ids": torch.tensor([[1, 2, 1]]), "pixel_values": IMAGE[None]}
        generate_hf(runner, BatchFeature(twice), greedy(1), 1)
    with pytest.raises(RuntimeError, match=r"expected a tensor \(L,\) or \(1, L\)"):
        generate_hf(runner, BatchFeature({"input_ids": torch.ones(2, 2)}), greedy(1))
    with pytest.raises(RuntimeError, match="expected a BatchFeature or a list of MultimodalInput"):
        generate_hf(runner, ["text"], greedy(1))


def test_wrong_inputs_are_told(model: Model, llama: TinyLlama, runner: MultimodalRunner) -> None:
    with pytest.raises(RuntimeError, match="Expected an input, got none"):
        runner.generate([], greedy(1))
    with pytest.raises(RuntimeError, match="expected values of dtype 6, got 0"):
        runner.generate([make_image_input(torch.ones(3, 8, 8, dtype=torch.uint8))], greedy(1))
    with pytest.raises(RuntimeError, match="Input 1 of 2"):
        runner.prefill([make_text_input("x"), make_image_input(IMAGE[:, :4])])
    runner.reset()
    with pytest.raises(RuntimeError, match="No token may be generated|failed"):
        runner.generate([make_token_input([5] * 32)] * 2, greedy(1))
    with pytest.raises(RuntimeError, match="Failed to create multimodal runner with model: /nowh"):
        MultimodalRunner("/nowhere.pte", llama.tokenizer)
    assert repr(runner) == "<MultimodalRunner>" and runner.get_vocab_size() == VOCABULARY
    assert isinstance(make_text_input("x"), MultimodalInput)
