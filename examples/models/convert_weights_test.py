# SPDX-License-Identifier: BSD-3-Clause
"""Converted weights are those that an export of the folder itself reads; tools around checkpoints."""

from __future__ import annotations

import importlib
import json
import logging
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from executorch.examples.models.checkpoint import (
    get_checkpoint_dtype,
    get_default_model_resource_dir,
    get_mapped_key,
    load_checkpoint_from_pytorch_model,
)
from executorch.examples.models.qwen3_5.convert_weights import qwen_3_5_to_meta
from executorch.extension.llm.checkpoint.convert import model_state
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.model.families_test import ROWS, checkpoints, config_for

__all__ = ["checkpoints"]  # the fixture

FOLDERS = {"llama_tied": "smollm2"}
CONVERTED = [name for name in ROWS if not name.startswith("llama") and name != "phi_4_mini_long"]


@pytest.mark.parametrize("name", [*CONVERTED, "llama_tied"])
def test_a_converted_file_loads_as_its_folder_does(name: str, checkpoints: dict) -> None:
    folder, _ = checkpoints[name]
    module = f"executorch.examples.models.{FOLDERS.get(name, name)}.convert_weights"
    file = folder / "converted.pth"
    importlib.import_module(module).convert_weights(str(folder), str(file))
    expected = load_model(config_for(name, folder)).model.state_dict()
    found = load_model(config_for(name, file)).model.state_dict()
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert torch.equal(found[key], value), key


# model, whose text model it has, prefix of its names, of its output layer, and the tensors' own
INSIDE = [
    ("smolvlm", "llama", "model.text_model.", ""),
    ("granite_speech", "granite", "language_model.model.", "language_model."),
    ("internvl3", "qwen2_5", "language_model.model.", "language_model."),
]


@pytest.mark.parametrize("name, inner, prefix, head", INSIDE)
def test_the_text_model_of_a_larger_one_is_taken(
    name: str, inner: str, prefix: str, head: str, checkpoints: dict, tmp_path: Path
) -> None:
    folder, _ = checkpoints[inner]
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({"model_type": name, "text_config": config}))
    tensors = {"model.vision_model.patch.weight": torch.ones(2)}
    for key, value in open_checkpoint(folder):
        tensors[key.replace("model.", prefix, 1) if key.startswith("model.") else head + key] = (
            value
        )
    save_file(
        {key: value.contiguous() for key, value in tensors.items()}, tmp_path / "model.safetensors"
    )
    file = tmp_path / "converted.pth"
    module = importlib.import_module(f"executorch.examples.models.{name}.convert_weights")
    module.convert_weights(str(tmp_path), str(file))
    expected = model_state(open_checkpoint(folder), ROWS[inner][1])
    found = torch.load(file)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert torch.equal(found[key], value), key


def test_fused_projections_of_glm_are_parted(tmp_path: Path) -> None:
    from executorch.examples.models.glm.convert_weights import convert_weights

    layer, both, query = "model.layers.1", torch.rand(6, 4), torch.rand(64, 4)
    state = {
        "model.embed_tokens.weight": torch.rand(3, 4),
        f"{layer}.mlp.gate_up_proj.weight": both,
        f"{layer}.self_attn.q_proj.weight": query,
    }
    save_file(state, tmp_path / "model.safetensors")
    convert_weights(str(tmp_path), str(tmp_path / "converted.pth"))
    found = torch.load(tmp_path / "converted.pth")
    assert torch.equal(found["layers.1.feed_forward.w1.weight"], both[:3])  # the gate comes first
    assert torch.equal(found["layers.1.feed_forward.w3.weight"], both[3:])
    # Of each of 16 heads: GLM turns neighbors, the model turns halves.
    halves = query.reshape(16, 4, 4)[:, [0, 2, 1, 3]].reshape(64, 4)
    assert torch.equal(found["layers.1.attention.wq.weight"], halves)
    assert torch.equal(found["output.weight"], state["model.embed_tokens.weight"])


def test_tensors_get_the_models_names() -> None:
    layer = "model.language_model.layers.3"
    state = {
        "model.language_model.embed_tokens.weight": torch.rand(4, 2),
        f"{layer}.linear_attn.A_log": torch.rand(2),
        f"{layer}.linear_attn.conv1d.bias": torch.rand(2),
        f"{layer}.self_attn.q_norm.weight": torch.rand(2),
        f"{layer}.rotary_emb.inv_freq": torch.rand(2),
        "model.visual.patch_embed.weight": torch.rand(2),
    }
    found = qwen_3_5_to_meta(state)
    assert sorted(found) == [
        "layers.3.attention.A_log",
        "layers.3.attention.q_norm_fn.weight",
        "output.weight",
        "tok_embeddings.weight",
    ]
    assert torch.equal(found["output.weight"], state["model.language_model.embed_tokens.weight"])
    with pytest.raises(ValueError, match="unexpected key 'model.layers.3.other'"):
        qwen_3_5_to_meta({f"{layer}.other": torch.rand(1)})


def test_all_folders_with_weights_of_their_own_convert() -> None:
    for path in sorted(Path(__file__).parent.glob("*/convert_weights.py")):
        if path.parent.name == "llama":  # of adapters, in names_test.py there
            continue
        module = importlib.import_module(
            f"executorch.examples.models.{path.parent.name}.convert_weights"
        )
        with pytest.raises(CheckpointError, match="no such file"):
            module.convert_weights("/nowhere", "/nowhere/out.pth")


def test_an_untied_output_layer_stays_the_files(checkpoints: dict) -> None:
    state = model_state(open_checkpoint(checkpoints["qwen3"][0]), "qwen3_0_6b")
    assert not torch.equal(state["output.weight"], state["tok_embeddings.weight"])


def test_names_and_types(caplog: pytest.LogCaptureFixture) -> None:
    table = {"model.layers.{}.mlp.weight": "layers.{}.ffn.weight", "head": "output"}
    assert get_mapped_key("model.layers.12.mlp.weight", table) == "layers.12.ffn.weight"
    assert get_mapped_key("head", table) == "output"
    with pytest.raises(Exception, match="unexpected key 'tail'"):
        get_mapped_key("tail", table)
    half = {"a": torch.ones(1, dtype=torch.float16)}
    assert get_checkpoint_dtype({}) is None
    assert get_checkpoint_dtype(half) == torch.float16 and not caplog.records
    with caplog.at_level(logging.WARNING):
        assert get_checkpoint_dtype({**half, "b": torch.ones(1)}) == torch.float16
    assert "b" in caplog.text
    assert get_default_model_resource_dir("/a/b/model.py") == Path("/a/b/params")


def test_pickled_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="pytorch_model"):
        load_checkpoint_from_pytorch_model(str(tmp_path))
    torch.save({"a": torch.arange(3)}, tmp_path / "shard.bin")
    index = '{"weight_map": {"a": "shard.bin"}}'
    (tmp_path / "pytorch_model.bin.index.json").write_text(index)
    assert load_checkpoint_from_pytorch_model(str(tmp_path))["a"].tolist() == [0, 1, 2]
    torch.save({"a": torch.ones(2)}, tmp_path / "pytorch_model.bin")
    assert load_checkpoint_from_pytorch_model(str(tmp_path))["a"].tolist() == [1, 1]
