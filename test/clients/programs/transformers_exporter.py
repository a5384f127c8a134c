# SPDX-License-Identifier: BSD-3-Clause
"""Networks of transformers, exported and run by its own ExecuTorch exporter, beside eager."""

import json

import torch
from transformers import (
    BertConfig,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    ViTConfig,
    ViTForImageClassification,
)
from transformers.exporters.exporter_executorch import ExecutorchConfig, ExecutorchExporter

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
WORDS = torch.arange(8).reshape(1, 8)
TEXT = {"input_ids": WORDS, "attention_mask": torch.ones_like(WORDS)}
torch.manual_seed(0)
CASES = {
    "bert": (BertModel(BertConfig(vocab_size=99, **SMALL)), TEXT),
    "vit": (
        ViTForImageClassification(ViTConfig(image_size=32, patch_size=8, **SMALL)),
        {"pixel_values": torch.randn(1, 3, 32, 32)},
    ),
    "llama": (LlamaForCausalLM(LlamaConfig(vocab_size=99, **SMALL)), {**TEXT, "use_cache": False}),
}


def largest_difference(name: str) -> float:
    model, inputs = CASES[name]
    model.eval()
    exported = ExecutorchExporter().export(model, dict(inputs), config=ExecutorchConfig())
    exported.save_pretrained(name)
    ours = exported(**inputs)
    with torch.no_grad():
        eager = model(**inputs)
    found = {key: value for key, value in eager.items() if isinstance(value, torch.Tensor)}
    assert found, name
    return max(float((ours[key] - value).abs().max()) for key, value in found.items())


print(json.dumps({name: largest_difference(name) for name in CASES}))
