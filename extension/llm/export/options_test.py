# SPDX-License-Identifier: BSD-3-Clause
"""Every option of the backends that are here has an export in a test, whose file computes what its eager model does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.quantization.utils import compute_error

from executorch.extension.llm.export.caches_test import run_steps
from executorch.extension.llm.export.config.llm_config import LoraConfig
from executorch.extension.llm.export.config.reading import all_keys
from executorch.extension.llm.export.config.rules import BACKENDS, PRESENT
from executorch.extension.llm.export.methods_test import TARGETS, expected_logits, write_adapter
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.transform.transform_test import (
    STEPS,
    TOKENS,
    checkpoint,
    config_for,
    last_of_steps,
    prepared,
    stepwise,
    word_tokenizer,
)
from executorch.test.repository.sources import ROOT

__all__ = ["checkpoint"]  # the fixture

_XNNPACK = {"xnnpack": {"enabled": True}}
_FEW_BITS = {"qmode": "8da4w", "group_size": 32}
_TIED = {"qmode": "torchao:8da4w", "group_size": 32, "embedding_quantize": "torchao:4,32"}
# groups, decibels between program and eager model (None: equal but for the order of sums)
ROWS: dict[str, tuple[dict[str, Any], float | None]] = {
    "half": ({"model": {"dtype_override": "fp16"}}, 45.0),
    "bfloat16": ({"model": {"dtype_override": "bf16"}}, 30.0),
    "half_sdpa": (
        {"model": {"dtype_override": "fp16", "use_sdpa_with_kv_cache": True}, "backend": _XNNPACK},
        45.0,
    ),
    "wide_rope_tables": ({"model": {"expand_rope_table": True}}, None),
    "library": ({"export": {"so_library": "libcustom_ops_aot_lib.so"}}, None),
    "float_inputs": ({"quantization": {"qmode": "torchao:fpa4w", "group_size": 32}}, 60.0),
    "without_hqq": (
        {
            "quantization": {**_FEW_BITS, "embedding_quantize": "4,32", "use_hqq": False},
            "backend": _XNNPACK,
        },
        30.0,
    ),
    "tied_kernels": (
        {
            "quantization": _TIED,
            "backend": {
                "torchao": {
                    "use_torchao_kernels_linear": True,
                    "use_torchao_kernels_tied_embedding": True,
                }
            },
        },
        30.0,
    ),
}
_ALWAYS = ("half", "float_inputs")

# options that another test exports with, or sees refused
_CACHES = "extension/llm/export/caches_test.py"
_EXPORT = "extension/llm/export/export_test.py"
_METHODS = "extension/llm/export/methods_test.py"
_PREQUANTIZED = "extension/llm/checkpoint/prequantized_test.py"
_TRANSFORM = "extension/llm/transform/transform_test.py"
_CONFIG = "extension/llm/export/config/config_test.py"
_OPENVINO = "extension/llm/export/openvino_test.py"
_VULKAN = "backends/vulkan/test/vulkan_attention_test.py"
_COREML = "extension/llm/export/coreml_llm_test.py"
ELSEWHERE = {
    "base.model_class": "extension/llm/export/classes_test.py",
    "base.params": _EXPORT,
    "base.checkpoint": _EXPORT,
    "base.metadata": _EXPORT,
    "base.lora_config.adapter_checkpoint": _METHODS,
    "base.lora_config.adapter_config": _METHODS,
    "base.lora_config.adapter_quant": _CONFIG,
    "base.use_lora": _PREQUANTIZED,
    "base.preq_mode": _PREQUANTIZED,
    "base.preq_group_size": _PREQUANTIZED,
    "base.preq_embedding_quantize": _PREQUANTIZED,
    "model.enable_dynamic_shape": _EXPORT,
    "model.use_kv_cache": _EXPORT,
    "model.use_shared_embedding": "extension/llm/quantization/packed_test.py",
    "model.use_attention_sink": _CACHES,
    "model.quantize_kv_cache": _CACHES,
    "model.kv_cache_dtype": _CACHES,
    "model.local_global_attention": _CACHES,
    "export.max_seq_length": _CACHES,
    "export.max_context_length": _CACHES,
    "export.max_sessions": "extension/llm/runner/sessions_test.py",
    "export.embed": "extension/llm/server/openai_test.py",
    "export.tokenizer_in_program": "extension/llm/export/program_cache_test.py",
    "export.output_dir": "extension/llm/model/families_test.py",
    "export.output_name": _EXPORT,
    "export.foundation_weights_file": _METHODS,
    "export.lora_weights_file": _METHODS,
    "debug.profile_memory": _EXPORT,
    "debug.profile_path": _EXPORT,
    "debug.generate_etrecord": _EXPORT,
    "debug.generate_full_logits": _EXPORT,
    "debug.verbose": _EXPORT,
    "multimethod.methods": _METHODS,
    "multimethod.share_mutable_buffers": _METHODS,
    "quantization.pt2e_quantize": _TRANSFORM,
    "quantization.use_spin_quant": _PREQUANTIZED,
    "quantization.use_qat": _PREQUANTIZED,
    "quantization.quantize_scope": _CONFIG,
    "quantization.activation_bits": "extension/llm/quantization/blocks_test.py",
    "quantization.budget": "extension/llm/quantization/budget_test.py",
    "quantization.calibration_tasks": _CONFIG,
    "quantization.calibration_limit": _CONFIG,
    "backend.xnnpack.extended_ops": _EXPORT,
    "backend.openvino.enabled": _OPENVINO,
    "backend.openvino.device": _OPENVINO,
    "backend.openvino.nncf_compression_group_size": _OPENVINO,
    "backend.openvino.openvino_awq": _OPENVINO,
    "backend.openvino.openvino_scale_estimation": _OPENVINO,
    "backend.vulkan.enabled": _VULKAN,
    "backend.vulkan.force_fp16": _VULKAN,
    "backend.mps.enabled": "backends/apple/mps/test/mps_llm_test.py",
    "backend.coreml.enabled": _COREML,
    "backend.coreml.enable_state": _COREML,
    "backend.coreml.preserve_sdpa": _COREML,
    "backend.coreml.quantize": _COREML,
    "backend.coreml.ios": _COREML,
    "backend.coreml.compute_units": _COREML,
}
# keys that the tests below export with
HERE = {
    "base.lora_config.lora_rank",
    "base.lora_config.lora_alpha",
    "base.lora_config.target_modules",
    "base.tokenizer_path",
    "model.input_prune_map",
    "model.output_prune_map",
    "export.export_only",
    "quantization.calibration_data",
    "quantization.calibration_seq_length",
}


def keys_of(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from keys_of(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_every_option_has_a_test() -> None:
    absent = tuple(f"backend.{name}." for name in BACKENDS if name not in PRESENT)
    expected = {key for key, _ in all_keys() if not key.startswith(absent)}
    exported = {key for groups, _ in ROWS.values() for key in keys_of(groups)} | HERE
    assert expected - exported - set(ELSEWHERE) == set()
    assert set(ELSEWHERE) <= expected and not HERE & set(ELSEWHERE)
    texts = {file: (ROOT / file).read_text() for file in ELSEWHERE.values()}
    unsaid = [key for key, file in ELSEWHERE.items() if key.split(".")[-1] not in texts[file]]
    assert not unsaid


@pytest.mark.req("LLM-002", "LLM-005", "LLM-008")
@pytest.mark.parametrize(
    "name",
    [name if name in _ALWAYS else pytest.param(name, marks=pytest.mark.full) for name in ROWS],
)
def test_a_program_computes_what_its_eager_model_does(
    name: str, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, model = checkpoint
    groups, decibels = ROWS[name]
    path = tmp_path / "m.pte"
    export = {**groups.get("export", {}), "output_name": str(path)}
    config = config_for(folder, **{**groups, "export": export})
    if "torchao" in groups.get("backend", {}):  # tables are shared where the checkpoint ties them
        state = {k: v for k, v in model.state_dict().items() if k != "output.weight"}
        torch.save(state, tmp_path / "tied.pth")
        config.base.checkpoint = str(tmp_path / "tied.pth")
    expected = stepwise(prepared(config))
    export_llama(config)
    found = run_steps(path)
    assert found.dtype == expected.dtype
    if decibels is None:
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    else:  # a value at the edge of two codes may fall to the other side
        assert compute_error(expected.float(), found.float()) > decibels


def write_map(path: Path, kept: list[int]) -> str:
    path.write_text(json.dumps(dict(enumerate(kept))))
    return str(path)


@pytest.mark.req("LLM-005")
@pytest.mark.parametrize(
    "tied", [False, pytest.param(True, marks=pytest.mark.full)], ids=["own_output", "tied"]
)
def test_a_pruned_vocabulary(tied: bool, checkpoint: tuple, tmp_path: Path) -> None:
    """Of a checkpoint of the whole vocabulary: tokens are numbers of kept rows, logits of others are -inf."""
    folder, model = checkpoint
    ins, outs = sorted(set(TOKENS.flatten().tolist())), [3, 40, 5, 90]
    path = tmp_path / "m.pte"
    maps = {
        "input_prune_map": write_map(tmp_path / "in.json", ins),
        "output_prune_map": write_map(tmp_path / "out.json", outs),
    }
    config = config_for(folder, model=maps, export={"output_name": str(path)})
    state = model.state_dict()
    if tied:
        state = {**state, "output.weight": state["tok_embeddings.weight"]}
        left = {name: value for name, value in state.items() if name != "output.weight"}
        torch.save(left, tmp_path / "tied.pth")
        config.base.checkpoint = str(tmp_path / "tied.pth")
    export_llama(config)
    found = run_steps(path, tokens=torch.tensor([[ins.index(t) for t in TOKENS[0].tolist()]]))
    whole = torch.func.functional_call(model, state, (TOKENS,))
    expected = last_of_steps(whole)
    torch.testing.assert_close(found[:, outs], expected[:, outs], rtol=1e-4, atol=1e-4)
    others = [column for column in range(found.shape[1]) if column not in outs]
    assert len(found) == len(STEPS) and (found[:, others] == -torch.inf).all()


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        ("{}", "an id for each"),
        ('{"0": 5, "2": 6}', "an id for each"),
        ('{"0": 5, "1": 96}', r"below vocab_size \(96\), found \[96\]"),
        ("[1]", "model.output_prune_map: expected a JSON object"),
    ],
)
def test_maps_that_prune_nothing_sensible(
    kept: str, words: str, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, _ = checkpoint
    (tmp_path / "map.json").write_text(kept)
    options = {"output_prune_map": str(tmp_path / "map.json")}
    with pytest.raises(ValueError, match=words):
        prepared(config_for(folder, model=options))


@pytest.mark.full
@pytest.mark.req("LLM-014")
def test_an_adapter_told_by_its_rank(checkpoint: tuple, tmp_path: Path) -> None:
    """Without the adapter_config.json of its folder."""
    folder, model = checkpoint
    adapter = write_adapter(tmp_path / "adapter", 5)
    path = tmp_path / "m.pte"
    config = config_for(folder, export={"output_name": str(path)})
    config.base.lora_config = LoraConfig(
        adapter_checkpoint=adapter["adapter_checkpoint"],
        lora_rank=4,
        lora_alpha=8,
        target_modules=TARGETS,
    )
    export_llama(config)
    found = run_steps(path, steps=[(0, TOKENS.shape[1])])
    torch.testing.assert_close(found, expected_logits(model, adapter), rtol=1e-4, atol=1e-4)


def test_an_export_only_writes_nothing(checkpoint: tuple, tmp_path: Path) -> None:
    folder, _ = checkpoint
    export = {"export_only": True, "output_name": str(tmp_path / "m.pte")}
    export_llama(config_for(folder, export=export))
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.req("LLM-008")
def test_a_graph_is_calibrated_with_a_text(checkpoint: tuple, tmp_path: Path) -> None:
    """Scales of dynamic quantization are those of each call: the text changes nothing, and is read."""
    folder, _ = checkpoint
    tokenizer = word_tokenizer(tmp_path)
    logits = []
    for text in (None, "w1 w2 w2 w1"):
        path = tmp_path / "m.pte"
        quantization: dict[str, Any] = {"pt2e_quantize": "xnnpack_dynamic"}
        if text:
            quantization |= {"calibration_data": text, "calibration_seq_length": 3}
        config = config_for(
            folder,
            quantization=quantization,
            backend=_XNNPACK,
            export={"output_name": str(path)},
        )
        config.base.tokenizer_path = tokenizer if text else None
        export_llama(config)
        logits.append(run_steps(path))
    torch.testing.assert_close(logits[0], logits[1])


def test_a_text_that_is_predicted_leaves_nothing_in_the_program(
    checkpoint: tuple, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys and values of the text would be in its caches."""
    folder, _ = checkpoint
    text = tmp_path / "text.txt"
    text.write_text(" ".join(f"w{i}" for i in range(60)))
    found = []
    for given_text in (None, text):
        export = {"output_name": str(tmp_path / "m.pte")}
        config = config_for(folder, export=export)
        config.base.tokenizer_path = word_tokenizer(tmp_path)
        found.append(Path(export_llama(config, given_text)).read_bytes())
    assert found[0] == found[1]
    assert re.fullmatch(
        r"(perplexity (before|after): [\d.]+ over 60 tokens\n){2}", capsys.readouterr().out
    )
