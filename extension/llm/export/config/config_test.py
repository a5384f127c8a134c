# SPDX-License-Identifier: BSD-3-Clause
"""Options: every documented key and default, files and overrides, the older flags, and what is refused."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from executorch.extension.llm.export.config.flags import build_args_parser
from executorch.extension.llm.export.config.llm_config import (
    LlmConfig,
    ModelType,
    PreqMode,
    Pt2eQuantize,
)
from executorch.extension.llm.export.config.reading import ConfigError, all_keys, read
from executorch.extension.llm.export.config.rules import BACKENDS, PRESENT, check
from executorch.test.repository.sources import ROOT

PAGE = """
base: {model_class: llama3_2, checkpoint: path/to/consolidated.00.pth, params: path/to/params.json,
  metadata: '{"get_bos_id":128000, "get_eos_ids":[128009, 128001]}'}
model: {use_kv_cache: True, use_sdpa_with_kv_cache: True}
quantization: {embedding_quantize: '4,32', qmode: 8da4w}
backend: {xnnpack: {enabled: True, extended_ops: True}}
debug: {verbose: True}
"""


@pytest.mark.req("LLM-002", "LLM-011")
def test_every_documented_key_exists_with_its_default() -> None:
    keys = dict(all_keys())
    default = LlmConfig()
    expected = {
        "base.model_class": ModelType.llama3,
        "base.preq_group_size": 32,
        "base.preq_embedding_quantize": "8,0",
        "base.use_lora": 0,
        "model.enable_dynamic_shape": True,
        "model.use_kv_cache": False,
        "export.max_seq_length": 128,
        "export.max_context_length": 128,
        "export.output_dir": ".",
        "quantization.use_hqq": True,
        "quantization.calibration_data": "Once upon a time",
        "backend.coreml.ios": 15,
        "backend.qnn.soc_model": "SM8650",
        "backend.openvino.nncf_compression_group_size": 32,
        "backend.ethosu.target": "ethos-u85-128",
        "backend.tosa.version": "TOSA-1.0+INT",
        "backend.vgf.compile_spec": "TOSA-1.0+INT",
        "backend.mlx.enabled": False,
        "backend.mps.enabled": False,
        "backend.vulkan.force_fp16": False,
        "multimethod.share_mutable_buffers": False,
        "debug.profile_path": None,
    }
    for key, value in expected.items():
        assert key in keys, key
        found = default
        for part in key.split("."):
            found = getattr(found, part)
        assert found == value, key
    assert len(Pt2eQuantize) == 18 and str(PreqMode("8da4w_output_8da8w")) == "8da4w_output_8da8w"


@pytest.mark.req("LLM-001", "LLM-003", "LLM-016", "LLM-C03")
def test_a_file_and_overrides_make_a_config(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(PAGE)
    config = read(path, ["+export.max_seq_length=64", "model.local_global_attention=[0,16]"])
    assert config.base.model_class is ModelType.llama3_2
    assert config.base.metadata == '{"get_bos_id":128000, "get_eos_ids":[128009, 128001]}'
    assert config.model.use_sdpa_with_kv_cache and config.backend.xnnpack.extended_ops
    assert (config.quantization.qmode, config.quantization.embedding_quantize) == ("8da4w", "4,32")
    assert config.export.max_seq_length == 64 and config.model.local_global_attention == [0, 16]


def test_json_in_an_override_needs_no_quotes_of_its_own() -> None:
    text = '{"get_bos_id":128000, "get_eos_ids":[128009, 128001], "get_max_context_len":4096}'
    assert read(None, [f"+base.metadata={text}"]).base.metadata == text
    assert read(None, [f"base.metadata='{text}'"]).base.metadata == text


def test_methods_and_adapters_are_groups_that_may_be_absent() -> None:
    config = read(None, ["base.lora_config.lora_rank=4", "base.preq_mode=8da4w"])
    assert config.base.lora_config.lora_rank == 4 and config.base.preq_mode is PreqMode("8da4w")
    config = read(None, ["multimethod.methods=[{method_name: a}, {method_name: b}]"])
    assert [method.method_name for method in config.multimethod.methods] == ["a", "b"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("base.modelclass=llama3", "'base.modelclass'; did you mean 'base.model_class'"),
        ("qmode=8da4w", "did you mean 'quantization.qmode'"),
        ("backend.xnpack.enabled=True", "did you mean 'backend.xnnpack.enabled'"),
        ("model.use_kv_cache=maybe", "model.use_kv_cache.*not a valid bool"),
        ("base.model_class=lama3", "base.model_class.*lama3"),
        ("quantization.qmode=8da9w", "quantization.qmode.*8da9w"),
        ("quantization.qmode=torchao:8da9w", "1 to 8 bits"),
        ("quantization.embedding_quantize=3,32", "quantization.embedding_quantize"),
        ("model.use_attention_sink=4", "sink,window"),
        ("export.max_context_length=64", "at least export.max_seq_length"),
        ("quantization.group_size=0", "1 or more"),
        ("backend.coreml.ios=14", "backend.coreml.ios"),
        ("base.model_class", "expected an override"),
        ("~base.params", "expected an override"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(override: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(None, [override])


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read(tmp_path / "absent.yaml", [])
    path = tmp_path / "bad.yaml"
    path.write_text("base: [")
    with pytest.raises(ConfigError, match=r"bad.yaml: not YAML"):
        read(path, [])
    path.write_text("bass: {model_class: llama3}")
    with pytest.raises(ConfigError, match=r"bad.yaml: unknown option 'bass'; did you mean 'base'"):
        read(path, [])


@pytest.mark.req("LLM-005", "LLM-011")
@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ("model.use_sdpa_with_kv_cache=True", "needs model.use_kv_cache"),
        ("model.quantize_kv_cache=True", "needs model.use_kv_cache"),
        ("model.use_attention_sink='4,12'", "needs model.use_kv_cache"),
        ("model.use_shared_embedding=True", "torchao: forms"),
        ("quantization.use_spin_quant=native", "base.preq_mode"),
        ("base.preq_mode=8da4w", "use_spin_quant"),
        ("quantization.pt2e_quantize=qnn_8a8w", "not in this package"),
        ("backend.mlx.enabled=True", "backend.mlx is not in this package"),
        ("base.model_class=llama3_2_vision", "torchtune"),
        ("quantization.quantize_scope=linear", "Arm backends"),
        ("quantization.calibration_tasks=[hellaswag]", "lm_eval"),
        ("quantization.calibration_limit=2", "lm_eval"),
        ("base.lora_config.adapter_quant=8da4w", "adapter_quant is not supported here yet"),
        ("quantization.qmode=gguf model.input_prune_map=m", "input_prune_map"),
        ("export.foundation_weights_file=f multimethod.methods=[{method_name:a}]", "one method"),
        ("base.lora_config.lora_rank=2 multimethod.methods=[{method_name:a}]", "adapters"),
        ("export.embed=True multimethod.methods=[{method_name:a}]", "export.embed adds a method"),
    ],
)
def test_combinations_that_cannot_be(overrides: str, words: str) -> None:
    config = read(None, overrides.split())
    with pytest.raises(ValueError, match=words):
        check(config)


@pytest.mark.parametrize("name", [name for name in BACKENDS if name not in PRESENT])
def test_backends_that_are_not_here_are_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"backend\.{name} is not in this package"):
        check(read(None, [f"backend.{name}.enabled=True"]))


@pytest.mark.parametrize("name", [str(each) for each in Pt2eQuantize])
def test_quantizers_of_backends_that_are_not_here_are_refused(name: str) -> None:
    config = read(None, [f"quantization.pt2e_quantize={name}"])
    if name.startswith(PRESENT):
        check(config)
        return
    with pytest.raises(ValueError, match="its backend is not in this package"):
        check(config)


@pytest.mark.req("LLM-015", "LLM-C05")
def test_the_older_flags_set_the_same_keys() -> None:
    line = """-c CKPT -p PARAMS -d fp32 --vulkan -qmode 8da4w -G 64 --max_seq_length 2048 --max_context_length 2048 -kv
    --use_sdpa_with_kv_cache --metadata '{"append_eos_to_prompt": 0, "get_bos_id":128000}' --model llama3_2
    --vulkan-force-fp16 --disable_dynamic_shape --local_global_attention [0,8] --output_name X.pte
    --use-torchao-kernels --preq_mode 8da4w_output_8da8w"""
    config = LlmConfig.from_args(build_args_parser().parse_args(shlex.split(line)))
    assert (config.base.checkpoint, config.base.params) == ("CKPT", "PARAMS")
    assert config.base.model_class is ModelType.llama3_2
    assert config.quantization.qmode == "8da4w" and config.quantization.group_size == 64
    assert config.export.max_context_length == 2048 and config.export.output_name == "X.pte"
    assert config.model.use_kv_cache and not config.model.enable_dynamic_shape
    assert config.model.local_global_attention == [0, 8]
    assert config.backend.vulkan.enabled and config.backend.vulkan.force_fp16
    bare = LlmConfig.from_args(build_args_parser().parse_args(["--vulkan"]))
    assert bare.backend.vulkan.enabled and not bare.backend.vulkan.force_fp16
    assert config.backend.torchao.use_torchao_kernels_linear
    assert config.base.preq_mode is PreqMode("8da4w_output_8da8w")


def test_params_files_are_in_the_package() -> None:
    from executorch.extension.llm.model.families import FAMILIES

    for name, family in FAMILIES.items():
        assert family.params is None or (ROOT / family.params).is_file(), name
