# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the Triton kernels for GPUs that are not here, and puts them into a program.

usage: python triton_compiles.py     (prints {"cubins": {"kernel dtype architecture": bytes}, "targets": [...]})
"""

import argparse
import importlib
import json

import torch

from executorch.backends.cuda.triton import ReplaceEdgeOpWithTritonOpPass
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.graph_facts import called_op

ATTENTION = {"SIZE": 64, "COLUMNS": 64, "MASK": 1, "CAUSAL": True}
# module, kernel, pointers that are not of the dtype, constants
KERNELS = (
    ("sdpa", "_attend", {"mask": "*i1"}, ATTENTION),
    (
        "sdpa_decode_splitk",
        "_attend_part",
        {"mask": "*i1", "sums_out": "*fp32", "best_out": "*fp32", "total_out": "*fp32"},
        {"SIZE": 64, "KEYS_OF_PART": 256, "KEYS": 64, "MASK": 1},
    ),
    (
        "sdpa_decode_splitk",
        "_join",
        {"sums_in": "*fp32", "best_in": "*fp32", "total_in": "*fp32"},
        {"SIZE": 64, "PARTS": 8},
    ),
    ("topk", "_sorted_row", {"places": "*i64"}, {"ROW": 256, "LARGEST": True}),
)
POINTERS = ("q", "k", "v", "out", "x", "values")


def compiled(module: str, name: str, pointers: dict, constants: dict, dtype: str, arch: int) -> int:
    """Bytes of the machine code."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(
        importlib.import_module(f"executorch.backends.cuda.triton.kernels.{module}"), name
    )
    if name == "_attend":
        tile = 32 if dtype == "fp32" else 64
        constants = {**constants, "ROWS": tile, "KEYS": tile}
    signature = {}
    for each in kernel.arg_names:
        is_k_of_topk = module == "topk" and each == "k"
        if each in constants:
            signature[each] = "constexpr"
        elif each in pointers:
            signature[each] = pointers[each]
        elif each in POINTERS and not is_k_of_topk:
            signature[each] = f"*{dtype}"
        else:
            signature[each] = "fp32" if each == "scale" else "i32"
    source = ASTSource(kernel, signature, constexprs=constants)
    return len(triton.compile(source, target=GPUTarget("cuda", arch, 32)).asm["cubin"])


class Layers(torch.nn.Module):
    def forward(self, query: torch.Tensor, key: torch.Tensor) -> tuple[torch.Tensor, ...]:
        attend = torch.nn.functional.scaled_dot_product_attention
        return (
            attend(query, key, key),
            attend(query[:, :, :1], key, key),
            *torch.topk(query, 3),
            *torch.topk(key.flatten(), 3),
        )


def replaced() -> list[str]:
    """What a program calls behind the pass: 8192 elements are more than a row of topk may have."""
    example = torch.randn(1, 2, 5, 16), torch.randn(1, 2, 256, 16)
    kept = [torch.ops.aten.scaled_dot_product_attention.default]
    edge = to_edge(
        torch.export.export(Layers(), example), compile_config=EdgeCompileConfig(preserve_ops=kept)
    )
    module = edge.exported_program().graph_module
    assert ReplaceEdgeOpWithTritonOpPass()(module).modified
    names = [str(called_op(node)) for node in module.graph.nodes if node.op == "call_function"]
    return [name for name in names if "triton" in name or "topk" in name]


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    cubins = {
        f"{name} {dtype} {arch}": compiled(module, name, pointers, constants, dtype, arch)
        for module, name, pointers, constants in KERNELS
        for dtype in ("fp16", "bf16", "fp32")
        for arch in (80, 90)
    }
    print(json.dumps({"cubins": cubins, "targets": replaced()}))


if __name__ == "__main__":
    main()
