# SPDX-License-Identifier: BSD-3-Clause
"""How fast a language model reads and writes, in turns: our C++ runner (tools/bench/llm_steps.cpp), upstream's wheel on
the same program, and llama.cpp on a GGUF file of the same weights.

Tokens per second are medians over rounds, in brackets the lowest and the highest round. Resident memory is that after
the first prompt, and the most of all. Loading, and the first prompt of 32 tokens after it, are medians over as
many processes, started in turns: none loads beside another. llama.cpp comes with `--llama-python`, an interpreter
that has the package llama-cpp-python, built for this processor; it packs weights anew where it can (its extra buffer
types); OpenVINO GenAI with `--genai-python`. With `--text` and `--tokenizer` each row has its perplexity
("=": of equal quality, within 1 % of the first row's).
On a machine that others use, `--prefix "chrt -f 10"` gives each engine the cores while it works. Example:

python -m tools.bench.llm model.pte --gguf model.gguf --llama-python venv/bin/python --page build/pages/llm-speed.md
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from executorch.extension.llm.export.texts import read_tokenizer
from executorch.tools import pages
from executorch.tools.bench.figures import processor
from executorch.tools.measure.processes import ROOT, Program, Worker, peer_python

PROMPTS, WRITTEN = (32, 128, 512), 24
CONTEXTS = (32, 512)  # of which decoding is printed

WINDOW = 255  # tokens that a perplexity's context has at most, the first of which is given
# What Python engines have around their `logits(tokens, position)`, which gives those of the next token.
_LOOP = """
import json, math, numpy, os, sys, time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
def perplexity(logits, tokens, window):
    total = count = 0
    for begin in range(0, len(tokens) - window + 1, window):
        here = tokens[begin : begin + window]
        for place, (token, following) in enumerate(zip(here, here[1:])):
            row = numpy.asarray(logits([token], place), dtype=numpy.float64)
            total += row.max() + math.log(numpy.exp(row - row.max()).sum()) - row[following]
            count += 1
    return math.exp(total / count)
def steps_of(logits):
    def steps(prompt, tokens):
        start = time.perf_counter()
        token = int(logits([i * 7919 % 499 + 1 for i in range(prompt)], 0).argmax())
        prefill, decode = time.perf_counter() - start, []
        for place in range(prompt, prompt + tokens):
            start = time.perf_counter()
            token = int(logits([token], place).argmax())
            decode.append(time.perf_counter() - start)
        return prefill, decode
    return steps
def serve(logits, load, steps=None):
    for line in sys.stdin:
        prompt, tokens = json.loads(line)
        if prompt == "perplexity":
            print("RESULT", perplexity(logits, *tokens), flush=True)
            continue
        prefill, decode = (steps or steps_of(logits))(prompt, tokens)
        answer = {"prefill": prefill, "decode": decode, "load": load, "resident": resident()}
        print("RESULT", json.dumps(answer), flush=True)
"""
_UPSTREAM = """
import torch
from executorch.extension.llm.custom_ops import custom_ops
from executorch.kernels import quantized
from executorch.extension.pybindings.portable_lib import _load_for_executorch
start = time.perf_counter()
module = _load_for_executorch({model!r})
module.run_method("forward", (torch.ones(1, 1, dtype=torch.long), torch.tensor([0])))
load = time.perf_counter() - start
vocabulary = module.run_method("get_vocab_size", ())[0]
def logits(tokens, position):
    inputs = (torch.tensor([tokens]), torch.tensor([position]))
    return module.run_method("forward", inputs)[0].flatten()[-vocabulary:]
serve(logits, load)
"""
# Its extra buffer types can be off: its kernels for AMX crash on some virtual machines.
_LLAMA = """
import ctypes, llama_cpp
defaults = llama_cpp.llama_cpp.llama_model_default_params
def with_extra_buffers():
    parameters = defaults()
    parameters.use_extra_bufts = {extra!r}
    return parameters
llama_cpp.llama_cpp.llama_model_default_params = llama_cpp.llama_model_default_params = with_extra_buffers
start = time.perf_counter()
model = llama_cpp.Llama({model!r}, n_ctx=2048, n_threads={threads}, n_threads_batch={threads}, n_batch=512,
                        n_ubatch=512, flash_attn={flash!r}, verbose=False)
