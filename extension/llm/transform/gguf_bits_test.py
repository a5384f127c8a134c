# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files whose own bits are kept: rows of embeddings exactly, linear layers but for their inputs' 8 bits."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from executorch.extension.llm.checkpoint.blocks import BLOCK_FORMATS
from executorch.extension.llm.checkpoint.checkpoint_test import write_gguf
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.transform.gguf_bits import _coded, _coded_pairs
from executorch.runtime import Runtime

OPTIONS = ("base.model_class=smollm2", "quantization.qmode=gguf", "model.use_kv_cache=True")


@pytest.mark.parametrize(
    "form", [f for f in BLOCK_FORMATS.values() if f.parts], ids=lambda f: f.name
)
def test_codes_scales_and_minima_are_the_blocks(form) -> None:
    class File:
        """One tensor of random blocks."""

        blocks = np.random.default_rng(0).integers(0, 256, (12, form.bytes)).astype(np.uint8)
        tensors = {"w": type("T", (), {"format": form, "shape": (3, 4 * form.numbers)})}

        def raw(self, name: str) -> np.ndarray:
            return self.blocks

    with np.errstate(all="ignore"):
        expected = torch.from_numpy(form.dequantize(File.blocks)).reshape(3, -1)
    ((_, joined),) = _coded_pairs(File(), form.code_bits)
    coded = _coded(joined, expected.shape[1], form.code_bits)
    middle = 1 << form.code_bits - 1
    assert coded.codes.int().min() >= -middle and coded.codes.int().max() < middle
    found = coded.codes.float().reshape(3, -1, coded.group) * coded.scales.unsqueeze(-1)
    if coded.added is not None:
        found = found + coded.added.unsqueeze(-1)
    found = found.reshape(3, -1)
    whole = expected.isfinite() & found.isfinite()
    assert whole.float().mean() > 0.7
    size = coded.scales.abs().repeat_interleave(coded.group, 1)[whole] * 2 * middle
    assert ((found - expected)[whole].abs() <= 1e-5 * (size + expected[whole].abs())).all()


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
    assert program.stat().st_size < 2 * held + 40_000


def test_what_cannot_go_together_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"qmode=gguf keeps .* base\.checkpoint, found random"):
        export_llama(read(None, [*OPTIONS, "base.checkpoint=random"]))
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    with pytest.raises(ValueError, match="leave out quantization.embedding_quantize"):
        words = [*OPTIONS, f"base.checkpoint={path}", "quantization.embedding_quantize='4,32'"]
        export_llama(read(None, words))
