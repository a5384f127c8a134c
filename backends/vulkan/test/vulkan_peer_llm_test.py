# SPDX-License-Identifier: BSD-3-Clause
"""A small Llama that ExecuTorch 1.4.1's export_llm lowers to Vulkan: its logits here are those of our CPU program, and
ours for Vulkan has the same operators (VK-019, LLM-017)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.vulkan.test.lowered import kernels_of, payloads
from executorch.backends.vulkan.test.reference import graph_of
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.runtime import Runtime
from executorch.test.interop import peer
from executorch.test.interop.llm_test import CALLS, LENGTHS, SHAPE

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not Runtime.get().backend_registry.is_available("VulkanBackend"),
        reason="this build has no Vulkan backend, or no device is here",
    ),
]
MODEL = {"use_kv_cache": True, "use_sdpa_with_kv_cache": True}
FEW_BITS = {"qmode": "8da4w", "group_size": 32, "embedding_quantize": "4,32"}
# quantization, options of Vulkan, and by how much logits may be others, beside the largest: the order of sums; a half
# has 11 bits, and rounds at each of some hundred calls
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
    "float": ({}, {}, 1e-5),
    "8da4w": (FEW_BITS, {}, 1e-5),
    "half": (FEW_BITS, {"force_fp16": True}, 2e-2),
}
FUSED = ("linear", "rms_norm", "rotary", "sdpa", "embedding", "choose_qparams", "sigmoid")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`ROW.SIDE.pte` for Vulkan of both sides, and `ROW.cpu.pte`."""
    folder = tmp_path_factory.mktemp("llama")
    torch.manual_seed(4)
    model = construct_transformer(ModelArgs(**SHAPE, max_seq_len=32, max_context_len=32))
    torch.save(model.state_dict(), folder / "weights.pth")
    (folder / "params.json").write_text(json.dumps(SHAPE))
    files = {"checkpoint": str(folder / "weights.pth"), "params": str(folder / "params.json")}
    jobs = []
    for name, (quantization, options, _) in ROWS.items():
        tree = {"base": {"model_class": "llama3_2", **files}, "model": MODEL, "quantization": quantization}  # fmt: skip
        vulkan = {**tree, "backend": {"vulkan": {"enabled": True, **options}}}
        for side, given in (("cpu", tree), ("ours", vulkan)):
            out = {"output_name": str(folder / f"{name}.{side}.pte")}
            export_llama(build({**given, "export": {**LENGTHS, **out}}))
        jobs.append(peer.export_llm_job({**vulkan, "export": LENGTHS}, folder / f"{name}.theirs.pte"))  # fmt: skip
    peer.do(jobs, folder)
    return folder


def logits(path: Path) -> torch.Tensor:
    method = Runtime.get().load_program(peer.result(path)).load_method("forward")
    return torch.cat([method.execute(inputs)[0].clone() for _, inputs in CALLS])


@pytest.mark.req("VK-019", "LLM-017")
@pytest.mark.parametrize("side", ["theirs", "ours"])
@pytest.mark.parametrize("name", ROWS)
def test_logits_are_the_cpus(name: str, side: str, folder: Path) -> None:
    found, expected = (logits(folder / f"{name}.{each}.pte") for each in (side, "cpu"))
    assert (found - expected).abs().max() <= ROWS[name][2] * expected.abs().max()


@pytest.mark.parametrize("name", ROWS)
def test_both_fuse_the_same(name: str, folder: Path) -> None:
    def fused(side: str) -> Counter[str]:
        file = (folder / f"{name}.{side}.pte").read_bytes()
        assert not kernels_of(file)
        names = (call.name for payload in payloads(file) for call in graph_of(payload).chain)
        return Counter(each for each in names if any(map(each.count, FUSED)))

    assert fused("ours") == fused("theirs")