load = time.perf_counter() - start
def logits(tokens, position):
    if position == 0:
        model.reset()
    model.eval(tokens)
    found = llama_cpp.llama_get_logits_ith(model._ctx.ctx, -1)
    return numpy.ctypeslib.as_array(found, (model.n_vocab(),))
serve(logits, load)
"""
# The pipeline makes its model of the file and tells its own times; it tells no logits, so that the model is written
# beside the file, in a folder of its own, and asked.
_GENAI = """
import openvino, openvino_genai, tempfile
folder = tempfile.mkdtemp()
model = os.path.join(folder, "model.gguf")
os.symlink({model!r}, model)
start = time.perf_counter()
pipeline = openvino_genai.LLMPipeline(model, "CPU", INFERENCE_NUM_THREADS={threads})
load = time.perf_counter() - start
turn = 0
def steps(prompt, tokens):
    global turn
    turn += 1  # the pipeline keeps what a prompt begins with like the one before
    ids = numpy.array([[(i * 7919 + turn) % 499 + 1 for i in range(prompt)]])
    inputs = openvino_genai.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(numpy.ones_like(ids)))
    config = openvino_genai.GenerationConfig(max_new_tokens=tokens + 1, ignore_eos=True, do_sample=False)
    took = pipeline.generate(inputs, config).perf_metrics
    return took.get_ttft().mean / 1e3, [t / 1e6 for t in took.raw_metrics.token_infer_durations[1:]]
request = None
def logits(tokens, position):
    global request
    if request is None:
        openvino_genai.LLMPipeline(model, "CPU", enable_save_ov_model=True)
        written = os.path.join(folder, "openvino_model.xml")
        request = openvino.Core().compile_model(written, "CPU").create_infer_request()
    if position == 0:
        request.reset_state()
    places = numpy.arange(position, position + len(tokens))[None]
    mask = numpy.ones((1, position + len(tokens)), numpy.int64)
    found = request.infer(dict(input_ids=numpy.array([tokens]), position_ids=places, attention_mask=mask,
                               beam_idx=numpy.zeros(1, numpy.int32)))
    return found["logits"][0, -1]
