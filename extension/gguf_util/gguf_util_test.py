# SPDX-License-Identifier: BSD-3-Clause
"""A GGUF file of a Llama becomes a program with the logits of its weights."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest
import torch

from executorch.extension.gguf_util import convert_main
from executorch.extension.gguf_util.converter import convert_to_pte
from executorch.extension.gguf_util.converters.llama_converter import (
    _convert_gguf_tensor_name_to_llama_nn as converted,
)
from executorch.extension.gguf_util.load_gguf import load_file
from executorch.extension.llm.checkpoint.checkpoint_test import write_gguf
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.runtime import Runtime

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


@pytest.mark.req("EXT-030")
@pytest.mark.parametrize("name", ["F32", "Q8_0"])
@torch.no_grad()
def test_a_file_becomes_a_program(name: str, tmp_path: Path) -> None:
    path, original = write_gguf(tmp_path, gguf.GGMLQuantizationType[name])
    out = tmp_path / "model.pte"
    convert_main.main(["--gguf_file", str(path), "--pte_file", str(out)])
    found = Runtime.get().load_program(out).load_method("forward").execute([TOKENS])[0]
    original.generate_full_logits = True
    torch.testing.assert_close(found, original(TOKENS), rtol=1e-4, atol=1e-5)


def test_what_a_file_holds(tmp_path: Path) -> None:
    path, original = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q8_0)
    args, weights = load_file(str(path))
    assert args.arch == "llama"
    assert args.embedding_length == original.params.dim
    assert args.attention.head_count_kv == original.params.n_kv_heads
    by_name = {tensor.name: tensor for tensor in weights.tensors}
    query = by_name["blk.1.attn_q.weight"]
    assert query.tensor_type == "Q8_0"
    assert converted(query.name) == "layers.1.attention.wq.weight"
    torch.testing.assert_close(query.read(), original.layers[1].attention.wq.weight.detach())
    assert query.shape == tuple(original.layers[1].attention.wq.weight.shape)


def test_what_cannot_be_converted_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.F32)
    args, weights = load_file(str(path))
    with pytest.raises(CheckpointError, match="blk.0.bias"):
        converted("blk.0.bias")
    weights.tensors = [each for each in weights.tensors if each.name != "blk.0.ffn_up.weight"]
    with pytest.raises(CheckpointError, match="layers.0.feed_forward.w3.weight"):
        convert_to_pte(args, weights)
    args.arch = "mamba"
    with pytest.raises(NotImplementedError, match="mamba.*export_llm"):
        convert_to_pte(args, weights)
    corrupted = tmp_path / "corrupted.gguf"
    corrupted.write_bytes(path.read_bytes()[:500])
    with pytest.raises(SystemExit) as ended:
        convert_main.main(["--gguf_file", str(corrupted), "--pte_file", str(tmp_path / "no.pte")])
    assert "corrupted.gguf" in str(ended.value) and not (tmp_path / "no.pte").exists()
