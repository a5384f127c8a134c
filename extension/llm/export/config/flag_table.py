# SPDX-License-Identifier: BSD-3-Clause
"""Flags of the older command line of `examples.models.llama.export_llama`: a row per flag, each naming the key it
sets."""

from __future__ import annotations

import argparse
from typing import Any

from executorch.extension.llm.export.config.keys import Tree, build_as

# flags, key; a key that ends in "!" is set to False by its flag
FLAGS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("--model",), "base.model_class"),
    (("-o", "--output-dir"), "export.output_dir"),
    (("-n", "--output_name"), "export.output_name"),
    (("-E", "--embedding-quantize"), "quantization.embedding_quantize"),
    (("--use_shared_embedding",), "model.use_shared_embedding"),
    (("--pt2e_quantize",), "quantization.pt2e_quantize"),
    (("-qmode", "--quantization_mode"), "quantization.qmode"),
    (("-G", "--group_size"), "quantization.group_size"),
    (("-c", "--checkpoint"), "base.checkpoint"),
    (("-p", "--params"), "base.params"),
    (("-t", "--tokenizer_path"), "base.tokenizer_path"),
    (("-m", "--metadata"), "base.metadata"),
    (("--adapter_checkpoint",), "base.lora_config.adapter_checkpoint"),
    (("--adapter_config",), "base.lora_config.adapter_config"),
    (("-kv", "--use_kv_cache"), "model.use_kv_cache"),
    (("--quantize_kv_cache",), "model.quantize_kv_cache"),
    (("--use_sdpa_with_kv_cache",), "model.use_sdpa_with_kv_cache"),
    (("--disable_dynamic_shape",), "model.enable_dynamic_shape!"),
    (("--expand_rope_table",), "model.expand_rope_table"),
    (("--use_attention_sink",), "model.use_attention_sink"),
    (("--local_global_attention",), "model.local_global_attention"),
    (("--output_prune_map",), "model.output_prune_map"),
    (("--input_prune_map",), "model.input_prune_map"),
    (("-d", "--dtype-override"), "model.dtype_override"),
    (("--max_seq_length",), "export.max_seq_length"),
    (("--max_context_length",), "export.max_context_length"),
    (("-s", "--so_library"), "export.so_library"),
    (("--export_only",), "export.export_only"),
    (("-v", "--verbose"), "debug.verbose"),
    (("--profile_memory",), "debug.profile_memory"),
    (("-prof", "--profile_path"), "debug.profile_path"),
    (("--generate_etrecord",), "debug.generate_etrecord"),
    (("--generate_full_logits",), "debug.generate_full_logits"),
    (("-X", "--xnnpack"), "backend.xnnpack.enabled"),
    (("--xnnpack-extended-ops",), "backend.xnnpack.extended_ops"),
    (("--use-torchao-kernels-linear",), "backend.torchao.use_torchao_kernels_linear"),
    (
        ("--use-torchao-kernels-tied-embedding",),
        "backend.torchao.use_torchao_kernels_tied_embedding",
    ),
    (("-V", "--vulkan"), "backend.vulkan.enabled"),
    (("--vulkan-force-fp16",), "backend.vulkan.force_fp16"),
    (("--mps",), "backend.mps.enabled"),
    (("--coreml",), "backend.coreml.enabled"),
    (("--coreml-enable-state",), "backend.coreml.enable_state"),
    (("--coreml-preserve-sdpa",), "backend.coreml.preserve_sdpa"),
    (("--coreml-quantize",), "backend.coreml.quantize"),
    (("--coreml-ios",), "backend.coreml.ios"),
    (("--coreml-compute-units",), "backend.coreml.compute_units"),
    (("--qnn",), "backend.qnn.enabled"),
    (("--soc_model",), "backend.qnn.soc_model"),
    (("--use_qnn_sha",), "backend.qnn.use_qnn_sha"),
    (("--num_sharding",), "backend.qnn.num_sharding"),
    (("--optimized_rotation_path",), "backend.qnn.optimized_rotation_path"),
    (("--openvino",), "backend.openvino.enabled"),
    (("--openvino_device",), "backend.openvino.device"),
    (("--openvino_awq",), "backend.openvino.openvino_awq"),
    (("--openvino_scale_estimation",), "backend.openvino.openvino_scale_estimation"),
    (("--vgf", "--arm-vgf"), "backend.vgf.enabled"),
    (("--vgf-compile-spec",), "backend.vgf.compile_spec"),
    (("--vgf-quantize-scope",), "backend.vgf.quantize_scope"),
    (("--mlx",), "backend.mlx.enabled"),
    (("-sq", "--use_spin_quant"), "quantization.use_spin_quant"),
    (("-qat", "--use_qat"), "quantization.use_qat"),
    (("--calibration_tasks",), "quantization.calibration_tasks"),
    (("--calibration_limit",), "quantization.calibration_limit"),
    (("--calibration_seq_length",), "quantization.calibration_seq_length"),
    (("--calibration_data",), "quantization.calibration_data"),
    (("-lora", "--use_lora"), "base.use_lora"),
    (("--preq_mode",), "base.preq_mode"),
    (("--preq_group_size",), "base.preq_group_size"),
    (("--preq_embedding_quantize",), "base.preq_embedding_quantize"),
)
# one flag that sets several keys
BOTH_KERNELS = "use_torchao_kernels"


def config_from_flags(args: argparse.Namespace, cls: type[Tree]) -> Tree:
    """The config that a parsed command line asks for."""
    overrides: list[tuple[str, Any]] = []
    for flags, key in FLAGS:
        value = getattr(args, max(flags, key=len).lstrip("-").replace("-", "_"), None)
        if value is None:
            continue
        if key.endswith("!"):
            overrides += [(key[:-1], False)] if value else []
        else:
            overrides.append((key, value))
    if getattr(args, BOTH_KERNELS, False):
        both = [key for _, key in FLAGS if key.startswith("backend.torchao.")]
        overrides += [(key, True) for key in both]
    return build_as(cls, {}, overrides)
