# SPDX-License-Identifier: BSD-3-Clause
"""Models whose weights torchao's kernels read: every number of bits, in a program."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torchao.quantization.utils import compute_error

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.llm.export.caches_test import operators, run_steps
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.transform.transform_test import (
    TOKENS,
    checkpoint,
    config_for,
    last_of_steps,
    prepared,
    stepwise,
)

__all__ = ["checkpoint"]  # the fixture


@pytest.mark.req("LLM-008", "LLM-009", "KS-008")
@pytest.mark.parametrize(
    "bits", [5, *(pytest.param(bits, marks=pytest.mark.full) for bits in (1, 2, 3, 4, 6, 7, 8))]
)
def test_packed_weights_compute_what_their_eager_model_does(
    bits: int, checkpoint: tuple, tmp_path: Path
) -> None:
    folder, model = checkpoint
    path = tmp_path / "m.pte"
    config = config_for(
        folder,
        quantization={
            "qmode": f"torchao:8da{bits}w",
            "group_size": 32,
            "embedding_quantize": f"torchao:{bits},32",
        },
        backend={"torchao": {"use_torchao_kernels_linear": True}},
        export={"output_name": str(path)},
    )
    eager = stepwise(prepared(config))
    if bits > 2:
        assert compute_error(last_of_steps(model(TOKENS)), eager) > 6 * bits - 18
    export_llama(config)
    called = {f"torchao::_linear_8bit_act_{bits}bit_weight", f"torchao::_embedding_{bits}bit"}
    assert called <= operators(path)
    # a value at the edge of two codes may fall to the other side
    assert compute_error(eager, run_steps(path)) > 30


@pytest.mark.req("LLM-007", "KS-008")
def test_a_tied_table_is_packed_once(checkpoint: tuple, tmp_path: Path) -> None:
    """The embedding reads rows of the output layer's packed weight."""
    folder, model = checkpoint
    state = {k: v for k, v in model.state_dict().items() if k != "output.weight"}
    torch.save(state, tmp_path / "tied.pth")
    path = tmp_path / "m.pte"
    config = config_for(
        folder,
        model={"use_shared_embedding": True},
        quantization={
            "qmode": "torchao:8da4w",
            "group_size": 32,
            "embedding_quantize": "torchao:4,32",
        },
        backend={"torchao": {"use_torchao_kernels_linear": True}},
        export={"output_name": str(path)},
    )
    config.base.checkpoint = str(tmp_path / "tied.pth")
    eager = stepwise(prepared(config))
    export_llama(config)
    called = {"torchao::_shared_embedding_4bit", "torchao::_linear_8bit_act_4bit_weight"}
    assert called <= operators(path) and "torchao::_embedding_4bit" not in operators(path)
    assert compute_error(eager, run_steps(path)) > 30
    packed = len(state["tok_embeddings.weight"]) * (32 + 16)  # 4 bits, a scale and a sum a group
    buffers = deserialize_pte_binary(path.read_bytes()).program.constant_buffer
    sizes = [len(buffer.storage) for buffer in buffers]
    # and w1, w2 and w3 of two layers, which are of its size
    assert sum(packed <= size <= packed + 64 for size in sizes) == 1 + 6
