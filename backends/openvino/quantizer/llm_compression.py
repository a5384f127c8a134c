# SPDX-License-Identifier: BSD-3-Clause
"""Weights of language models, compressed by NNCF with or without calibration text."""

from __future__ import annotations

from typing import Any

import torch

from executorch.backends.openvino.quantizer.nncf_library import nncf


def get_calibration_data(tokenizer: Any, text: str, max_len: int) -> list[tuple[int, int]]:
    """(position, token) of a text, at most `max_len`."""
    tokens = tokenizer.encode(text, bos=True, eos=False)
    return list(enumerate(tokens[:max_len]))


def transform_fn(
    position_and_token: tuple[int, int], token_dtype: torch.dtype = torch.int64
) -> Any:
    """What a model with a key-value cache is given for one token."""
    position, token = position_and_token
    return (
        torch.tensor([[token]], dtype=token_dtype),
        {"input_pos": torch.tensor([position], dtype=torch.int64)},
    )


def apply_nncf_data_aware_compression(
    builder: Any, quantizer: Any, awq: bool, scale_estimation: bool
) -> Any:
    """Compresses the builder's exported module with `quantizer`; AWQ and scale estimation look at the builder's
    calibration text."""
    library = nncf()
    from nncf.experimental.torch.fx import compress_pt2e

    dataset = None
    if awq or scale_estimation:
        dataset = _dataset(builder, library, scale_estimation)
    builder.pre_autograd_graph_module = compress_pt2e(
        builder.pre_autograd_graph_module,
        quantizer=quantizer,
        dataset=dataset,
        awq=awq,
        scale_estimation=scale_estimation,
    )
    return builder


def _dataset(builder: Any, library: Any, needed: bool) -> Any:
    """None when nothing asks for one and the builder has none."""
    wanted = {
        "calibration_data": getattr(builder, "calibration_data", None),
        "calibration_seq_length": getattr(builder, "calibration_seq_length", None),
        "tokenizer_path": getattr(builder, "tokenizer_path", None),
    }
    missing = [name for name, value in wanted.items() if value is None]
    if missing:
        if needed:
            raise ValueError(f"scale estimation needs calibration text: give {', '.join(missing)}")
        return None
    from pytorch_tokenizers import get_tokenizer

    data = get_calibration_data(
        get_tokenizer(wanted["tokenizer_path"]),
        wanted["calibration_data"],
        wanted["calibration_seq_length"],
    )
    return library.Dataset(data, transform_fn)
