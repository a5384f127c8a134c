# SPDX-License-Identifier: BSD-3-Clause
"""The command of `examples/qualcomm/oss_scripts/llama/llama.py`: a checkpoint as a program, and text from it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from executorch.backends.qualcomm.device.adb import SimpleADB
from executorch.backends.qualcomm.device.config import QnnConfig, setup_common_args_and_variables
from executorch.backends.qualcomm.serialization.compile_specs import get_soc_to_chipset_map
from executorch.examples.qualcomm.oss_scripts.llama.lower import lowered, specs_for, written
from executorch.examples.qualcomm.oss_scripts.llama.models import (
    SUPPORTED_LLM_MODELS,
    LLMModelConfig,
)
from executorch.examples.qualcomm.oss_scripts.llama.quantize import quantized
from executorch.exir.error import ExportError, ExportErrorType
from executorch.extension.llm.checkpoint.reader import is_gguf, open_checkpoint
from executorch.extension.llm.checkpoint.tokenizer import tokenizer_json
from executorch.extension.llm.export.companions import stop_tokens
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.models import LoadedModel, load_model
from executorch.extension.llm.export.texts import manual
from executorch.extension.llm.transform.static_program import (
    DECODE,
    FORWARD,
    PREFILL,
    StaticProgram,
)

MODES = ("hybrid", "kv", "lookahead")
_RUNNER = "qnn_llama_runner"
_WORKSPACE = "/data/local/tmp/executorch/static_llm"
_LONGEST = 512  # tokens that ranges are found on, of a sample
_FLAGS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("-a", "--artifact"), {"default": "./llama_qnn", "help": "folder of the program and of what it gives"}),
    (("--decoder_model",), {"required": True, "choices": sorted(SUPPORTED_LLM_MODELS)}),
    (("--checkpoint",), {"help": "of the model; without it, that of its repository"}),
    (("--params",), {"help": "params.json of a checkpoint that has none"}),
    (("--tokenizer_model",), {"help": "tokenizer.json, or a .model file"}),
    (("--tokenizer_bin",), {"help": "a Llama2.c .bin file"}),
    (("--prompt",), {"nargs": "+", "default": ["Once upon a time"], "help": "texts; ranges are theirs, too"}),
    (("--system_prompt",), {"default": ""}),
    (("--temperature",), {"type": float, "default": 0.8}),
    (("-d", "--dtype-override"), {"choices": ["fp32", "fp16"], "default": "fp32"}),
    (("--model_mode",), {"choices": MODES, "default": "hybrid", "help": "kv, or hybrid: prompts in parts"}),
    (("--max_seq_len",), {"type": int, "default": 512, "help": "tokens of prompt and answer"}),
    (("--max_context_len",), {"type": int, "help": "tokens that caches hold; default: --max_seq_len"}),
    (("--prefill_ar_len",), {"type": int, "default": 32, "help": "tokens of a prompt in a call"}),
    (("-E", "--embedding-quantize"), {}),
    (("--ngram",), {"type": int, "default": 5}),
    (("--window",), {"type": int, "default": 8}),
    (("--gcap",), {"type": int, "default": 8}),
    (("--use_attention_sink",), {}),
    (("--audio_path",), {}),
    (("--image_path",), {}),
    (("--eval_methods",), {"nargs": "+", "default": ["prompt_eval"]}),
    (("--eval_tasks",), {"nargs": "+"}),
    (("--eval_limit",), {"type": int, "default": 1}),
    (("--eval_num_fewshot",), {"type": int}),
    (("--calib_tasks", "--tasks"), {"nargs": "+", "help": "not here: ranges are those of Python's manual"}),
    (("--calib_limit", "--limit"), {"type": int, "default": 1, "help": "samples of it"}),
    (("--calib_num_fewshot",), {"type": int}),
    (("--calib_samples",), {"type": int, "help": "the same"}),
    (("--batch_size",), {"type": int, "default": 1}),
    (("-F", "--use_fp16"), {"action": "store_true", "help": "no quantization"}),
    (("-v", "--verbose"), {"action": "store_true"}),
    (("--quant_recipe_suggestion",), {"action": "store_true"}),
]  # fmt: skip
# Flags that are read, and refused where they ask for something.
_NOT_HERE = {"embedding_quantize": None, "use_attention_sink": None, "audio_path": None, "image_path": None,
             "eval_methods": ["prompt_eval"], "eval_tasks": None, "batch_size": 1, "system_prompt": "",
             "dtype_override": "fp32", "quant_recipe_suggestion": False}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    made = setup_common_args_and_variables(argparse.ArgumentParser(description=__doc__))
    for names, options in _FLAGS:
        made.add_argument(*names, **options)
    return made


def program_name(mode: str) -> str:
    return f"{mode}_llama_qnn.pte"


def lengths_of(given: argparse.Namespace) -> dict[str, int]:
    """Tokens of a call of each method."""
    if given.model_mode == "kv":
        return {FORWARD: 1}
    columns = given.window + given.gcap
    answer = columns * (given.ngram - 1) if given.model_mode == "lookahead" else 1
    return {DECODE: answer, PREFILL: given.prefill_ar_len}


def compile_program(given: argparse.Namespace, config: QnnConfig) -> Path:
    """Writes the program, and tokenizer.json beside it where the checkpoint has one."""
    model = SUPPORTED_LLM_MODELS[given.decoder_model]
    folder = Path(given.artifact)
    folder.mkdir(parents=True, exist_ok=True)
    loaded = _load(given, model)
    tokenizer = _tokenizer(given, folder)
    context = given.max_context_len or given.max_seq_len
    program = StaticProgram(loaded.model, context)
    lengths, soc = lengths_of(given), get_soc_to_chipset_map()[config.soc_model]
    if given.use_fp16:
        methods: dict[str, torch.nn.Module] = dict.fromkeys(lengths, program)
    else:
        texts = _samples(given, _encoder(tokenizer, model), context)
        methods = dict(quantized(program, lengths, model.quant_recipe, texts, soc))
    constants = {
        "get_max_seq_len": given.max_seq_len,
        "get_max_context_len": context,
        "get_vocab_size": loaded.args.vocab_size,
        "get_n_layers": loaded.args.n_layers,
        "get_n_bos": model.num_bos,
        "use_kv_cache": True,
    }
    gguf = loaded.checkpoint.gguf if loaded.checkpoint else None
    if ends := stop_tokens({}, gguf):
        constants["get_eos_ids"] = ends
    specs = specs_for(
        soc,
        not given.use_fp16,
        profile_level=config.profile_level,
        shared_buffer=config.shared_buffer,
    )
    path = folder / program_name(given.model_mode)
    path.write_bytes(written(lowered(methods, program, lengths, specs, constants)))
    return path


def _load(given: argparse.Namespace, model: LLMModelConfig) -> LoadedModel:
    options = {
        "base.model_class": model.model_class,
        "base.checkpoint": given.checkpoint,
        "base.params": given.params or model.params_path,
        "export.max_seq_length": given.max_seq_len,
        "export.max_context_length": given.max_context_len or given.max_seq_len,
        "quantization.qmode": "float" if given.checkpoint and is_gguf(Path(given.checkpoint)) else None,
    }  # fmt: skip
    words = [f"{name}={value}" for name, value in options.items() if value is not None]
    return load_model(read(None, words))


def _tokenizer(given: argparse.Namespace, folder: Path) -> Path:
    """The given one, or the checkpoint's own, written to the folder."""
    if file := given.tokenizer_model or given.tokenizer_bin:
        return Path(file)
    path = folder / "tokenizer.json"
    if given.checkpoint and is_gguf(Path(given.checkpoint)):
        import json

        path.write_text(json.dumps(tokenizer_json(open_checkpoint(given.checkpoint).gguf)))
    elif given.checkpoint and (Path(given.checkpoint) / path.name).is_file():
        path.write_bytes((Path(given.checkpoint) / path.name).read_bytes())
    if not path.is_file():
        raise ValueError("--tokenizer_model: expected a file, found none beside the checkpoint")
    return path


