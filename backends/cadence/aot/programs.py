# SPDX-License-Identifier: BSD-3-Clause
"""Memories of a chip, errors, and what is said of a program: operators before and after, files."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.fx import GraphModule

from executorch.exir import ExecutorchProgramManager
from executorch.exir.graph_facts import op_name

_log = logging.getLogger(__name__)


class MemoryPlanningAlgoFailure(Exception):
    pass


@dataclass
class MemoryConfig:
    """Memories of a chip, the fastest first: bytes, what offsets are multiples of, names and addresses."""

    memory_sizes: list[int]
    memory_alignments: list[int] | None = None
    memory_names: list[str] | None = None
    base_addrs: list[int] | None = None

    def alignment_of(self, memory: int, least: int) -> int:
        """Of the memory at a place of the list; `least`: what all tensors have."""
        return max(least, self.memory_alignments[memory] if self.memory_alignments else 1)

    def name_of(self, memory: int) -> str:
        """With its address, where that is known."""
        name = self.memory_names[memory] if self.memory_names else f"memory {memory + 1}"
        return f"{name} at {self.base_addrs[memory]:#x}" if self.base_addrs else name


def get_default_memory_config() -> MemoryConfig:
    """One memory that everything fits into."""
    return MemoryConfig([0x1000000000])


def get_ops_count(graph_module: GraphModule) -> Counter[str]:
    """By name, of all calls of a program's graph."""
    nodes = graph_module.graph.nodes
    return Counter(op_name(node) for node in nodes if node.op == "call_function" and op_name(node))


def print_ops_info(before: GraphModule, after: GraphModule) -> None:
    """Logs how often the exported and the final graph have each operator."""
    old, new = get_ops_count(before), get_ops_count(after)
    rows = sorted({*old, *new}, key=lambda name: (-new[name], name))
    if rows and _log.isEnabledFor(logging.INFO):
        width = max(map(len, rows))
        lines = [f"{name:{width}}  {new[name]:5}  {old[name]:5}" for name in rows]
        _log.info("%s", "\n".join([f"{'Final Operators':{width}}  Final  Export", *lines]))


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    _log.info("Saved exported program to %s", path)
    return path


def save_pte_program(prog: ExecutorchProgramManager, model_name: str, output_dir: str = "") -> None:
    _written(Path(output_dir) / _with_end(model_name, ".pte"), prog.buffer)


def save_bpte_program(
    prog: ExecutorchProgramManager,
    model_name: str,
    inputs: Sequence[Any],
    expected: Sequence[Any],
    output_dir: str = "",
) -> None:
    """The program with one case: its inputs and what it is expected to give."""
    from executorch.devtools import BundledProgram
    from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
    from executorch.devtools.bundled_program.serialize import (
        serialize_from_bundled_program_to_flatbuffer,
    )

    case = MethodTestCase(inputs=inputs, expected_outputs=expected)
    bundled = BundledProgram(prog, [MethodTestSuite("forward", [case])])
    data = serialize_from_bundled_program_to_flatbuffer(bundled)
    _written(Path(output_dir) / _with_end(model_name, ".bpte"), data)


def _with_end(name: str, end: str) -> str:
    return name if name.endswith(end) else name + end
