# SPDX-License-Identifier: BSD-3-Clause
"""Which calls become Triton kernels, and the kernels: beside PyTorch by Triton's interpreter, and compiled for two
kinds of GPUs. No GPU has run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.cuda.cuda_backend import CudaBackend
from executorch.backends.cuda.cuda_partitioner import CudaPartitioner
from executorch.backends.cuda.triton import ReplaceEdgeOpWithTritonOpPass
from executorch.backends.cuda.triton.replacement import LONGEST_TOPK_ROW, replacement_of
from executorch.exir.backend.compile_spec_schema import CompileSpec

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE.parent / "requirements.txt"
attend = torch.nn.functional.scaled_dot_product_attention


def calls(function: Any, *example: torch.Tensor, **dynamic: Any) -> torch.fx.GraphModule:
    class Layer(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
            return function(x, y)

    return torch.export.export(Layer(), example, **dynamic).graph_module


def found(function: Any, *example: torch.Tensor, **dynamic: Any) -> list[str]:
    module = calls(function, *example, **dynamic)
    names = (replacement_of(node) for node in module.graph.nodes if node.op == "call_function")
    return [name for name in names if name]


def test_attention_is_chosen_by_its_shapes() -> None:
    query, key = torch.randn(1, 2, 1, 16), torch.randn(1, 2, 256, 16)
    plain = lambda x, y: attend(x, y, y)  # noqa: E731
    assert found(plain, query, key) == ["sdpa_decode_splitk"]
    assert found(plain, query, key[:, :, :255]) == ["sdpa"]
    assert found(plain, query.repeat(1, 1, 2, 1), key) == ["sdpa"]
    assert found(plain, query[..., :12], key[..., :12]) == ["sdpa"]
    assert found(lambda x, y: attend(x, y, y, is_causal=True), query, key) == ["sdpa"]
    assert found(lambda x, y: attend(x, y, y, dropout_p=0.5), query, key) == []
    assert found(plain, query[0], key[0]) == []
    shapes = ({}, {2: torch.export.Dim("keys", min=256, max=512)})
    assert found(plain, query, key, dynamic_shapes=shapes) == ["sdpa"]


def test_topk_is_chosen_by_its_row() -> None:
    x = torch.randn(2, LONGEST_TOPK_ROW)
    assert found(lambda x, y: torch.topk(x, 3), x, x) == ["topk"]
    assert found(lambda x, y: torch.topk(x, 3), torch.randn(2, LONGEST_TOPK_ROW + 1), x) == []
    assert found(lambda x, y: torch.topk(x, 2, dim=0), torch.randn(2, 5000), x) == ["topk"]
    assert found(lambda x, y: torch.topk(x, 3), x.to(torch.int32), x) == []


def test_the_mode_says_whether_kernels_are_used() -> None:
    module = calls(lambda x, y: torch.topk(x, 3), torch.randn(2, 9), torch.randn(1))
    (node,) = (node for node in module.graph.nodes if "topk" in str(node.target))
    off = [CompileSpec("triton_kernel_mode", b"OFF")]
    assert CudaPartitioner().why_not(node) == ""
    assert "no kernel for aten.topk" in CudaPartitioner(off).why_not(node)
    kinds = [
        [type(each) for each in CudaBackend.get_custom_passes(specs)].count(
            ReplaceEdgeOpWithTritonOpPass
        )
        for specs in ([], off)
    ]
    assert kinds == [1, 0]


@pytest.mark.skipif(find_spec("triton") is not None, reason="Triton is here")
def test_triton_is_needed_where_something_is_replaced() -> None:
    x = torch.randn(2, 9)
    assert not ReplaceEdgeOpWithTritonOpPass()(calls(lambda x, y: x + y, x, x)).modified
    with pytest.raises(ModuleNotFoundError, match="No module named 'triton'"):
        ReplaceEdgeOpWithTritonOpPass()(calls(lambda x, y: torch.topk(x, 3), x, x))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Triton, a gigabyte, in a folder of its own."""
    folder = tmp_path_factory.mktemp("triton")
    if not REQUIREMENTS.exists():
        pytest.skip("needs the source tree, which says which Triton")
    words = ["-q", "--no-deps", "--target", folder, "-r", REQUIREMENTS]
    subprocess.run([sys.executable, "-m", "pip", "install", *map(str, words)], check=True)
    return str(folder)


def result(script: str, packages: str, folder: Path, **environment: str) -> dict[str, Any]:
    path = os.pathsep.join([packages, *filter(None, [os.environ.get("PYTHONPATH")])])
    names = {"PYTHONPATH": path, "TRITON_CACHE_DIR": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, HERE / script],
        env=os.environ | names,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.full
def test_kernels_have_pytorchs_numbers(packages: str, tmp_path: Path) -> None:
    row = result("triton_numbers.py", packages, tmp_path, TRITON_INTERPRET="1")
    differences = row["differences"]
    # 4 masks of 3 shapes and 3 of the other kernel in two dtypes, those 3 in bfloat16, topk in three
    assert len(differences) == 2 * (4 * 3 + 3) + 3 + 3 * 4
    for name, difference in differences.items():
        # 2^-11 and 2^-8 of values up to 2, rounded twice: the shares of keys, and the result
        limit = 2e-3 if "torch.float16" in name else 1.6e-2 if "torch.bfloat16" in name else 2e-6
        assert difference <= limit, (name, difference)
    assert [text.split(":")[0] for text in row["refused"]] == [
        "attention", "attention", "sdpa_decode_splitk", "topk"
    ]  # fmt: skip


@pytest.mark.full
def test_kernels_compile_for_gpus_and_take_their_place(packages: str, tmp_path: Path) -> None:
    row = result("triton_compiles.py", packages, tmp_path)
    assert len(row["cubins"]) == 4 * 3 * 2 and min(row["cubins"].values()) > 1000
    assert row["targets"] == [
        "triton.sdpa.default",
        "triton.sdpa_decode_splitk.default",
        "triton.topk.default",
        "aten.topk.default",
    ]
