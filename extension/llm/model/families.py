# SPDX-License-Identifier: BSD-3-Clause
"""The table of model families: adding one is a row here and its params file.

A row says where the shape is written down, where weights come from, and how checkpoints in Hugging Face's names
differ from the plain ones (`checkpoint/keys.py`). The classes of Llama have no params file: theirs comes with
the checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """`params` is relative to the package; `names` are rows of `checkpoint.keys`, later ones winning.

    tied: a checkpoint without an output layer means that the embedding table is it.
    has_neighbors: files of Hugging Face have queries and keys in Llama's own order, not in halves.
    """

    params: str | None = None
    repo: str | None = None
    names: tuple[str, ...] = ("base",)
    tied: bool = True
    prefix: str = "model."  # of the text model's names
    has_neighbors: bool = False


def _models(folder: str, file: str) -> str:
    return f"examples/models/{folder}/{file}"


_QWEN = ("base", "qkv_bias")
_QK_NORM = ("base", "qk_norm")

FAMILIES: dict[str, Family] = {
    "stories110m": Family(),
    "llama2": Family(),
    "llama3": Family(),
    "llama3_1": Family(),
    "llama3_2": Family(),
    "static_llama": Family(),
    "qwen2_5_0_5b": Family(
        _models("qwen2_5", "config/0_5b_config.json"), "Qwen/Qwen2.5-0.5B", _QWEN
    ),
    "qwen2_5_1_5b": Family(
        _models("qwen2_5", "config/1_5b_config.json"), "Qwen/Qwen2.5-1.5B", _QWEN
    ),
    "qwen2_5_coder_32b": Family(
        _models("qwen2_5", "config/coder_32b_config.json"),
        "Qwen/Qwen2.5-Coder-32B-Instruct",
        _QWEN,
        tied=False,
    ),
    "qwen3_0_6b": Family(_models("qwen3", "config/0_6b_config.json"), "Qwen/Qwen3-0.6B", _QK_NORM),
    "qwen3_1_7b": Family(_models("qwen3", "config/1_7b_config.json"), "Qwen/Qwen3-1.7B", _QK_NORM),
    "qwen3_4b": Family(_models("qwen3", "config/4b_config.json"), "Qwen/Qwen3-4B", _QK_NORM),
    "qwen3_5_0_8b": Family(
        _models("qwen3_5", "config/0_8b_config.json"),
        "Qwen/Qwen3.5-0.8B",
        (*_QK_NORM, "delta_net"),
        prefix="model.language_model.",
    ),
    "qwen3_5_2b": Family(
        _models("qwen3_5", "config/2b_config.json"),
        "Qwen/Qwen3.5-2B",
        (*_QK_NORM, "delta_net"),
        prefix="model.language_model.",
    ),
    "qwen3_5_4b": Family(
        _models("qwen3_5", "config/4b_config.json"),
        "Qwen/Qwen3.5-4B",
        (*_QK_NORM, "delta_net"),
        prefix="model.language_model.",
    ),
    "phi_4_mini": Family(
        _models("phi_4_mini", "config/config.json"),
        "microsoft/Phi-4-mini-instruct",
        ("base", "fused"),
    ),
    "smollm2": Family(_models("smollm2", "135M_config.json"), "HuggingFaceTB/SmolLM2-135M"),
    "lfm2_350m": Family(
        _models("lfm2", "config/lfm2_350m_config.json"), "LiquidAI/LFM2-350M", ("base", "lfm2")
    ),
    "lfm2_700m": Family(
        _models("lfm2", "config/lfm2_700m_config.json"), "LiquidAI/LFM2-700M", ("base", "lfm2")
    ),
    "lfm2_1_2b": Family(
        _models("lfm2", "config/lfm2_1_2b_config.json"), "LiquidAI/LFM2-1.2B", ("base", "lfm2")
    ),
    "lfm2_5_350m": Family(
        _models("lfm2", "config/lfm2_5_350m_config.json"), "LiquidAI/LFM2.5-350M", ("base", "lfm2")
    ),
    "lfm2_5_1_2b": Family(
        _models("lfm2", "config/lfm2_5_1_2b_config.json"),
        "LiquidAI/LFM2.5-1.2B-Instruct",
        ("base", "lfm2"),
    ),
    "smollm3_3b": Family(_models("smollm3", "3b_config.json"), "HuggingFaceTB/SmolLM3-3B"),
    "granite_2b": Family(
        _models("granite", "config/2b_config.json"),
        "ibm-granite/granite-3.3-2b-instruct",
    ),
    "granite_speech_2b": Family(
        _models("granite_speech", "config/2b_config.json"), prefix="language_model.model."
    ),
    "internvl3_1b": Family(
        _models("internvl3", "1b_config.json"), None, _QWEN, prefix="language_model.model."
    ),
    "smolvlm_500m": Family(_models("smolvlm", "500M_config.json"), prefix="model.text_model."),
    "glm_1_5b": Family(
        _models("glm", "config/1_5b_config.json"), names=("base", "fused"), has_neighbors=True
    ),
    "gemma_2b": Family(_models("gemma", "config/2b_config.json"), "google/gemma-2b"),
    "gemma2_2b": Family(
        _models("gemma2", "config/2b_config.json"),
        "google/gemma-2-2b",
        ("base", "gemma_norms"),
    ),
    "gemma3_1b": Family(
        _models("gemma3", "config/1b_config.json"),
        "google/gemma-3-1b-it",
        ("base", "gemma_norms", "qk_norm"),
    ),
}
