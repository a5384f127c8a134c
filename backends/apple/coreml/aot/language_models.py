# SPDX-License-Identifier: BSD-3-Clause
"""What `export_llm` asks of Core ML (LANGUAGE_MODELS of exir/backend/lowering/manifest.py)."""

from __future__ import annotations

from typing import Any

import torch

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner

PREFIX = "coreml_"  # of the file's name
# OpLinearQuantizerConfig of backend.coreml.quantize.
_SYMMETRIC = {"mode": "linear_symmetric", "dtype": "int4"}
_WEIGHTS = {
    "b4w": {**_SYMMETRIC, "granularity": "per_block", "block_size": 32, "weight_threshold": 512},
    "c4w": {**_SYMMETRIC, "granularity": "per_channel"},
}


def partitioner(
    ios: int = 15,
    embedding_quantize: str | None = None,
    pt2e_quantize: str | None = None,
    coreml_quantize: str | None = None,
    coreml_compute_units: str | None = None,
    enable_state: bool = False,
) -> CoreMLPartitioner:
    """`enable_state`: caches are Core ML's states; else delegates are given them and give them back."""
    assert ios in (15, 16, 17, 18), f"ios: expected 15, 16, 17 or 18, found {ios}"
    if reason := _why_later(ios, embedding_quantize, pt2e_quantize, coreml_quantize):
        raise ValueError(reason)
    specs = CoreMLBackend.generate_compile_specs(
        compute_unit=ct.ComputeUnit[(coreml_compute_units or "cpu_only").upper()],
        minimum_deployment_target=ct.target[f"iOS{ios}"],
        op_linear_quantizer_config=_WEIGHTS[coreml_quantize] if coreml_quantize else None,
    )
    return CoreMLPartitioner(compile_specs=specs, take_over_mutable_buffer=enable_state)


def _why_later(
    ios: int, embeddings: str | None, pt2e: str | None, weights: str | None
) -> str | None:
    """What is asked for and `ios` lacks."""
    names = f"{pt2e or ''} {weights or ''}"
    needed = (
        (18, embeddings, "per-block quantization"),
        (16, pt2e or weights, "quantization"),
        (17, "8a" in names, "8-bit activation quantization"),
        (18, "4w" in names, "4-bit weight compression"),
    )
    return next(
        (f"In Core ML, {what} is introduced in iOS {first}" for first, asked, what in needed
         if asked and ios < first),
        None,
    )  # fmt: skip


def _of_config(config: Any) -> dict[str, Any]:
    coreml, quantization = config.backend.coreml, config.quantization
    return {
        "ios": coreml.ios,
        "embedding_quantize": _name(quantization.embedding_quantize),
        "pt2e_quantize": _name(quantization.pt2e_quantize),
        "coreml_quantize": _name(coreml.quantize),
    }


def _name(choice: Any) -> str | None:
    return None if choice is None else str(getattr(choice, "value", choice))


def partitioners(config: Any) -> list[Any]:
    coreml = config.backend.coreml
    return [
        partitioner(
            **_of_config(config),
            coreml_compute_units=_name(coreml.compute_units),
            enable_state=coreml.enable_state,
        )
    ]


def quantizers(name: str) -> list[Any]:
    """Of 4 bits neither 1.4.1 nor coremltools' observers have one."""
    if name in ("coreml_c4w", "coreml_8a_c4w"):
        raise NotImplementedError(
            f"4-bit Core ML quantizer is still under development: {name}; backend.coreml.quantize=c4w rounds weights "
            "to 4 bits"
        )
    if name == "coreml_8a_c8w":
        from executorch.backends.apple.coreml.recipes.provider import eight_bits

        return [eight_bits(torch.quint8)]
    bits = {"coreml_baseline_8a_c8w": 8, "coreml_baseline_8a_c4w": 4}.get(name)
    if bits is None:
        raise ValueError(f"Unsupported Core ML quantizer specification {name}")
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    limits = {"weight_qmin": -8, "weight_qmax": 7} if bits == 4 else {}
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=False, **limits)
    return [XNNPACKQuantizer().set_global(config)]


RULES = (
    (
        lambda c: c.model.enable_dynamic_shape,
        "Dynamic shape is not supported with coreml, MPS or qnn backends. Please use --disable_dynamic_shape: "
        "model.enable_dynamic_shape=False",
    ),
    (
        lambda c: _why_later(*_of_config(c).values()),
        "backend.coreml.ios: 16 has quantization, 17 activations of 8 bits, 18 weights of 4 bits and "
        "quantization.embedding_quantize",
    ),
    (
        lambda c: c.backend.coreml.enable_state and c.backend.coreml.ios < 18,
        "backend.coreml.enable_state needs backend.coreml.ios=18, which has states",
    ),
    (
        lambda c: c.backend.coreml.preserve_sdpa and c.backend.coreml.ios < 18,
        "backend.coreml.preserve_sdpa needs backend.coreml.ios=18, which has attention as one operator",
    ),
    (
        lambda c: c.model.use_sdpa_with_kv_cache,
        "model.use_sdpa_with_kv_cache is attention for CPUs, which Core ML does not have: leave it out",
    ),
)
