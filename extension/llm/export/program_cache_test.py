# SPDX-License-Identifier: BSD-3-Clause
"""A checkpoint's program is exported once, and again when the checkpoint or an option is another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gguf
import pytest

from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.tokenizer import chat_settings
from executorch.extension.llm.export import companions, program_cache
from executorch.extension.llm.runner import TextLLMRunner
from executorch.extension.llm.runner.test import tiny_llama


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Hugging Face."""
    folder = tmp_path_factory.mktemp("checkpoint") / "tiny"
    folder.mkdir()
    tiny_llama.make(folder)
    for program in folder.glob("*.pte"):
        program.unlink()
    return folder


def test_a_checkpoint_is_exported_once(checkpoint: Path, tmp_path: Path) -> None:
    first = program_cache.program_of(checkpoint, kept=tmp_path)
    assert first.name == "tiny" and first.path == first.tokenizer / "tiny.pte"
    settings = json.loads((first.tokenizer / "tokenizer_config.json").read_text())
    assert settings["chat_template"] == tiny_llama.TEMPLATE
    written = first.path.stat().st_mtime_ns
    assert program_cache.program_of(checkpoint, kept=tmp_path) == first
    assert first.path.stat().st_mtime_ns == written
    other = program_cache.program_of(
        checkpoint, ["export.max_seq_length=64", "export.max_context_length=64"], tmp_path
    )
    assert other.path != first.path
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_dir()) == sorted(
        [first.tokenizer.name, other.tokenizer.name]
    )


