# SPDX-License-Identifier: BSD-3-Clause
"""Language models with caches outside of the program, from weights to text on the stand-ins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.qualcomm.aot.door import using
from executorch.backends.qualcomm.aot.graph import EncodingType
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.recorder import Recorder
from executorch.backends.qualcomm.test.stand_in import stand_in_sdk
from executorch.backends.test.built import build_folder
from executorch.examples.qualcomm.oss_scripts.llama.lower import lowered, specs_for, written
from executorch.examples.qualcomm.oss_scripts.llama.models import BY_BLOCKS
from executorch.examples.qualcomm.oss_scripts.llama.quantize import LLMQuantRecipe, quantized
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer
from executorch.extension.llm.transform.static_program import (
    DECODE,
    PREFILL,
    StaticProgram,
    greedy,
    text_logits,
)
from executorch.extension.pybindings import libraries
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

__all__ = ["stand_in_sdk"]
pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]
SHAPE = {
    "dim": 16,
    "n_layers": 1,
    "n_heads": 2,
    "n_kv_heads": 1,
    "vocab_size": 32,
    "hidden_dim": 24,
}
LENGTHS = {DECODE: 1, PREFILL: 4}
PROMPT, COUNT = [3, 5, 7, 9, 11, 13], 6
SOC = QcomChipset.SM8650


def decoder(**sizes: int) -> Transformer:
    torch.manual_seed(1)
    args = ModelArgs(**{**SHAPE, **sizes}, max_seq_len=16, max_context_len=16)
    model = construct_transformer(args).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False).copy_(torch.randn_like(parameter))
    return model


def loaded(buffer: bytes) -> dict[str, Callable[..., Any]]:
    libraries.load(build_folder() / "libqnn_executorch_backend.so")
    program = _load_for_executorch_from_buffer(buffer)
    return {name: lambda *inputs, name=name: program.run_method(name, inputs) for name in LENGTHS}


@pytest.mark.req("LLM-054")
@pytest.mark.parametrize("split_mha", [True, False])
def test_tokens_are_those_of_eager(split_mha: bool) -> None:
    model = decoder()
    tokens = list(PROMPT)
    for _ in range(COUNT):
        tokens.append(int(model(torch.tensor([tokens]))[0].argmax()))
    assert len(set(tokens[len(PROMPT) :])) > 2
    program = StaticProgram(model, 16, split_mha)
    manager = lowered(dict.fromkeys(LENGTHS, program), program, LENGTHS, specs_for(SOC, False))
    delegates = [
        each
        for method in LENGTHS
        for each in get_lowered_backend_modules(manager.exported_program(method).graph_module)
    ]
    assert len(delegates) == 2  # all of each method
    assert delegates[0].processed_bytes == delegates[1].processed_bytes  # one context
    found = greedy(program.manager(4), loaded(written(manager)), PROMPT, COUNT)
    assert found == tokens[len(PROMPT) :]


def quantized_methods(
    recipe: LLMQuantRecipe, **sizes: int
) -> tuple[StaticProgram, dict[str, nn.Module]]:
    program = StaticProgram(decoder(**sizes), 16, split_mha=False)
    return program, dict(quantized(program, LENGTHS, recipe, [torch.tensor([PROMPT])], SOC))


@pytest.mark.req("LLM-010")
@pytest.mark.parametrize(
    ("dtype", "most"),
    [
        (QuantDtype.use_16a8w, 0.1),
        pytest.param(QuantDtype.use_16a4w, 0.8, marks=pytest.mark.full),
    ],
)
def test_logits_are_those_of_the_quantized_model(dtype: QuantDtype, most: float) -> None:
    """And near those of floats: `most` is of their standard deviation."""
    program, methods = quantized_methods(LLMQuantRecipe(dtype))
    on_npu = loaded(written(lowered(methods, program, LENGTHS, specs_for(SOC, True))))
    manager, text = program.manager(4), torch.tensor([PROMPT])
    found = text_logits(manager, on_npu[PREFILL])(text)
    wanted = text_logits(manager, methods[PREFILL])(text)
    floats = text_logits(manager, program)(text)
    assert (found - wanted).abs().max() < 0.01 * floats.std()
    assert (found - floats).square().mean().sqrt() < most * floats.std()
    assert greedy(manager, on_npu, PROMPT, COUNT) == greedy(manager, methods, PROMPT, COUNT)


@pytest.mark.req("LLM-055")
def test_a_recipe_mixes_blocks_and_channels() -> None:
    """Blocks of 32 of the inputs; values, what attention and the feed forward give, and logits have 8 bits."""
    program, methods = quantized_methods(BY_BLOCKS, dim=32, hidden_dim=64)
    door = Recorder()
    with using(door):
        lowered(methods, program, LENGTHS, specs_for(SOC, True))
    for graph in door.graphs:
        layers = [each for each in graph.operators if each.type == "FullyConnected"]
        weights = [graph.tensors[each.inputs[1]] for each in layers]
        by_blocks = [each.encoding.type is EncodingType.BLOCKWISE_EXPANSION for each in weights]
        # queries, keys, values, what attention gives; gate, up, down; logits
        assert by_blocks == [True, True, False, False, True, True, False, False]
        assert all(each.encoding.bitwidth in (0, 4) for each in weights)


@pytest.mark.req("LLM-055")
@pytest.mark.parametrize("has_8bit_cache", [True, pytest.param(False, marks=pytest.mark.full)])
def test_caches_have_one_encoding_in_all_methods(has_8bit_cache: bool) -> None:
    recipe = LLMQuantRecipe(QuantDtype.use_16a8w, has_8bit_cache=has_8bit_cache)
    program, methods = quantized_methods(recipe)
    door = Recorder()
    with using(door):
        lowered(methods, program, LENGTHS, specs_for(SOC, True))
    encodings = []
    for graph in door.graphs:
        joins = [each for each in graph.operators if each.type == "Concat"]
        caches = {
            (graph.tensors[place].dtype.name, graph.tensors[place].encoding)
            for join in joins
            for place in join.inputs[:1]
            if graph.tensors[place].encoding is not None and graph.tensors[place].dims[-2] == 16
        }
        encodings.append(caches)
    assert len(encodings) == 2 and encodings[0] == encodings[1]
    bits = {"UFIXED_POINT_8"} if has_8bit_cache else {"UFIXED_POINT_16"}
    assert {name for name, _ in encodings[0]} == bits and len(encodings[0]) == 2  # keys, values


def test_other_methods_are_refused_ranges() -> None:
    from executorch.examples.qualcomm.oss_scripts.llama.quantize import _take_observers

    empty = torch.fx.symbolic_trace(nn.Identity())
    observed = torch.fx.symbolic_trace(nn.Identity())
    from torchao.quantization.pt2e import MinMaxObserver

    observed.add_module("seen", MinMaxObserver())
    (x, output) = observed.graph.nodes
    with observed.graph.inserting_before(output):
        observed.graph.call_module("seen", (x,))
    with pytest.raises(ValueError, match="expected the operators of the method"):
        _take_observers(empty, observed, "kv_forward")


# ---- The command ----


@pytest.fixture
def checkpoint(tmp_path: Path) -> list[str]:
    """Flags of a model with random weights."""
    pytest.importorskip("tokenizers")
    from executorch.extension.llm.runner.test.tiny_llama import VOCABULARY, write_tokenizer

    write_tokenizer(tmp_path)
    params = tmp_path / "params.json"
    params.write_text(json.dumps({**SHAPE, "vocab_size": VOCABULARY}))
    words = {
        "--build_folder": build_folder(), "--soc_model": "SM8650", "--artifact": tmp_path / "made",
        "--decoder_model": "llama3_2-1b_instruct", "--checkpoint": "random", "--params": params,
        "--tokenizer_model": tmp_path / "tokenizer.json", "--max_seq_len": 24, "--prefill_ar_len": 4,
    }  # fmt: skip
    return [str(word) for pair in words.items() for word in pair]


@pytest.mark.req("LLM-054")
def test_the_documented_command(checkpoint: list[str], tmp_path: Path) -> None:
    from executorch.examples.qualcomm.oss_scripts.llama.command import main

    main([*checkpoint, "--model_mode", "kv", "--prompt", "The quick", "--tasks", "wikitext", "--limit", "1",
          "--compile_only"])  # fmt: skip
    (file,) = (tmp_path / "made").iterdir()
    assert file.name == "kv_llama_qnn.pte"
    program = _load_for_executorch_from_buffer(file.read_bytes())
    constants = ("get_max_context_len", "get_vocab_size", "get_n_bos")
    assert [program.run_method(each, ())[0] for each in constants] == [24, 320, 1]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--image_path", "a.png"], "--image_path: expected none"),
        (["-E", "4,32"], "--embedding_quantize: expected none"),
        (["--pre_gen_pte", "nowhere"], "expected nowhere/hybrid_llama_qnn.pte"),
    ],
)
def test_what_is_not_here_is_said(checkpoint: list[str], flags: list[str], message: str) -> None:
    from executorch.examples.qualcomm.oss_scripts.llama.command import main

    with pytest.raises((ExportError, FileNotFoundError), match=message):
        main([*checkpoint, "--compile_only", *flags])


@pytest.mark.req("LLM-C07")
def test_the_name_is_that_of_the_version() -> None:
    """A tutorial's title says Llama 3 3B; its decoder is of 3.2."""
    from executorch.examples.qualcomm.oss_scripts.llama import SUPPORTED_LLM_MODELS

    named = SUPPORTED_LLM_MODELS["llama3_2-3b_instruct"]
    assert (named.model_class, named.num_bos, named.quant_recipe) == ("llama3_2", 1, BY_BLOCKS)
    assert "llama3-3b_instruct" not in SUPPORTED_LLM_MODELS