serve(logits, load, steps)
"""
EQUAL = 0.01  # between perplexities of equal quality
# Before each question: Linux stops processes of real-time priority that have used 0.95 of a second.
REST = 0.1


@dataclass(frozen=True)
class Row:
    """Medians of one engine: tokens per second by tokens of the prompt, seconds, bytes. `prefills` and `decodes` are
    those of each round, `resident_first` bytes after the first prompt, `resident` the most."""

    engine: str
    load: float
    first: float
    prefill: dict[int, float]
    decode: dict[int, float]
    prefills: dict[int, list[float]]
    decodes: dict[int, list[float]]
    resident_first: int
    resident: int
    perplexity: float | None = None


def row_of(
    engine: str, starts: list[dict[str, Any]], answers: dict[int, list[dict[str, Any]]]
) -> Row:
    """`starts` are the first answers of processes, `answers` are by tokens of the prompt, a list of rounds each."""
    median = statistics.median
    prefills = {n: [n / a["prefill"] for a in rounds] for n, rounds in answers.items()}
    decodes = {n: [1 / median(a["decode"]) for a in rounds] for n, rounds in answers.items()}
    decode = {
        n: 1 / median(t for a in rounds for t in a["decode"]) for n, rounds in answers.items()
    }
    every = [answer for rounds in answers.values() for answer in rounds]
    return Row(
        engine,
        load=median(a["load"] for a in starts),
        first=median(a["load"] + a["prefill"] for a in starts),
        prefill={n: median(speeds) for n, speeds in prefills.items()},
        decode=decode,
        prefills=prefills,
        decodes=decodes,
        resident_first=int(median(a["resident"] for a in starts)),
        resident=max(a["resident"] for a in every),
    )


def bandwidth(megabytes: int, prefix: Sequence[str], build: Path) -> dict[int, float]:
    """GB/s by the number of threads."""
    command = [*prefix, str(build / "tools/bench/read_bandwidth"), f"--megabytes={megabytes}"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return {row["threads"]: row["gigabytes_per_second"] for row in rows}


def add_runner_options(parser: argparse.ArgumentParser) -> None:
    """How llm_steps is started: read by runner_command()."""
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--prefix", type=shlex.split, default=[], help="before each command")
    default = Path(os.environ.get("EXECUTORCH_BUILD_DIR", ROOT / "cmake-out"))
    parser.add_argument("--build", type=Path, default=default)


def runner_command(options: argparse.Namespace, model: Path) -> list[str]:
    runner = str(options.build / "tools/bench/llm_steps")
    given = [f"--model_path={model.resolve()}", f"--cpu_threads={options.threads}"]
    return [*options.prefix, runner, *given]


Start = Callable[[], Program]


def engines_for(options: argparse.Namespace, folder: Path) -> dict[str, Start]:
    prefix, model = options.prefix, str(options.model.resolve())
    command = runner_command(options, options.model)
    found: dict[str, Start] = {"ours": lambda: Program(command, folder, "ours", os.environ)}
    if options.packed_cache:
        kept = [*command, f"--packed_cache_path={options.packed_cache.resolve()}"]
        found["ours, packed weights kept"] = lambda: Program(kept, folder, "kept", os.environ)
        maker = found["ours, packed weights kept"]()
        maker.ask([1, 0])  # after the file is made
        maker.close()
    if not options.no_peer:
        upstream = _LOOP + _UPSTREAM.format(model=model)
        found["upstream's wheel"] = partial(
            Worker, peer_python(), upstream, folder, "upstream", prefix
        )
    return found | _rivals_on_files(options, folder)


def _rivals_on_files(options: argparse.Namespace, folder: Path) -> dict[str, Start]:
    """llama.cpp on each GGUF file, with its fused attention and without; OpenVINO GenAI, which reads few formats, on
    the first. By the engine's name, and the file's where there are several."""
    found: dict[str, Start] = {}
    files = options.gguf or []
    for name, python, code, wanted, flash in (
        ("llama.cpp", options.llama_python, _LLAMA, files, False),
        ("llama.cpp, flash attention", options.llama_python, _LLAMA, files, True),
        ("OpenVINO GenAI", options.genai_python, _GENAI, files[:1], False),
    ):
        for file in wanted if python else ():
            facts = {"model": str(file.resolve()), "threads": options.threads, "flash": flash}
            text = _LOOP + code.format(**facts, extra=not options.no_extra_buffers)
            title = name if len(options.gguf) == 1 else f"{name}, {file.stem}"
            label = title.replace(" ", "_").replace(",", "")
            found[title] = partial(Worker, python, text, folder, label, options.prefix)
    return found


def started(starts: dict[str, Start], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """The first answers of `rounds` processes of each engine, one process at a time."""
    first: dict[str, list[dict[str, Any]]] = {engine: [] for engine in starts}
    for _ in range(rounds):
        for engine, start in starts.items():
            program = start()
            first[engine].append(program.ask([min(PROMPTS), 1]))
            program.close()
    return first


def measure(starts: dict[str, Start], rounds: int) -> list[Row]:
    first = started(starts, rounds)
    programs = {engine: start() for engine, start in starts.items()}
    answers: dict[str, dict[int, list[dict[str, Any]]]] = {
        engine: {prompt: [] for prompt in PROMPTS} for engine in programs
    }
    for turn in range(rounds + 1):
        for prompt in PROMPTS:
            for engine, program in programs.items():
                time.sleep(REST)
                answer = program.ask([prompt, WRITTEN])
                if turn > 0:  # the first is for caches and threads
                    answers[engine][prompt].append(answer)
    for program in programs.values():
        program.close()
    return [row_of(engine, first[engine], found) for engine, found in answers.items()]


def with_perplexities(
    rows: list[Row], starts: dict[str, Start], options: argparse.Namespace, folder: Path
) -> list[Row]:
    """Of what each engine runs on the text; ours is asked from Python, since its runner tells no logits."""
    tokens = read_tokenizer(str(options.tokenizer))(options.text.read_text())
    tokens = tokens[: options.tokens // WINDOW * WINDOW]
    code = _LOOP + _UPSTREAM.format(model=str(options.model.resolve()))
    ours = partial(Worker, sys.executable, code, folder, "perplexity")
    found = []
    for row in rows:
        program = (ours if row.engine.startswith("ours") else starts[row.engine])()
        answer = program.ask(["perplexity", [tokens, WINDOW]])
        program.close()
        found.append(replace(row, perplexity=answer))
    return found


def table(rows: list[Row]) -> str:
    heads = [f"prefill {n}" for n in PROMPTS] + [f"decode at {n}" for n in CONTEXTS]
    has_perplexity = any(row.perplexity for row in rows)
    lines = [["tokens/s", *heads, "load, s", "load and first token, s"]]
    lines[0] += ["resident at first, MB", "at most"]
    lines[0] += ["perplexity"] if has_perplexity else []
    lines.append(["---", *["--:"] * (len(lines[0]) - 1)])
    for row in rows:
        cells = [_speed(row.prefill[n], row.prefills[n]) for n in PROMPTS]
        cells += [_speed(row.decode[n], row.decodes[n]) for n in CONTEXTS]
        cells += [f"{row.load:.3f}", f"{row.first:.3f}"]
        cells += [f"{size / 1e6:,.0f}" for size in (row.resident_first, row.resident)]
        cells += [_quality(row, rows[0])] if has_perplexity else []
        lines.append([row.engine, *cells])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _speed(median: float, rounds: list[float]) -> str:
    return f"{median:,.0f} ({min(rounds):,.0f}-{max(rounds):,.0f})"


def _quality(row: Row, first: Row) -> str:
    """The perplexity; of equal quality with the first row's, it says so."""
    if not row.perplexity:
        return ""
    near = first.perplexity and abs(row.perplexity / first.perplexity - 1) < EQUAL
    return f"{row.perplexity:.2f}{' =' if near else ''}"


