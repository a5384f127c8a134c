# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files whose quantization is kept: rows of embeddings exactly, linear layers but for their inputs' 8 bits."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.schema import KernelCall
from executorch.extension.llm.checkpoint.checkpoint_test import write_gguf
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.custom_ops.blocks_test import HALVES, blocks
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.export.pipeline import as_config, export_llama
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS
from executorch.extension.llm.quantization.blocks import BlockLinear
from executorch.runtime import Runtime

OPTIONS = ("base.model_class=smollm2", "model.use_kv_cache=True")
NAMES = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL")
RARE = tuple(name for name in HALVES if name not in NAMES)
OWN_BITS = "quantization.qmode=gguf"


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
    # of each of two layers q, k, v and gate, up are one call
    assert _calls(program, "llama::linear_of_blocks") == 2 * 4 + 1


# two layers of 4 products each and the output's add the rounding of 8 bits 9 times: with a unit's largest number at
# 2.5 times its mean, 10 log10(9 / (12 (127 / 2.5)^2)) is -35 dB; 16 bits are 127^2 times as fine
@pytest.mark.req("LLM-008")
@pytest.mark.parametrize(("bits", "noise"), [(8, -30), (16, -70)])
@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(n, marks=pytest.mark.full) for n in RARE)])
def test_every_block_format_is_the_default_of_its_file(
    name: str, bits: int, noise: float, tmp_path: Path
) -> None:
    kind = gguf.GGMLQuantizationType[name]
    path, original = write_gguf(tmp_path, kind, drawn, dim=256, hidden_dim=512)
    words = [*OPTIONS, f"base.checkpoint={path}", f"export.output_name={tmp_path / 'm.pte'}"]
    words += ["model.use_sdpa_with_kv_cache=True"]
    # caches of fp16, the default, round at 2^-12 of a number: -72 dB, as coarse as the bound of 16 bits
    if bits == 16:
        words += ["quantization.activation_bits=16", "model.kv_cache_dtype=fp32"]
    program = Path(export_llama(read(None, words)))
    assert _calls(program, "llama::linear_of_blocks") == 2 * 4 + 1
    tokens = torch.tensor([[3, 5, 90, 17, 17, 2]])
    method = Runtime.get().load_program(program).load_method("forward")
    found = method.execute([tokens, torch.tensor([0])])[0].clone()
    one = torch.cat(  # by the kernels of single rows
        [
            method.execute([tokens[:, i : i + 1].clone(), torch.tensor([i])])[0].clone()
            for i in range(6)
        ]
    )[-1:]
    expected = original(tokens)
    for logits in (found, one.reshape(found.shape)):
        off = (logits - expected).pow(2).mean() / expected.pow(2).mean()
        assert 10 * torch.log10(off) < noise


def drawn(matrix: np.ndarray, kind: gguf.GGMLQuantizationType) -> np.ndarray:
    """Random blocks, whatever the matrix holds, of numbers as large as a layer's are at its start."""
    rows, columns = matrix.shape
    raw = blocks(kind.name, rows, columns, seed=rows + columns)
    size = BLOCK_FORMATS[kind].dequantize(raw).std() * columns**0.5
    for at in HALVES[kind.name]:
        halves = raw[:, at : at + 2].copy().view(np.float16) / size
        raw[:, at : at + 2] = halves.astype(np.float16).view(np.uint8)
    return raw.reshape(rows, -1)


def _calls(program: Path, operator: str) -> int:
    plan = deserialize_pte_binary(program.read_bytes()).program.execution_plan[0]
    names = [each.name for each in plan.operators]
    calls = [each.instr_args for each in plan.chains[0].instructions]
    return sum(names[c.op_index] == operator for c in calls if isinstance(c, KernelCall))


def _exported(folder: Path, *words: str) -> Path:
    path, _ = write_gguf(folder, gguf.GGMLQuantizationType.Q4_0)
    given = [*OPTIONS, f"base.checkpoint={path}", f"export.output_name={folder / 'm.pte'}", *words]
    return Path(export_llama(read(None, given)))


