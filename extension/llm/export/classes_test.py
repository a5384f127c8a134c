# SPDX-License-Identifier: BSD-3-Clause
"""Every `base.model_class`: its own params file at a small size, exported, gives what its eager model does."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.extension.llm.export.caches_test import run_steps
from executorch.extension.llm.export.config.llm_config import LlmConfig, ModelType
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.model.families import FAMILIES
from executorch.extension.llm.transform.transform_test import STEPS, TOKENS, prepared, stepwise

_WIDTHS = {
    "dim": 64,
    "hidden_dim": 96,
    "head_dim": 16,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 96,
    "sliding_window": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
# what the classes without a params file are given
_LLAMA = {"n_layers": 2, "norm_eps": 1e-5, "rope_theta": 500000.0}
_ALWAYS = ("llama3", "qwen3_5_0_8b", "gemma2_2b")


def small(params: dict[str, Any]) -> dict[str, Any]:
    """The same switches and kinds of layers at small widths."""
    made = {**params, **{key: _WIDTHS[key] for key in _WIDTHS if key in params or key == "dim"}}
    made |= {key: _WIDTHS[key] for key in ("hidden_dim", "n_heads", "n_kv_heads", "vocab_size")}
    kinds = params.get("layer_types") or [""]
    reach = max(kinds.index(kind) for kind in set(kinds)) + 1
    made["n_layers"] = max(
        reach, min(2, params["n_layers"]), params.get("no_rope_layer_interval", 0)
    )
    if "layer_types" in made:
        made["layer_types"] = kinds[: made["n_layers"]]
    half = int(made.get("head_dim", 16) * params.get("partial_rotary_factor", 1.0)) // 2
    for key in ("rope_scaling_short_factor", "rope_scaling_long_factor"):
        if key in made:
            made[key] = made[key][:half]
    return made


def config_of(name: str, folder: Path) -> LlmConfig:
    file = FAMILIES[name].params
    params = _LLAMA if file is None else json.loads((files("executorch") / file).read_text())
    path = folder / "params.json"
    path.write_text(json.dumps(small(params)))
    operators = "attn_logit_softcapping" not in params  # custom_sdpa has no soft cap
    return build(
        {
            "base": {"model_class": name, "checkpoint": "random", "params": str(path)},
            "model": {"use_kv_cache": True, "use_sdpa_with_kv_cache": operators},
            "export": {
                "max_seq_length": 32,
                "max_context_length": 32,
                "output_name": str(folder / "m.pte"),
            },
            "backend": {"xnnpack": {"enabled": True}},
        }
    )


@pytest.mark.req("LLM-004", "LLM-006", "LLM-018")
@pytest.mark.parametrize(
    "name",
    [
        name if name in _ALWAYS else pytest.param(name, marks=pytest.mark.full)
        for name in map(str, ModelType)
        if name in FAMILIES
    ],
)
def test_a_class_exports_and_runs(name: str, tmp_path: Path) -> None:
    config = config_of(name, tmp_path)
    torch.manual_seed(11)
    expected = stepwise(prepared(config))
    torch.manual_seed(11)
    found = run_steps(export_llama(config))
    assert expected.std() > 0.01
    torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.req("LLM-004")
def test_linear_attention_token_by_token(tmp_path: Path) -> None:
    """Without its operator the number of tokens of a call is fixed."""
    config = config_of("qwen3_5_0_8b", tmp_path)
    config.model.use_sdpa_with_kv_cache = False
    with pytest.raises(ValueError, match="model.enable_dynamic_shape to False"):
        export_llama(config)
    assert not (tmp_path / "m.pte").exists()
    config.model.enable_dynamic_shape = False
    steps = [(place, place + 1) for place in range(TOKENS.shape[1])]
    torch.manual_seed(11)
    expected = stepwise(prepared(config), steps)
    torch.manual_seed(11)
    found = run_steps(export_llama(config), steps)
    torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-4)
    config.model.enable_dynamic_shape = config.model.use_sdpa_with_kv_cache = True
    torch.manual_seed(11)
    in_calls = stepwise(prepared(config))
    ends = [end - 1 for _, end in STEPS]
    torch.testing.assert_close(in_calls, expected[ends], rtol=2e-4, atol=2e-4)


def test_classes_that_are_no_family_are_refused() -> None:
    """config_test.py sees how."""
    assert {name for name in map(str, ModelType) if name not in FAMILIES} == {"llama3_2_vision"}
