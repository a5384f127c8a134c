# SPDX-License-Identifier: BSD-3-Clause
"""Files that ExecuTorch 1.4.1 lowers to Vulkan run here, and give what eager gives there; and what is left outside of
delegates beside what ours leave (VK-001, VK-002, VK-004, VK-009 to VK-012)."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from executorch.backends.vulkan.test import vulkan_peer_networks
from executorch.backends.vulkan.test.lowered import kernels_of, payloads
from executorch.backends.vulkan.test.reference import graph_of
from executorch.runtime import Runtime
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.interop import peer
from executorch.test.repository.sources import ROOT

INTEROP = ROOT / "test" / "interop"
sys.path.append(str(INTEROP))
CASES = vulkan_peer_networks.cases()
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not Runtime.get().backend_registry.is_available("VulkanBackend"),
        reason="this build has no Vulkan backend, or no device is here",
    ),
]
# What makes the files, and the folders that these follow from.
SIDES = {
    "theirs": (peer.run, ("test/interop", "backends/vulkan/test")),
    "ours": (peer.run_here, ("",)),
}
TEXTS = ("encoder", "decoder")
# Ours leave what computes with int64, exactly; 1.4.1 makes it int32. Empty: nothing else.
INT64 = {"places": Counter({"aten::select_copy": 2, "aten::add": 1})}


@pytest.fixture(scope="module")
def folders(program_store: ProgramStore) -> dict[str, Path]:
    """Of theirs and of ours, made side by side; those of 1.4.1 stay as long as the networks do."""

    def made(side: str) -> Path:
        run, parts = SIDES[side]
        script = vulkan_peer_networks.__file__

        def make(folder: Path) -> None:
            run(script, folder, INTEROP, cwd=folder)

        return program_store.folder(f"Vulkan's networks by {side}", make, parts)

    with ThreadPoolExecutor() as pool:
        return dict(zip(SIDES, pool.map(made, SIDES), strict=True))


def file_of(folder: Path, name: str) -> Path:
    error = folder / f"{name}.error"
    assert not error.exists(), error.read_text()[-1000:]
    return folder / f"{name}.pte"


def limit(name: str, expected: torch.Tensor) -> float:
    """Of the difference: sums in another order; half precision; and of what is quantized while running, and of the
    pairs that 1.4.1 drops between quantized calls of a transformer, values that fall to the next of 255 steps, which
    layers carry on."""
    most = expected.double().abs().max().item() if expected.numel() else 0.0
    if "half" in name:
        return 2e-3 * most
    if name.startswith(TEXTS) and " " in name:
        return 3e-2 * most
    return 1e-6 * most + 1e-6


@pytest.mark.req("VK-001", "VK-002", "VK-004", "VK-009", "VK-010", "VK-011", "VK-012")
@pytest.mark.parametrize("side", ["theirs", "ours"])
@pytest.mark.parametrize("name", CASES)
def test_files_give_what_eager_gives(name: str, side: str, folders: dict[str, Path]) -> None:
    file = file_of(folders[side], name)
    assert payloads(file.read_bytes())
    method = Runtime.get().load_program(file).load_method("forward")
    for inputs, expected in torch.load(file.with_suffix(".pt"), weights_only=True):
        for one, other in zip(method.execute(inputs), expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            error = (one.double() - other.double()).abs().max().item()
            assert error <= limit(name, other), (error, other.abs().max())


@pytest.mark.req("VK-001")
@pytest.mark.parametrize("name", CASES)
def test_ours_leave_no_more(name: str, folders: dict[str, Path]) -> None:
    ours, theirs = (file_of(folders[side], name).read_bytes() for side in ("ours", "theirs"))
    assert kernels_of(ours) == INT64.get(name, kernels_of(ours) & kernels_of(theirs))
    assert len(payloads(ours)) <= len(payloads(theirs))


def operators(file: bytes) -> Counter[str]:
    """What computes: without copies, views and casts, of which both write some that the other does not."""
    names = Counter(call.name for payload in payloads(file) for call in graph_of(payload).chain)
    copies = ("prepack", "clone", "copy", "permute", "alias", "_to_dim_order", "sym_size")
    return Counter({name: n for name, n in names.items() if not any(map(name.count, copies))})


@pytest.mark.parametrize(
    "name", ["vit", "unet", "unet channels last", "rms norm", "attention", "4w bias", "8da4w bias"]
)
def test_chains_have_the_same_operators(name: str, folders: dict[str, Path]) -> None:
    ours, theirs = (file_of(folders[side], name).read_bytes() for side in ("ours", "theirs"))
    assert operators(ours) == operators(theirs)
