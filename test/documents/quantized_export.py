# SPDX-License-Identifier: BSD-3-Clause
"""Runs the quantizing block of pages/tutorial.md and lowers its result, in a process of its own."""

from __future__ import annotations

from typing import Any

import executorch.kernels.quantized  # noqa: F401  (out variants)
from executorch.exir import to_edge
from executorch.runtime import Runtime
from executorch.test.documents import guide


def main() -> None:
    setting, export_block = guide.today("tutorial.md")[:2]
    (quantizing,) = guide.with_torchao("tutorial.md")
    names: dict[str, Any] = {}
    for code in (setting, export_block, quantizing):
        guide.run(code, names)
    program, inputs = names["aten_dialect"], names["example_args"]
    edge = to_edge(program)
    method = Runtime.get().load_program(edge.to_executorch().buffer).load_method("forward")
    (found,), expected = method.execute(inputs), program.module()(*inputs)
    nodes = edge.exported_program().graph.nodes
    quantizers = [n for n in nodes if "quantized_decomposed.quantize_per_tensor" in str(n.target)]
    wrong = (found != expected).sum().item()
    print(f"RESULT {len(quantizers)} {wrong} {expected.numel()} {(found - expected).abs().max()}")


main()