def test_a_folders_weights_may_have_a_budget(
    checkpoint: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    floats = program_cache.program_of(checkpoint, kept=tmp_path)
    assert "weights stay floats; -x quantization.budget=" in capfd.readouterr().err
    fewer = program_cache.program_of(checkpoint, ["quantization.budget='perplexity +3%'"], tmp_path)
    output = capfd.readouterr().err
    assert "weights stay floats" not in output and "tiny.budget.md, beside the program" in output
    assert (fewer.tokenizer / "tiny.budget.md").is_file()
    assert fewer.path.stat().st_size < 0.8 * floats.path.stat().st_size


def test_programs_do_not_wait_for_torch(checkpoint: Path, tmp_path: Path) -> None:
    """Importing it takes longer than reading a program and writing the first token."""
    options = ["export.max_seq_length=64", "export.max_context_length=64"]
    made = program_cache.program_of(checkpoint, options, tmp_path / "kept")
    (tmp_path / "torch.py").write_text("raise AssertionError('torch was imported')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {"PYTHONPATH": path, "EXECUTORCH_CACHE_DIR": str(tmp_path / "kept")}
    asked = ["-p", "Hi", "--max-new-tokens=3", *(w for option in options for w in ("-x", option))]
    for model in (checkpoint, made.path):
        done = subprocess.run(
            [sys.executable, "-m", "executorch", "chat", model, *asked],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ | environment,
        )  # fmt: skip
        assert done.returncode == 0 and "3 tokens" in done.stderr, done.stderr


def test_one_file_is_enough(checkpoint: Path, tmp_path: Path) -> None:
    made = program_cache.program_of(checkpoint, kept=tmp_path / "made")
    alone = tmp_path / "alone" / "model.pte"
    alone.parent.mkdir()
    shutil.copy(made.path, alone)
    found = program_cache.program_of(alone, kept=tmp_path / "kept")
    names = {each.name for each in checkpoint.iterdir()} & set(companions.NAMES)
    assert {"tokenizer.json", "tokenizer_config.json"} <= names
    assert {each.name for each in found.tokenizer.iterdir()} == names
    for name in names:
        assert (found.tokenizer / name).read_bytes() == (checkpoint / name).read_bytes()
    written = found.tokenizer.stat().st_mtime_ns
    again = program_cache.program_of(alone, kept=tmp_path / "kept")
    assert again == found and again.tokenizer.stat().st_mtime_ns == written
    message = TextLLMRunner(found.path, found.tokenizer).encode("a b")
    assert message == TextLLMRunner(made.path, made.tokenizer).encode("a b")


def test_a_tokenizer_may_stay_beside_the_program(checkpoint: Path, tmp_path: Path) -> None:
    options = ["export.tokenizer_in_program=False"]
    made = program_cache.program_of(checkpoint, options, tmp_path / "made")
    assert companions.read_companions(made.path) == {}
    shutil.copy(made.path, tmp_path / "alone.pte")
    with pytest.raises(FileNotFoundError, match="no tokenizer beside"):
        program_cache.program_of(tmp_path / "alone.pte", kept=tmp_path / "kept")


@pytest.mark.parametrize("content", [b"", b"no program", b"\0" * 64])
def test_what_is_no_program_says_so(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.pte").write_bytes(content)
    with pytest.raises(ValueError, match="expected"):
        program_cache.program_of(tmp_path / "m.pte", kept=tmp_path / "kept")


def test_all_tokens_that_end_an_answer_are_known() -> None:
    settings = {"generation_config.json": b'{"eos_token_id": [5, 2, 5]}'}
    assert companions.stop_tokens(settings, None) == [5, 2]
    assert companions.stop_tokens({}, None) == []
    ends = {"eos_token_id": 7, "eot_token_id": 9, "eom_token_id": 7}
    metadata = {f"tokenizer.ggml.{name}": number for name, number in ends.items()}
    assert companions.stop_tokens({}, SimpleNamespace(metadata=metadata)) == [7, 9]


def test_bytes_decide_and_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"one")
    first = program_cache._known_digest(model, tmp_path / "kept")
    with monkeypatch.context() as patch:
        patch.setattr(program_cache, "_digest_of_file", lambda path: pytest.fail("read again"))
        assert program_cache._known_digest(model, tmp_path / "kept") == first
    model.write_bytes(b"two")
    os.utime(model, ns=(1, 1))
    assert program_cache._known_digest(model, tmp_path / "kept") != first


def test_the_contexts_are_the_checkpoints_up_to_the_memory(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    length, shape = program_cache._length_and_shape(checkpoint)
    assert length == tiny_llama.CONTEXT
    # 2 layers of 2 heads of 16: 512 bytes a token in floats; a quarter of 1 MiB is 512 tokens
    monkeypatch.setattr(program_cache, "_memory", lambda: 1 << 20)
    rows = {
        (4, 4096, 8): (512, 1),
        (2, 4096, 8): (1024, 1),
        (4, 128, 8): (128, 4),
        (4, 128, 2): (128, 2),
    }
    for (size, wanted, sessions), expected in rows.items():
        assert program_cache.caches_for(shape, size, wanted, sessions) == expected
    monkeypatch.setattr(program_cache, "_memory", lambda: 1 << 10)
    assert program_cache.caches_for(shape, 4, 4096, 8) == (128, 1), "never less"


@pytest.mark.parametrize("shape, expected", [
    ({}, True), ({"layer_types": ["full_attention", "conv"]}, False), ({"attn_logit_softcapping": 50.0}, False),
    ({"layer_types": ["sliding_attention"], "sliding_window": 64}, False),
    ({"layer_types": ["sliding_attention"], "sliding_window": 128}, True)])  # fmt: skip
def test_several_answers_at_once_are_for_layers_that_see_all(shape: dict, expected: bool) -> None:
    assert program_cache.serves_sessions(shape, 128) == expected


@pytest.mark.parametrize("option, sessions", [
    ("debug.verbose=False", 3), ("model.quantize_kv_cache=True", 1), ("export.max_sessions=2", 3)])  # fmt: skip
def test_a_server_gets_a_program_of_several_sessions(
    checkpoint: Path, option: str, sessions: int
) -> None:
    """Where the other options allow it; the user's come last and win."""
    assert program_cache._options(checkpoint, [option], 3)[-1] == f"export.max_sessions={sessions}"
    assert program_cache._options(checkpoint, [option], 1)[-1] == "export.max_sessions=1"


@pytest.mark.parametrize("options, size", [([], 4), (["model.kv_cache_dtype=fp16"], 2),
    (["model.dtype_override=bf16"], 2), (["model.quantize_kv_cache=True"], 1)])  # fmt: skip
def test_the_memory_of_caches_is_that_of_their_numbers(options: list[str], size: int) -> None:
    given = ["model.use_kv_cache=True", "model.use_sdpa_with_kv_cache=True"]
    assert program_cache._bytes_of_a_key([*given, *options]) == size


def test_a_gguf_files_caches_are_of_half_the_memory(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    words = [
        f"base.checkpoint={model}",
        "model.use_kv_cache=True",
        "model.use_sdpa_with_kv_cache=True",
    ]
    assert program_cache._bytes_of_a_key(words) == 2


def test_a_gguf_file_keeps_its_chat_template(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_token_list(["<s>", "</s>", "a"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template("{{ bos_token }}{{ messages[0].content }}")
    writer.add_float32("general.sampling.temp", 0.25)
    writer.add_float32("general.sampling.penalty_repeat", 1.5)
    writer.add_int32("general.sampling.top_k", 20)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert chat_settings(GGUFFile(path)) == {
        "chat_template": "{{ bos_token }}{{ messages[0].content }}",
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
    assert companions._sampling(GGUFFile(path)) == {
        "temperature": 0.25, "repetition_penalty": 1.5, "top_k": 20,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name, message",
    [
        ("missing.gguf", "there is no .*missing.gguf"),
        ("words.txt", "expected a .pte or .gguf file"),
        ("folder", "expected config.json"),
    ],
)
def test_what_is_no_model_is_refused(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a")
    (tmp_path / "folder").mkdir()
    with pytest.raises((OSError, ValueError), match=message):
        program_cache.program_of(tmp_path / name, kept=tmp_path)