def as_json(rows: list[Row]) -> str:
    """A list of engines: prefill and decode in tokens per second by tokens of the prompt, seconds, bytes."""
    return json.dumps([asdict(row) for row in rows], indent=1) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.llm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path)
    parser.add_argument(
        "--gguf", type=Path, action="append", help="of rivals; may be repeated for llama.cpp"
    )
    parser.add_argument("--llama-python", help="an interpreter with llama-cpp-python")
    parser.add_argument("--genai-python", help="an interpreter with openvino-genai")
    parser.add_argument(
        "--no-extra-buffers", action="store_true", help="llama.cpp without AMX and repacking"
    )
    parser.add_argument("--text", type=Path, help="of which the perplexity is asked")
    parser.add_argument("--tokenizer", type=Path, help="the model's, for --text")
    parser.add_argument("--tokens", type=int, default=8 * WINDOW, help="of the text, at most")
    parser.add_argument("--no-peer", action="store_true", help="without upstream's wheel")
    parser.add_argument("--packed-cache", type=Path, help="ours also with this file of weights")
    parser.add_argument("--rounds", type=int, default=3)
    add_runner_options(parser)
    parser.add_argument("--page", type=Path, help="append the table to this page")
    parser.add_argument("--json", type=Path, help="write tokens per second and seconds there, too")
    options = parser.parse_args()
    if (options.llama_python or options.genai_python) and not options.gguf:
        parser.error("--llama-python and --genai-python need --gguf, the file that they run")
    if bool(options.text) != bool(options.tokenizer):
        parser.error("--text and --tokenizer go together")
    megabytes = options.model.stat().st_size // 1_000_000
    read = bandwidth(megabytes, options.prefix, options.build)
    with tempfile.TemporaryDirectory() as folder:
        starts = engines_for(options, Path(folder))
        rows = measure(starts, options.rounds)
        if options.text:
            rows = with_perplexities(rows, starts, options, Path(folder))
    speeds = ", ".join(f"{speed:.1f} GB/s with {count} threads" for count, speed in read.items())
    machine = f"{processor()}, {os.cpu_count()} cores; {options.threads} threads"
    text = f"{machine}; a buffer of {megabytes} MB is read at {speeds}.\n\n{table(rows)}"
    print(text)
    if options.json:
        options.json.write_text(as_json(rows))
    if options.page:
        so_far = options.page.read_text() if options.page.exists() else ""
        pages.write(options.page, f"{so_far}\n{text}")


if __name__ == "__main__":
    main()
