# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files whose own bits are kept: rows of embeddings exactly, linear layers but for their inputs' 8 bits."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest
import torch

from executorch.extension.llm.checkpoint.checkpoint_test import write_gguf
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.pipeline import export_llama
from executorch.runtime import Runtime

OPTIONS = ("base.model_class=smollm2", "quantization.qmode=gguf", "model.use_kv_cache=True")


@pytest.mark.req("LLM-008")
@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_a_program_has_the_files_bits(name: str, tmp_path: Path) -> None:
    path, original = write_gguf(tmp_path, gguf.GGMLQuantizationType[name])
    words = (*OPTIONS, f"base.checkpoint={path}", f"export.output_name={tmp_path / 'm.pte'}")
    program = Path(export_llama(read(None, list(words))))
    method = Runtime.get().load_program(program).load_method("forward")
    tokens = torch.tensor([[3, 5, 90, 17, 17, 2]])
    found = method.execute([tokens, torch.tensor([0])])[0]
    expected = original(tokens)
    noise = (found - expected).pow(2).mean() / expected.pow(2).mean()
    assert 10 * torch.log10(noise) < -30, noise
    held = sum(t.num_bytes for t in open_checkpoint(path).gguf.tensors.values())
    assert program.stat().st_size < 1.06 * held + 40_000


def test_what_cannot_go_together_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"qmode=gguf keeps .* base\.checkpoint, found random"):
        export_llama(read(None, [*OPTIONS, "base.checkpoint=random"]))
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    with pytest.raises(ValueError, match="leave out quantization.embedding_quantize"):
        words = [*OPTIONS, f"base.checkpoint={path}", "quantization.embedding_quantize='4,32'"]
        export_llama(read(None, words))