def _encoder(tokenizer: Path, model: LLMModelConfig) -> Callable[[str], list[int]]:
    from pytorch_tokenizers import load_tokenizer

    loaded = load_tokenizer(str(tokenizer))
    return lambda text: list(loaded.encode(text, bos=model.num_bos, eos=0))


def _samples(
    given: argparse.Namespace, encode: Callable[[str], list[int]], context: int
) -> list[torch.Tensor]:
    """Prompts, and pieces of the manual from its end."""
    longest = min(context, _LONGEST)
    found = [encode(each)[:longest] for each in given.prompt]
    text = encode(manual()[-8 * longest * (given.calib_samples or given.calib_limit) :])
    for place in range(given.calib_samples or given.calib_limit):
        found.append(text[place * longest : (place + 1) * longest])
    return [torch.tensor([each]) for each in found if each]


def run(given: argparse.Namespace, config: QnnConfig, program: Path) -> list[str]:
    """What the runner writes for each prompt, on the phone or on this computer."""
    if given.model_mode == "lookahead":
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            "--model_mode lookahead: qnn_llama_runner runs kv and hybrid; StaticProgramIO.lookahead_decode runs this",
        )
    folder = Path(given.artifact)
    tokenizer = _tokenizer(given, folder)
    workspace = str(folder / "workspace") if config.enable_x86_64 else _WORKSPACE
    adb = SimpleADB(config, program, workspace, runner=_RUNNER)
    # Which tokens begin and end a text is said beside a tokenizer.json.
    beside = tokenizer.with_name("tokenizer_config.json")
    adb.push(files=[tokenizer, *([beside] if beside.is_file() else [])])
    texts = []
    for prompt in given.prompt:
        words = {
            "model_path": program.name,
            "tokenizer_path": tokenizer.name,
            "prompt": prompt,
            "temperature": given.temperature,
            "seq_len": given.max_seq_len,
            "eval_mode": int(given.model_mode == "hybrid"),
            "output_path": "outputs/outputs.txt",
        }
        flags = " ".join(f"--{name}={_quoted(str(value))}" for name, value in words.items())
        adb.execute(custom_runner_cmd=f"./{_RUNNER} {flags}")
        adb.pull(folder)
        texts.append((folder / "outputs" / "outputs.txt").read_text(encoding="utf-8"))
    return texts


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def main(argv: Sequence[str] | None = None) -> None:
    given = parser().parse_args(argv)
    asked = [name for name, usual in _NOT_HERE.items() if getattr(given, name) != usual]
    if asked:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"{', '.join('--' + name for name in asked)}: expected none, this is not here yet",
        )
    config = QnnConfig.load_config(given)
    if config.pre_gen_pte:
        program = Path(config.pre_gen_pte) / program_name(given.model_mode)
        if not program.is_file():
            raise FileNotFoundError(f"--pre_gen_pte: expected {program}")
    else:
        program = compile_program(given, config)
        print(f"{program}: {program.stat().st_size / 1e6:.1f} MB")
    if not config.compile_only:
        run(given, config, program)
