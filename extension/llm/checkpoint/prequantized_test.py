# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints that are quantized already: SpinQuant's and QAT's, with the numbers that their integers stand for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.quantization.utils import compute_error

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.custom_ops import eager
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.export.pipeline import export_llama, prepare
from executorch.extension.llm.export.stages import Stages
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer
from executorch.extension.llm.quantization.weights import report
from executorch.runtime import Runtime

SHAPE = {
    "dim": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 96,
    "hidden_dim": 128,
}
GROUP = 32
TOKENS = torch.tensor([[5, 17, 3, 90, 42, 7, 11, 80]])


def quantized(weight: torch.Tensor, bits: int, group: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Integers and scales of groups of columns (0: of rows), symmetric."""
    rows, columns = weight.shape
    groups = weight.reshape(rows, -1, group or columns)
    scales = groups.abs().amax(-1) / (2 ** (bits - 1) - 1)
    codes = (groups / scales[..., None]).round().clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return codes.reshape(weight.shape).to(torch.int8), scales


def stands_for(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    groups = codes.float().reshape(codes.shape[0], scales.shape[1], -1)
    return (groups * scales[..., None]).reshape(codes.shape)


def quantize(
    model: Transformer, output_bits: int, rotated: bool = False
) -> dict[str, torch.Tensor]:
    """The checkpoint of a model, whose weights become what the checkpoint's integers stand for.

    rotated: w2 of the checkpoint takes what a Hadamard transform has turned, so it is turned itself.
    """
    state = {}
    for name, value in model.state_dict().items():
        layer = name.removesuffix(".weight")
        if value.dim() != 2:
            state[name] = value
            continue
        kind = (4, GROUP)
        if "embeddings" in name or "output" in name and output_bits == 8:
            kind = (8, 0)
        turned = rotated and name.endswith("w2.weight")
        held = eager.hadamard_transform(value) if turned else value
        codes, scales = quantized(held, *kind)
        state[name] = codes
        state[f"{layer}.scales"] = scales
        meant = stands_for(codes, scales)
        value.copy_(eager.hadamard_transform(meant) if turned else meant)
    return state


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(11)
    args = ModelArgs(**SHAPE, max_seq_len=32, max_context_len=32)
    return construct_transformer(args).eval().requires_grad_(False)


def config_for(folder: Path, state: dict[str, torch.Tensor], **groups: Any) -> Any:
    torch.save(state, folder / "consolidated.00.pth")
    params = {**SHAPE, "quantization_args": {"group_size": GROUP}, **groups.pop("params", {})}
    (folder / "params.json").write_text(json.dumps(params))
    base = {
        "checkpoint": str(folder / "consolidated.00.pth"),
        "params": str(folder / "params.json"),
        "preq_mode": "8da4w_output_8da8w",
        "preq_group_size": GROUP,
    }
    tree: dict[str, Any] = {
        "base": base | groups.pop("base", {}),
        "model": {"use_kv_cache": True},
        "quantization": {"use_spin_quant": "native"},
        "export": {"max_seq_length": 32, "max_context_length": 32},
        "backend": {"xnnpack": {"enabled": True}},
    }
    for name, group in groups.items():
        tree[name] = {**tree.get(name, {}), **group} if name != "quantization" else group
    return build(tree)


def run(path: str, tokens: torch.Tensor = TOKENS) -> torch.Tensor:
    method = Runtime.get().load_program(path).load_method("forward")
    return method.execute([tokens, torch.tensor([0])])[0]


@pytest.mark.req("LLM-013", "LLM-053")
@pytest.mark.parametrize("kind", ["native", pytest.param("cuda", marks=pytest.mark.full)])
def test_a_spinquant_checkpoint(kind: str, model: Transformer, tmp_path: Path) -> None:
    """The rotation before w2 undoes the one in its weights; integers are those of the file."""
    state = quantize(model, 8, rotated=True)
    config = config_for(
        tmp_path,
        state,
        quantization={"use_spin_quant": kind},
        export={"output_name": str(tmp_path / "m.pte")},
    )
    eager_model = prepare(config, Stages(say=False))[0].model
    layer = eager_model.layers[1]
    assert type(layer.feed_forward).__name__ == "RotatedFeedForward"
    assert torch.equal(layer.attention.wq.weight.qdata, state["layers.1.attention.wq.weight"])
    assert "4-bit: 0.1" in report(eager_model) and "8-bit" in report(eager_model)
    # inputs become 8 bits, nothing else differs
    expected = model(TOKENS)
    found = eager_model(TOKENS, {"input_pos": torch.tensor([0])})
    assert compute_error(expected, found) > 25
    assert compute_error(found, run(export_llama(config))) > 30


@pytest.mark.full
@pytest.mark.req("LLM-013", "LLM-053", "EMB-015")
def test_the_documented_configuration_file(model: Transformer, tmp_path: Path) -> None:
    """examples/models/llama/config/llama_xnnpack_spinquant.yaml with a checkpoint of the user's."""
    from executorch.extension.llm.export.config.reading import read
    from executorch.test.repository.sources import ROOT

    state = quantize(model, 8, rotated=True)
    config_for(tmp_path, state)
    yaml = ROOT / "examples" / "models" / "llama" / "config" / "llama_xnnpack_spinquant.yaml"
    overrides = [
        f"base.checkpoint={tmp_path}/consolidated.00.pth",
        f"base.params={tmp_path}/params.json",
        "export.max_seq_length=32",
        "export.max_context_length=32",
        f"export.output_name={tmp_path}/m.pte",
    ]
    path = export_llama(read(yaml, overrides))
    assert compute_error(model(TOKENS), run(path)) > 20


@pytest.mark.req("LLM-013", "LLM-053")
def test_a_qat_checkpoint_with_adapters(model: Transformer, tmp_path: Path) -> None:
    """q(x) + 2 B(A(x)); the adapters stay in float."""
    state = quantize(model, 4)
    generator = torch.Generator().manual_seed(2)
    for name, value in list(model.state_dict().items()):
        if ".wq." not in name and ".w1." not in name:
            continue
        a = (torch.randn(4, value.shape[1], generator=generator) / 16).bfloat16()
        b = (torch.randn(value.shape[0], 4, generator=generator) / 16).bfloat16()
        layer = name.removesuffix(".weight")
        state |= {f"{layer}.adaptor.A.weight": a, f"{layer}.adaptor.B.weight": b}
        value += 2.0 * b.float() @ a.float()
    config = config_for(
        tmp_path,
        state,
        params={"lora_args": {"rank": 4, "scale": 2.0}},
        base={"use_lora": 4, "preq_mode": "8da4w"},
        quantization={"use_qat": True},
        export={"output_name": str(tmp_path / "m.pte")},
    )
    found = run(export_llama(config))
    assert compute_error(model(TOKENS), found) > 20
    wrong = config_for(
        tmp_path,
        state,
        base={"use_lora": 2, "preq_mode": "8da4w"},
        params={"lora_args": {"rank": 4}},
        quantization={"use_qat": True},
    )
    with pytest.raises(ValueError, match=r"base\.use_lora: expected the rank .*4.*found 2"):
        load_model(wrong)


WRONG = {
    "a float among the integers": (
        {"layers.0.attention.wq.scales": torch.ones(64, 3)},
        r"'layers\.0\.attention\.wq\.scales': expected 128 floats \(groups of 32\)",
    ),
    "too many bits": (
        {"layers.1.feed_forward.w3.weight": torch.full((128, 64), 9, dtype=torch.int8)},
        r"'layers\.1\.feed_forward\.w3\.weight': expected numbers of 4 bits, from -8 to 7",
    ),
    "zero points": (
        {"layers.0.attention.wk.zeros": torch.ones(32, 2)},
        r"'layers\.0\.attention\.wk\.zeros': expected zeros",
    ),
    "no scales": ({"output.scales": None}, r"'output\.weight' has no 'scales'"),
    "another shape": (
        {
            "layers.0.attention.wv.weight": torch.zeros(32, 96, dtype=torch.int8),
            "layers.0.attention.wv.scales": torch.ones(32, 3),
        },
        r"'layers\.0\.attention\.wv\.weight': expected shape \[32, 64\], found \[32, 96\]",
    ),
    "a width without groups": (
        {
            "layers.0.attention.wv.weight": torch.zeros(32, 40, dtype=torch.int8),
            "layers.0.attention.wv.scales": torch.ones(32, 2),
        },
        r"expected a multiple of base\.preq_group_size \(32\) columns, found 40",
    ),
}


@pytest.mark.req("LLM-013")
@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_named(name: str, model: Transformer, tmp_path: Path) -> None:
    changes, message = WRONG[name]
    state = {**quantize(model, 8, rotated=True), **changes}
    config = config_for(tmp_path, {k: v for k, v in state.items() if v is not None})
    with pytest.raises(CheckpointError, match=message) as caught:
        load_model(config)
    assert "consolidated.00.pth" in str(caught.value)


@pytest.mark.req("LLM-013")
def test_options_that_are_not_the_checkpoints_are_named(model: Transformer, tmp_path: Path) -> None:
    state = quantize(model, 8)
    with pytest.raises(ValueError, match=r"base\.preq_group_size: expected the group .*32.* 64"):
        load_model(config_for(tmp_path, state, base={"preq_group_size": 64}))
    with pytest.raises(ValueError, match="preq_embedding_quantize: expected 'bits,group'"):
        load_model(config_for(tmp_path, state, base={"preq_embedding_quantize": "3,32"}))
