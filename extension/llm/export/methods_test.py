# SPDX-License-Identifier: BSD-3-Clause
"""Adapters: weights in data files that several programs share, and several methods in one program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.transform.transform_test import SHAPE, TOKENS, checkpoint
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.test.e2e.cpp_calls import call_in_cpp

__all__ = ["checkpoint"]  # the fixture

TARGETS = ["q_proj", "v_proj", "down_proj"]


def write_adapter(folder: Path, seed: int) -> dict[str, str]:
    """What peft writes: adapter_config.json, and lora_A and lora_B of each target."""
    from safetensors.torch import save_file

    folder.mkdir()
    generator = torch.Generator().manual_seed(seed)
    widths = {"q_proj": (64, 64), "v_proj": (64, 32), "down_proj": (96, 64)}
    state = {}
    for layer in range(SHAPE["n_layers"]):
        for target, (into, out) in widths.items():
            owner = "mlp" if target == "down_proj" else "self_attn"
            name = f"base_model.model.model.layers.{layer}.{owner}.{target}"
            state[f"{name}.lora_A.weight"] = torch.randn(4, into, generator=generator) / 8
            state[f"{name}.lora_B.weight"] = torch.randn(out, 4, generator=generator) / 8
    save_file(state, folder / "adapter_model.safetensors")
    settings = {"r": 4, "lora_alpha": 8, "target_modules": TARGETS, "peft_type": "LORA"}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return {
        "adapter_checkpoint": str(folder / "adapter_model.safetensors"),
        "adapter_config": str(folder / "adapter_config.json"),
    }


def expected_logits(model: torch.nn.Module, adapter: dict[str, str]) -> torch.Tensor:
    """With an adapter added to the weights: w + alpha / r * B A, rows of queries in the model's order."""
    import copy

    from safetensors.torch import load_file

    from executorch.extension.llm.checkpoint.keys import interleaved

    merged, state = copy.deepcopy(model), load_file(adapter["adapter_checkpoint"])
    for number, layer in enumerate(merged.layers):
        for target, linear in (
            ("self_attn.q_proj", layer.attention.wq),
            ("self_attn.v_proj", layer.attention.wv),
            ("mlp.down_proj", layer.feed_forward.w2),
        ):
            name = f"base_model.model.model.layers.{number}.{target}"
            change = 2.0 * state[f"{name}.lora_B.weight"] @ state[f"{name}.lora_A.weight"]
            if target.endswith("q_proj"):
                change = interleaved(change, SHAPE["n_heads"])
            linear.weight = torch.nn.Parameter(linear.weight + change, requires_grad=False)
    return merged(TOKENS)[:, -1]


def config(folder: Path, **groups: Any) -> Any:
    base = {"checkpoint": str(folder), "params": str(folder / "params.json")}
    lengths = {"max_seq_length": 32, "max_context_length": 32}
    tree = {
        "base": base | groups.pop("base", {}),
        "model": {"use_kv_cache": True},
        "export": lengths | groups.pop("export", {}),
        "backend": {"xnnpack": {"enabled": True}},
    }
    return build({**tree, **groups})


@pytest.mark.req("LLM-014")
@pytest.mark.parametrize("bits", ["float", pytest.param("8da4w", marks=pytest.mark.full)])
def test_two_adapters_share_a_file_of_weights(bits: str, checkpoint: tuple, tmp_path: Path) -> None:
    folder, model = checkpoint
    quantization = {} if bits == "float" else {"qmode": "8da4w", "group_size": 32}
    outputs, files = [], []
    for number in range(2):
        adapter = write_adapter(tmp_path / f"adapter{number}", number)
        place = tmp_path / f"out{number}"
        export = {
            "output_name": str(place / "m.pte"),
            "foundation_weights_file": "foundation",
        }
        export_llama(
            config(folder, base={"lora_config": adapter}, export=export, quantization=quantization)
        )
        names = {path.name for path in place.iterdir()}
        assert names == {"m.pte", "foundation.ptd"}
        files.append((place / "foundation.ptd").read_bytes())
        # the program of one with the foundation of the other: it is the same file
        foundation = tmp_path / "out0" / "foundation.ptd"
        module = _load_for_executorch(str(place / "m.pte"), str(foundation))
        (found,) = module.forward([TOKENS, torch.tensor([0])])
        expected = expected_logits(model, adapter)
        if bits == "float":
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        else:
            assert (found - expected).norm() < 0.35 * expected.norm()
        outputs.append(found)
    assert files[0] == files[1]
    assert len(files[0]) > 0.8 * sum(
        (p.numel() if bits == "float" else p.numel() // 8) * 4 for p in model.parameters()
    )
    assert (outputs[0] - outputs[1]).abs().max() > 0.1


@pytest.mark.full
@pytest.mark.req("LLM-014")
def test_an_adapter_has_a_file_of_its_own(checkpoint: tuple, tmp_path: Path) -> None:
    """The program without its two data files is a few kilobytes; another adapter of the shape fits in it."""
    folder, model = checkpoint
    adapters = [write_adapter(tmp_path / f"adapter{number}", number) for number in range(2)]
    for number, adapter in enumerate(adapters):
        export = {
            "output_name": str(tmp_path / f"out{number}" / "m.pte"),
            "foundation_weights_file": "foundation",
            "lora_weights_file": "lora.ptd",
        }
        # calls from C++ below have no XNNPACK
        backend = {"xnnpack": {"enabled": False}}
        export_llama(config(folder, base={"lora_config": adapter}, export=export, backend=backend))
    first, second = tmp_path / "out0", tmp_path / "out1"
    assert {path.name for path in first.iterdir()} == {"m.pte", "foundation.ptd", "lora.ptd"}
    assert (first / "m.pte").stat().st_size < 0.25 * (first / "foundation.ptd").stat().st_size
    call = [("forward", [TOKENS, torch.tensor([0])])]
    for place, adapter in ((first, adapters[0]), (second, adapters[1])):
        data = [first / "foundation.ptd", place / "lora.ptd"]
        ((found,),) = call_in_cpp(place / "m.pte", call, data)
        torch.testing.assert_close(found, expected_logits(model, adapter), rtol=1e-4, atol=1e-4)


@pytest.mark.req("LLM-014")
@pytest.mark.parametrize("shared", [True, pytest.param(False, marks=pytest.mark.full)])
def test_methods_of_one_program_hold_weights_once(
    shared: bool, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, model = checkpoint
    adapter = write_adapter(tmp_path / "adapter", 3)
    methods = [{"method_name": "base"}, {"method_name": "adapted", "lora_config": adapter}]
    path = tmp_path / "m.pte"
    settings = {"methods": methods, "share_mutable_buffers": shared}
    export_llama(config(folder, export={"output_name": str(path)}, multimethod=settings))
    module = _load_for_executorch(str(path))
    wanted = {"base": model(TOKENS)[:, -1], "adapted": expected_logits(model, adapter)}
    for name, expected in wanted.items():
        (found,) = module.run_method(name, [TOKENS, torch.tensor([0])])
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    weights = sum(p.numel() * 4 for p in model.parameters())
    assert path.stat().st_size < 1.5 * weights
    plans = deserialize_pte_binary(path.read_bytes()).program.execution_plan
    arenas = {p.name: len(p.non_const_buffer_sizes) for p in plans if p.name in wanted}
    assert arenas == dict.fromkeys(wanted, 3 if shared else 2)