def test_a_model_is_registered_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from executorch.examples.qualcomm.oss_scripts.llama import models

    monkeypatch.setattr(models, "SUPPORTED_LLM_MODELS", {})

    @models.register_llm_model("mine")
    class Mine(models.LLMModelConfig):
        model_class = "llama2"

    assert models.SUPPORTED_LLM_MODELS["mine"].model_class == "llama2"
    with pytest.raises(ExportError, match="sharded: expected num_sharding left out"):

        @models.register_llm_model("sharded")
        class Sharded(models.LLMModelConfig):
            num_sharding = 4


@pytest.mark.skipif(
    not (build_folder() / "qnn_llama_runner").exists(), reason="qnn_llama_runner is not built"
)
def test_the_runner_writes_what_eager_says(checkpoint: list[str], tmp_path: Path) -> None:
    from executorch.examples.qualcomm.oss_scripts.llama import command
    from pytorch_tokenizers import load_tokenizer

    torch.manual_seed(5)
    given = command.parser().parse_args(
        [*checkpoint, "--use_fp16", "--enable_x86_64", "--temperature", "0", "--prompt", "The quick brown fox"]
    )  # fmt: skip
    config = command.QnnConfig.load_config(given)
    (tmp_path / "made" / "workspace").mkdir(parents=True)
    model = None

    def kept(*arguments: Any) -> Any:
        nonlocal model
        model = original(*arguments)
        return model

    original, command._load = command._load, kept
    try:
        program = command.compile_program(given, config)
    finally:
        command._load = original
    (text,) = command.run(given, config, program)
    tokenizer = load_tokenizer(str(tmp_path / "tokenizer.json"))
    prompt = tokenizer.encode("The quick brown fox", bos=1, eos=0)
    end, static = tokenizer.eos_tok(), StaticProgram(model.model, 24)
    answer = greedy(static.manager(1), {"forward": static}, prompt, 24 - len(prompt), [end])
    answer = [each for each in answer if each != end]
    assert len(answer) > 3
    pieces = [tokenizer.id_to_piece(each) for each in answer]
    assert text.encode() == b"The quick brown fox" + b"".join(pieces) + b"\n"


@pytest.mark.full
@pytest.mark.req("LLM-055")
def test_real_weights(tmp_path: Path) -> None:
    """SmolLM2-135M: tokens of floats are eager's; rounding costs little. Prints what the page of the backend says."""
    pytest.importorskip("tokenizers")
    from executorch.examples.qualcomm.oss_scripts.llama.smollm2 import rows

    with torch.no_grad():
        found = {row["what"]: row for row in rows(tmp_path)}
    print(*found.values(), sep="\n")
    cpu, floats = found["cpu, float"], found["stand-in, float"]
    assert floats["tokens"] == cpu["tokens"]
    assert floats["perplexity"] == pytest.approx(cpu["perplexity"], rel=1e-4)
    assert found["stand-in, 16a8w"]["perplexity"] < 1.1 * cpu["perplexity"]
    assert found["stand-in, 16a4w_block"]["perplexity"] < 1.1 * cpu["perplexity"]
    assert found["stand-in, 16a4w"]["perplexity"] > 1.5 * cpu["perplexity"]
