# SPDX-License-Identifier: BSD-3-Clause
"""The runner in Python and llama_main: a small Llama writes what transformers writes."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import threading
from pathlib import Path

import pytest
import torch

from executorch.extension.llm.runner import (
    Audio,
    GenerationConfig,
    Image,
    MultimodalInput,
    RawAudio,
    Stats,
    TextLLMRunner,
    make_audio_input,
    make_image_input,
    make_raw_audio_input,
    make_text_input,
    make_token_input,
)
from executorch.extension.llm.runner.test import tiny_llama
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, VOCABULARY, TinyLlama
from executorch.test.e2e import build_tree

PROMPT = "The quick brown fox"


def greedy(max_new_tokens: int, **more: object) -> GenerationConfig:
    return GenerationConfig(
        echo=False, temperature=0, max_new_tokens=max_new_tokens, ignore_eos=True, **more
    )


def text_of(runner: TextLLMRunner, prompt: object, config: GenerationConfig) -> str:
    pieces: list[str] = []
    runner.generate(prompt, config, pieces.append)
    return "".join(pieces)


@pytest.fixture
def runner(llama: TinyLlama) -> TextLLMRunner:
    return TextLLMRunner(llama.program, llama.tokenizer)


@pytest.mark.req("LLM-035", "LLM-036", "LLM-038")
@pytest.mark.parametrize("prompt", [PROMPT, "x", "Zwölf Boxkämpfer 😀", " \n  "])
def test_greedy_tokens_are_those_of_transformers(
    llama: TinyLlama, runner: TextLLMRunner, prompt: str
) -> None:
    ids = llama.encode(prompt)
    assert runner.encode(prompt) == ids
    expected = llama.greedy(ids, 40)
    assert text_of(runner, prompt, greedy(40)) == llama.decode(expected)
    # the last token is shown and not fed
    assert runner.context == ids + expected[:-1]
    assert runner.finish_reason == "length"


@pytest.mark.req("LLM-038")
def test_prompts_are_read_in_pieces_of_what_a_call_takes(llama: TinyLlama) -> None:
    """Memory is planned for 8 tokens; prompts of up to 29 have the answers of prompts read at once."""
    runner = TextLLMRunner(llama.with_calls_of(8), llama.tokenizer)
    assert runner.metadata["get_max_seq_len"] == 9
    for count in (7, 8, 9, 16, 17, 29):
        ids = [(7 * place + 3) % VOCABULARY for place in range(count)]
        expected = llama.greedy(ids, 20)
        runner.reset()
        assert text_of(runner, ids, greedy(20)) == llama.decode(expected), count
        assert runner.context == ids + expected[:-1]


def test_a_second_turn_sees_the_first(llama: TinyLlama, runner: TextLLMRunner) -> None:
    text_of(runner, PROMPT, greedy(5))
    context = runner.context
    second = llama.encode(" jumps")
    expected = llama.greedy(context + second, 8)
    assert text_of(runner, " jumps", greedy(8)) == llama.decode(expected)


def test_ids_are_prompts_and_the_context_can_be_cut(
    llama: TinyLlama, runner: TextLLMRunner
) -> None:
    ids = llama.encode(PROMPT)
    text_of(runner, ids, greedy(6))
    runner.rewind(3)
    assert runner.context == ids[:3]
    expected = llama.greedy(ids[:3] + [40, 41], 6)
    assert text_of(runner, [40, 41], greedy(6)) == llama.decode(expected)
    with pytest.raises(RuntimeError, match="Expected a position from 0 to 10"):
        runner.rewind(11)


def test_an_interrupted_answer_resumes(llama: TinyLlama, runner: TextLLMRunner) -> None:
    whole = llama.decode(llama.greedy(llama.encode(PROMPT), 20))
    begin = text_of(runner, PROMPT, greedy(7))
    assert begin + text_of(runner, "", greedy(13)) == whole


def test_prefill_then_generate(llama: TinyLlama, runner: TextLLMRunner) -> None:
    runner.prefill(PROMPT)
    assert runner.context == llama.encode(PROMPT)
    assert text_of(runner, "", greedy(9)) == llama.decode(llama.greedy(llama.encode(PROMPT), 9))


@pytest.mark.req("LLM-036")
def test_stop_from_another_thread(runner: TextLLMRunner) -> None:
    runner.load()
    seen, enough = [], threading.Event()

    def on_token(piece: str) -> None:
        seen.append(piece)
        if len(seen) == 3:
            enough.set()
        if len(seen) >= 3:
            stopped.wait(10)

    stopped = threading.Event()

    def stop() -> None:
        enough.wait(10)
        runner.stop()
        stopped.set()

    other = threading.Thread(target=stop)
    other.start()
    runner.generate(PROMPT, greedy(100), on_token)
    other.join()
    assert runner.finish_reason == "stopped" and len(seen) <= 4


def test_two_calls_at_once_are_refused(runner: TextLLMRunner) -> None:
    def on_token(piece: str) -> None:
        runner.reset()

    with pytest.raises(RuntimeError, match="The runner is in use: one call at a time"):
        runner.generate(PROMPT, greedy(5), on_token)
    assert text_of(runner, "x", greedy(1)), "and it works again"


def test_an_exception_of_the_callback_ends_it(llama: TinyLlama, runner: TextLLMRunner) -> None:
    def on_token(piece: str) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        runner.generate(PROMPT, greedy(5), on_token)
    runner.reset()
    assert text_of(runner, "x", greedy(4)) == llama.decode(llama.greedy(llama.encode("x"), 4))


def test_a_full_context_ends_the_answer(llama: TinyLlama, runner: TextLLMRunner) -> None:
    ids = [5] * (CONTEXT - 4)
    assert text_of(runner, ids, greedy(-1)) == llama.decode(llama.greedy(ids, 4))
    assert runner.finish_reason == "context_full"
    with pytest.raises(RuntimeError, match="The context is full: expected fewer than 128 tokens"):
        text_of(runner, "x", greedy(1))
    runner.reset()
    with pytest.raises(RuntimeError, match="found 0 in it and 128 in the prompt"):
        text_of(runner, [5] * CONTEXT, greedy(1))
    assert runner.context == []


def test_an_empty_prompt_without_a_beginning_is_refused(runner: TextLLMRunner) -> None:
    with pytest.raises(RuntimeError, match="An empty prompt has nothing to go on from"):
        runner.generate("", greedy(3))
    with pytest.raises(RuntimeError, match="An empty prompt has nothing to go on from"):
        runner.generate([], greedy(3))


def test_sampling_follows_its_seed(runner: TextLLMRunner) -> None:
    def sampled(**options: object) -> str:
        runner.reset()
        config = GenerationConfig(echo=False, temperature=1, max_new_tokens=20, **options)
        return text_of(runner, PROMPT, config)

    assert sampled(seed=1) == sampled(seed=1)
    assert sampled(seed=0) == sampled(seed=0)
    assert len({sampled(seed=seed, top_p=1.0) for seed in range(6)}) == 6
    assert sampled() != sampled(), "without a seed the numbers go on"
    assert sampled(seed=2, top_k=1) == sampled(seed=3, top_k=1), "the best is left alone"


@pytest.mark.req("LLM-040")
def test_stats(llama: TinyLlama, runner: TextLLMRunner) -> None:
    found: list[Stats] = []
    runner.generate(PROMPT, greedy(5), None, found.append)
    (stats,) = found
    assert stats.num_prompt_tokens == len(llama.encode(PROMPT))
    assert stats.num_generated_tokens == 4
    fields = json.loads(stats.to_json_string())
    assert (
        fields["SCALING_FACTOR_UNITS_PER_SECOND"] == 1000 == stats.SCALING_FACTOR_UNITS_PER_SECOND
    )
    assert (
        fields["inference_end_ms"] >= fields["first_token_ms"] >= fields["inference_start_ms"] > 0
    )
    assert re.fullmatch(
        r"<Stats num_prompt_tokens=\d+ num_generated_tokens=4 tokens_per_second=[\d.]+>",
        repr(stats),
    )


def test_files_that_cannot_be_read_are_named(llama: TinyLlama, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Failed to load tokenizer from: /nowhere.json"):
        TextLLMRunner(llama.program, "/nowhere.json")
    with pytest.raises(
        RuntimeError, match="Failed to create text llm runner with model: /nowhere.pte"
    ):
        TextLLMRunner("/nowhere.pte", llama.tokenizer)
    corrupted = tmp_path / "corrupted.pte"
    corrupted.write_bytes(llama.program.read_bytes()[:1000])
    with pytest.raises(RuntimeError, match="corrupted.pte"):
        TextLLMRunner(corrupted, llama.tokenizer)


def test_tokenizers_log_nothing_beside_errors(
    llama: TinyLlama, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Llama2.c's format is tried last: count, bos, eos, longest, then score, length and text of each piece.
    pieces = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % byte for byte in range(256))]
    records = [struct.pack("<fi", -i, len(piece)) + piece for i, piece in enumerate(pieces)]
    path = tmp_path / "tokenizer.bin"
    path.write_bytes(struct.pack("<4i", 320, 1, 2, 6) + b"".join(records))
    assert TextLLMRunner(llama.program, path).get_vocab_size() == 320
    broken = tmp_path / "broken.json"
    broken.write_text('{"short')
    with pytest.raises(RuntimeError, match=r"Failed to load tokenizer(?s:.)*Error parsing json"):
        TextLLMRunner(llama.program, broken)
    assert capfd.readouterr() == ("", "")


def test_a_repetition_penalty_is_of_the_context(llama: TinyLlama, runner: TextLLMRunner) -> None:
    ids = llama.encode("The quick brown fox")
    config = greedy(6, repetition_penalty=3)
    expected = text_of(runner, ids, config)
    other = TextLLMRunner(llama.program, llama.tokenizer)
    assert text_of(other, ids, config) == expected
    assert other.shared_beginning(ids) == len(ids) - 1 and other.context[: len(ids)] == ids
    other.keep_shared_beginning(ids)  # the answer is forgotten
    assert text_of(other, ids[-1:], config) == expected


@pytest.mark.req("LLM-041")
def test_what_the_program_says_of_itself(runner: TextLLMRunner) -> None:
    assert runner.metadata["get_max_context_len"] == CONTEXT
    assert runner.metadata["use_kv_cache"] == runner.metadata["enable_dynamic_shape"] == 1
    assert runner.get_vocab_size() == VOCABULARY


@pytest.mark.req("LLM-037")
def test_a_saved_context_goes_on_in_another_runner(
    llama: TinyLlama, runner: TextLLMRunner, tmp_path: Path
) -> None:
    ids = llama.encode(PROMPT + " jumps")
    runner.prefill(ids[:-1])
    runner.save_state(tmp_path / "state")
    expected = llama.decode(llama.greedy(ids, 20))
    other = TextLLMRunner(llama.program, llama.tokenizer)
    other.restore_state(tmp_path / "state")
    assert other.context == ids[:-1]
    assert text_of(other, ids[-1:], greedy(20)) == expected
    (tmp_path / "state").write_bytes(b"no state")
    with pytest.raises(RuntimeError, match="is no whole file of save_state"):
        other.restore_state(tmp_path / "state")


def test_prompt_lookup_writes_the_same(llama: TinyLlama) -> None:
    runner = TextLLMRunner(llama.with_all_logits(), llama.tokenizer)
    ids = llama.encode(PROMPT)
    ids = ids + ids + ids[:3]
    expected = llama.decode(llama.greedy(ids, 30))
    for guesses in (0, 1, 5):
        runner.reset()
        assert text_of(runner, ids, greedy(30, prompt_lookup=guesses)) == expected
    with pytest.raises(RuntimeError, match="generate_full_logits"):
        plain = TextLLMRunner(llama.program, llama.tokenizer)
        plain.generate("x", greedy(3, prompt_lookup=2))


def test_generation_config() -> None:
    config = GenerationConfig()
    documented = (True, -1, False, -1, 0, 0)
    assert documented == (
        config.echo,
        config.max_new_tokens,
        config.warming,
        config.seq_len,
        config.num_bos,
        config.num_eos,
    )
    assert config.temperature == pytest.approx(0.8)
    assert repr(GenerationConfig(False, 7, True, 9, 0.5, 1, 2)) == (
        "<GenerationConfig max_new_tokens=7 seq_len=9 temperature=0.500000 echo=False warming=True>"
    )
    assert (config.top_k, GenerationConfig(top_k=3, top_p=None).top_k) == (0, 3)
    config.min_p = 0.25
    assert config.min_p == 0.25
    with pytest.raises(TypeError, match="no setting is called top_q"):
        GenerationConfig(top_q=1)
    for wrong in (2.5, 1e20, float("nan"), "7"):
        with pytest.raises(TypeError, match="top_k: expected a whole number of 32 bits, found"):
            GenerationConfig(top_k=wrong)
    with pytest.raises(TypeError, match="temperature: expected a number, found 'warm'"):
        config.temperature = "warm"
    config.seq_len = 50
    assert config.resolve_max_new_tokens(max_context_len=100, num_tokens_occupied=20) == 30


def test_inputs() -> None:
    image = make_image_input(torch.arange(24, dtype=torch.uint8).reshape(1, 3, 2, 4)).get_image()
    assert (image.width, image.height, image.channels) == (4, 2, 3) and image.is_uint8()
    assert image.uint8_data == list(range(24))
    assert repr(image) == "<Image height=2 width=4 channels=3 dtype=uint8>"
    assert make_image_input(torch.ones(3, 2, 4)).get_image().is_float()
    audio = make_audio_input(torch.full((1, 2, 3), 0.5)).get_audio()
    assert (audio.batch_size, audio.n_bins, audio.n_frames) == (1, 2, 3)
    assert audio.float_data == [0.5] * 6
    raw = make_raw_audio_input(torch.ones(1, 1, 4, dtype=torch.uint8)).get_raw_audio()
    assert raw.n_samples == 4 and raw.data == [1, 1, 1, 1]
    text = make_text_input("a" * 60)
    assert repr(text) == f'<MultimodalInput type=text content="{"a" * 50}...">'
    assert text.is_text() and text.get_tokens() is None and text.get_text() == "a" * 60
    assert make_token_input([1, 2]).get_tokens() == [1, 2]
    assert MultimodalInput(RawAudio([1], 1, 1, 1)).is_raw_audio() and not Audio().is_float()
    with pytest.raises(RuntimeError, match="expected 3 or 4 channels, got 2"):
        make_image_input(torch.ones(2, 2, 2))
    with pytest.raises(RuntimeError, match=r"expected a tensor \(batch, channels, samples\)"):
        make_raw_audio_input(torch.ones(1, 1, 4))
    with pytest.raises(ValueError, match="expected 12 values for these sizes, got 3"):
        Image([1, 2, 3], 2, 2, 3)


def llama_main(*flags: object) -> subprocess.CompletedProcess[str]:
    return build_tree.run(build_tree.binary("examples/models/llama/llama_main"), *flags)


@pytest.mark.req("LLM-040", "LLM-043")
def test_llama_main_writes_the_same(llama: TinyLlama, tmp_path: Path) -> None:
    files = [f"--model_path={llama.program}", f"--tokenizer_path={llama.tokenizer}"]
    done = llama_main(
        *files, f"--prompt={PROMPT}", "--temperature=0", "--seq_len=40", "--ignore_eos"
    )
    assert done.returncode == 0, done.stderr
    ids = llama.encode(PROMPT)
    expected = llama.decode(llama.greedy(ids, 40 - len(ids)))
    assert done.stdout.startswith(PROMPT)
    shown = done.stdout[len(PROMPT) : done.stdout.index("\nPyTorchObserver ")]
    # Bytes that no terminal shows are left out.
    assert [c for c in shown if c.isalpha()] == [
        c for c in expected if c.isalpha() and c != "\ufffd"
    ]
    stats = json.loads(done.stdout.split("PyTorchObserver ")[1])
    assert stats["prompt_tokens"] == len(ids)
    assert stats["generated_tokens"] == 40 - len(ids) - 1
    for line in ("Model Load Time:", "Prompt evaluation:", "Time to first generated token:"):
        assert re.search(rf"{line}\s+[\d.]+ \(seconds\)", done.stderr), done.stderr
    prompt_file = tmp_path / "prompt.txt"
    prompt_file.write_text(PROMPT)
    again = llama_main(
        *files, f"--prompt_file={prompt_file}", "--temperature=0", "--max_new_tokens=5",
        "--warmup", "--verbose", "--cpu_threads=1",
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert "Warmup run finished!" in again.stderr and "get_max_context_len: 128" in again.stderr
    assert '"generated_tokens":4' in again.stdout


@pytest.mark.req("LLM-043")
def test_llama_main_reads_the_tokenizer_in_the_program(
    llama: TinyLlama, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file alone, whose begin and end tokens are those of the settings that it carries, too."""
    alone = tmp_path / "alone" / "m.pte"
    alone.parent.mkdir()
    shutil.copy(llama.with_few_bits(), alone)
    rest = (f"--prompt={PROMPT}", "--temperature=0", "--max_new_tokens=9", "--verbose")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = llama_main(f"--model_path={alone}", *rest)
    assert found.returncode == 0, found.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["alone"]  # nothing is left behind
    beside = llama_main(
        f"--model_path={alone}", f"--tokenizer_path={llama.tokenizer.parent}", *rest
    )
    output, wanted = (each.stdout.partition("\nPyTorchObserver ")[0] for each in (found, beside))
    assert output == wanted and output.startswith(PROMPT)
    lines = [
        next(line for line in each.stderr.splitlines() if line.startswith("tokenizer: "))
        for each in (found, beside)
    ]
    assert lines[0] == lines[1]
    config = GenerationConfig(echo=True, temperature=0, max_new_tokens=9)
    assert text_of(TextLLMRunner(alone), PROMPT, config).strip() == output.strip()
    for program in (llama.program, tmp_path / "none.pte"):  # made before its tokenizer; no file
        with pytest.raises(RuntimeError, match="expected a program with a tokenizer, found none"):
            TextLLMRunner(program)
        without = llama_main(f"--model_path={program}")
        assert without.returncode != 0
        assert "expected a program with a tokenizer, found none in it" in without.stderr