@pytest.mark.parametrize(
    ("words", "kept", "is_reported"),
    [
        ((), True, False),
        (("backend.xnnpack.enabled=True",), True, False),
        (("quantization.qmode=float",), False, False),
        (("quantization.qmode=8da4w", "quantization.group_size=32"), False, True),
        (("quantization.embedding_quantize='4,32'",), False, True),
    ],
)
def test_other_bits_are_for_who_asks(
    words: tuple[str, ...],
    kept: bool,
    is_reported: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    program = _exported(tmp_path, *words)
    assert (b"llama::linear_of_blocks" in program.read_bytes()) == kept
    assert "claimed no node" not in caplog.text, "blocks are not XNNPACK's, and nothing is wrong"
    assert ("its blocks are quantized once more" in capsys.readouterr().out) == is_reported


@pytest.mark.parametrize(("bits", "noise"), [(8, -30), (16, -70)])
def test_activations_have_as_many_bits_as_asked_for(bits: int, noise: int, tmp_path: Path) -> None:
    path, original = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    words = [*OPTIONS, f"base.checkpoint={path}", f"export.output_name={tmp_path / 'm.pte'}"]
    program = export_llama(read(None, [*words, f"quantization.activation_bits={bits}"]))
    tokens = torch.tensor([[3, 5, 90, 17, 17, 2]])
    method = Runtime.get().load_program(program).load_method("forward")
    found = method.execute([tokens, torch.tensor([0])])[0]
    expected = original(tokens)
    found = 10 * torch.log10((found - expected).pow(2).mean() / expected.pow(2).mean())
    assert found < noise
    with pytest.raises(ValueError, match="activation_bits=16 is of a GGUF file's quantization"):
        asked = ("quantization.activation_bits=16", "quantization.qmode=float")
        export_llama(read(None, [*words, *asked]))


def test_what_one_token_of_a_prompt_passes_has_16_bits(tmp_path: Path) -> None:
    """All that is behind the last attention: it costs no prompt any time."""
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    model = load_model(as_config(read(None, [*OPTIONS, f"base.checkpoint={path}"]))).model
    bits = {n: each.bits for n, each in model.named_modules() if isinstance(each, BlockLinear)}
    fine = {f"layers.1.feed_forward.w{i}" for i in (1, 2, 3)} | {"output"}
    assert len(bits) == 2 * 7 + 1
    assert bits == {name: 16 if name in fine else 8 for name in bits}


@pytest.mark.parametrize(
    ("words", "dtype"),
    [
        ((), "fp16"),
        (("quantization.qmode=gguf",), "fp16"),
        (("model.kv_cache_dtype=fp32",), "fp32"),
        (("model.quantize_kv_cache=True",), "None"),
        (("quantization.qmode=float",), "None"),
    ],
)
def test_caches_take_half_the_memory_beside_own_bits(
    words: tuple[str, ...], dtype: str, tmp_path: Path
) -> None:
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    given = [*OPTIONS, f"base.checkpoint={path}", "model.use_sdpa_with_kv_cache=True", *words]
    assert str(as_config(read(None, given)).model.kv_cache_dtype) == dtype
    refused = [*OPTIONS, f"base.checkpoint={path}", "model.kv_cache_dtype=fp16"]
    with pytest.raises(ValueError, match="needs model.use_sdpa_with_kv_cache"):
        as_config(read(None, refused))


def test_what_cannot_go_together_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"qmode=gguf keeps .* base\.checkpoint, found random"):
        export_llama(read(None, [*OPTIONS, OWN_BITS, "base.checkpoint=random"]))
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    with pytest.raises(ValueError, match="leave out quantization.embedding_quantize"):
        words = [
            *OPTIONS,
            OWN_BITS,
            f"base.checkpoint={path}",
            "quantization.embedding_quantize='4,32'",
        ]
        export_llama(read(None, words))


def test_matrices_in_blocks_are_never_floats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = write_gguf(tmp_path, gguf.GGMLQuantizationType.Q4_0)
    read_as_floats = []
    read_tensor = GGUFFile.read
    monkeypatch.setattr(
        GGUFFile, "read", lambda file, name: read_as_floats.append(name) or read_tensor(file, name)
    )
    model = load_model(as_config(read(None, [*OPTIONS, f"base.checkpoint={path}"]))).model
    tensors = GGUFFile(path).tensors
    matrices = [
        name for name in tensors if len(tensors[name].shape) == 2 and tensors[name].format.fields
    ]
    assert matrices and not set(matrices) & set(read_as_floats)
    assert len(read_as_floats) + len(matrices) == len(tensors)
    assert not any(value.is_meta for value in (*model.parameters(), *model.buffers()))
