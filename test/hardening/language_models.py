# SPDX-License-Identifier: BSD-3-Clause
"""Small programs of language models to be corrupted: with the operators of namespace llama, caches in buffers of float,
of 8 bits and of windows, weights of 4 bits on XNNPACK and of 3 on kernels, and with weights in a data file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama

_SHAPE = {
    "dim": 32,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 48,
    "hidden_dim": 64,
    "norm_eps": 1e-5,
}
_OPERATORS = {"use_kv_cache": True, "use_sdpa_with_kv_cache": True}
_GROUPS: dict[str, dict[str, Any]] = {
    "llm_operators": {"model": _OPERATORS},
    "llm_8_bit_cache": {"model": {**_OPERATORS, "quantize_kv_cache": True}},
    "llm_windows": {"model": {**_OPERATORS, "local_global_attention": [8, 0]}},
    "llm_4_bits": {
        "model": _OPERATORS,
        "quantization": {"qmode": "8da4w", "group_size": 32, "embedding_quantize": "4,32"},
        "backend": {"xnnpack": {"enabled": True}},
    },
    "llm_low_bits": {
        "model": _OPERATORS,
        "quantization": {
            "qmode": "torchao:8da3w",
            "group_size": 32,
            "embedding_quantize": "torchao:3,32",
        },
        "backend": {"torchao": {"use_torchao_kernels_linear": True}},
    },
    "llm_weights_beside": {
        "model": {"use_kv_cache": True},
        "export": {"foundation_weights_file": "llm_weights"},
        "backend": {"xnnpack": {"enabled": True}},
    },
}
WEIGHTS = "llm_weights.ptd"  # of llm_weights_beside
NAMES = tuple(name for name in _GROUPS if name != "llm_weights_beside")
INPUTS = {"forward": [torch.tensor([[3, 1, 4, 1]]), torch.tensor([2])]}


def make(name: str, folder: Path) -> Path:
    """`<name>.pte` in the folder, with random weights; `llm_weights_beside` has WEIGHTS there, too."""
    torch.manual_seed(0)
    params = folder / "params.json"
    params.write_text(json.dumps(_SHAPE))
    path = folder / f"{name}.pte"
    groups = _GROUPS[name]
    base = {"model_class": "llama2", "checkpoint": "random", "params": str(params)}
    lengths = {"max_seq_length": 16, "max_context_length": 16, "output_name": str(path)}
    tree = {**groups, "base": base, "export": {**groups.get("export", {}), **lengths}}
    export_llama(build(tree))
    return path