def test_llama_main_keeps_packed_weights(llama: TinyLlama, tmp_path: Path) -> None:
    kept = tmp_path / "packed"
    flags = [
        f"--model_path={llama.with_few_bits()}",
        f"--tokenizer_path={llama.tokenizer}",
        f"--prompt={PROMPT}",
        "--temperature=0",
        "--max_new_tokens=20",
        "--ignore_eos",
    ]
    texts = []
    for more in ([], [f"--packed_cache_path={kept}"], [f"--packed_cache_path={kept}"]):
        program = build_tree.binary("examples/models/llama/llama_main")
        out = subprocess.run([program, *flags, *more], capture_output=True, check=True).stdout
        texts.append(out.split(b"PyTorchObserver ")[0])  # not all of it is UTF-8
        assert kept.exists() == bool(more)
    assert texts[1] == texts[2] == texts[0]
    nowhere = llama_main(*flags, f"--packed_cache_path={tmp_path / 'nowhere/packed'}")
    assert nowhere.returncode == 1
    assert "check that its folder exists, is writable and has room" in nowhere.stderr


@pytest.mark.req("RT-041")
@pytest.mark.parametrize("level", ["Info", "Debug", "none of them"])
def test_llama_main_takes_no_harm_from_a_log_level_in_the_environment(
    level: str, llama: TinyLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`export ET_LOG_LEVEL=Info`: what is logged is chosen when the library is built."""
    files = [f"--model_path={llama.program}", f"--tokenizer_path={llama.tokenizer}"]
    flags = [*files, f"--prompt={PROMPT}", "--temperature=0", "--max_new_tokens=2", "--ignore_eos"]
    monkeypatch.delenv("ET_LOG_LEVEL", raising=False)
    plain = llama_main(*flags)
    monkeypatch.setenv("ET_LOG_LEVEL", level)
    done = llama_main(*flags)
    assert done.returncode == plain.returncode == 0, done.stderr
    text, output = done.stdout.split("PyTorchObserver ")
    assert text == plain.stdout.split("PyTorchObserver ")[0] and text.startswith(PROMPT)
    assert json.loads(output)["generated_tokens"] == 1


@pytest.mark.req("LLM-043")
def test_llama_main_tells_what_is_wrong(llama: TinyLlama) -> None:
    shown = llama_main("--help")
    assert shown.returncode == 0
    for flag in (
        "model_path", "data_paths", "tokenizer_path", "prompt", "prompt_file", "temperature",
        "seq_len", "max_new_tokens", "cpu_threads", "num_bos", "num_eos", "warmup", "ignore_eos",
        "etdump_path", "method_name", "verbose",
    ):  # fmt: skip
        assert f"--{flag} (" in shown.stdout
    done = llama_main(f"--model_path={llama.program}", "--tokenizer_path=/nowhere.json")
    assert done.returncode == 1 and "check --model_path and --tokenizer_path" in done.stderr
    done = llama_main("--temperature=warm")
    assert done.returncode == 1 and 'expected a number, got "warm"' in done.stderr
    done = llama_main(f"--model_path={llama.program}", "--top_k=2.5")
    output = "--top_k: expected a whole number from 0 to 2147483647, got 2.5"
    assert done.returncode == 1 and output in done.stderr
    done = llama_main("--prompt_file=/nowhere.txt")
    assert done.returncode == 1 and "expected a file with text" in done.stderr


def test_the_program_says_how_answers_are_sampled(llama: TinyLlama, tmp_path: Path) -> None:
    """generation_config.json asks for the best token: by Python's runner and by llama_main, where nothing else is."""
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(llama.folder / name, tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({"temperature": 0, "top_p": 7}))
    program = tiny_llama._export(tmp_path, "sampled")
    ids = llama.encode(PROMPT)
    expected = llama.decode(llama.greedy(ids, 12))
    runner = TextLLMRunner(program)

    def found(**asked: float) -> str:
        runner.reset()
        config = GenerationConfig(
            max_new_tokens=12, silent=True, ignore_eos=True, echo=False, **asked
        )
        return text_of(runner, ids, config)

    assert found() == expected
    assert found(temperature=2, top_p=1, seed=3) != expected
    message = [
        f"--model_path={program}",
        f"--prompt={PROMPT}",
        "--max_new_tokens=12",
        "--ignore_eos",
    ]
    # without random numbers, whose bytes may be no text
    shown = [letters(each) for each in (llama_main(*message).stdout, f"{PROMPT}{expected}")]
    assert shown[0] == shown[1]
    assert letters(llama_main(*message, "--repetition_penalty=100").stdout) != shown[1]


def letters(printed: str) -> list[str]:
    """Of an answer of llama_main, which leaves out bytes that no terminal shows."""
    answer = printed.partition("PyTorchObserver")[0][len(PROMPT) :]
    return [c for c in answer if c.isalpha() and c.isascii()]
