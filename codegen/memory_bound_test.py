# SPDX-License-Identifier: BSD-3-Clause
"""The constants are what the runtime says of the same program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch
from torch.export import Dim, export

from executorch.codegen.memory_bound import main
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.runtime import Runtime


class Two(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(x) @ x.T, (x > 0) * count


def save(path: Path, **options: bool) -> dict[str, list[int]]:
    """Arenas of each method, as the planner made them."""
    shapes = {"x": {0: Dim("rows", max=9)}, "count": None}
    methods = {
        "forward": export(Two(), (torch.ones(3, 5), 2), dynamic_shapes=shapes),
        "en-code": export(torch.nn.Linear(4, 2).eval(), (torch.ones(1, 4),)),
    }
    config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(**options))
    manager = to_edge(methods).to_executorch(config)
    manager.save(path)
    plans = manager.executorch_program.execution_plan
    return {plan.name: plan.non_const_buffer_sizes[1:] for plan in plans}


def numbers(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"#define (\w+) (\d+)", text)}


@pytest.mark.parametrize("planned", [True, False])
def test_sizes_are_those_of_the_runtime(
    planned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.pte"
    planner = save(path, alloc_graph_input=planned, alloc_graph_output=planned)
    assert main([str(path)]) == 0
    text = capsys.readouterr().out
    found = numbers(text)
    program = Runtime.get().load_program(path)
    for method, prefix in (("forward", "TWO_FORWARD"), ("en-code", "TWO_EN_CODE")):
        meta = program.metadata(method)
        arenas = planner[method]
        assert found[f"{prefix}_ARENAS"] == len(arenas)
        assert [found[f"{prefix}_ARENA_{i}_BYTES"] for i in range(len(arenas))] == arenas
        assert found[f"{prefix}_ARENA_BYTES"] == sum((size + 15) // 16 * 16 for size in arenas)
        assert found[f"{prefix}_INPUT_0_BYTES"] == meta.input_tensor_meta(0).nbytes()
        assert found[f"{prefix}_OUTPUT_0_BYTES"] == meta.output_tensor_meta(0).nbytes()
    assert found["TWO_FORWARD_INPUT_0_BYTES"] == 9 * 5 * 4  # the largest
    assert "TWO_FORWARD_INPUT_1_BYTES" not in found  # a number
    assert ("in an arena" in text) is planned and ("memory of the caller" in text) is not planned


def test_a_compiler_of_c_takes_the_header(tmp_path: Path) -> None:
    path = tmp_path / "two.pte"
    save(path)
    assert main([str(path), "-o", str(tmp_path / "m.h"), "--name=my-net"]) == 0
    source = tmp_path / "main.c"
    source.write_text(
        '#include "m.h"\n#include "m.h"\n'
        "static unsigned char arena[MY_NET_FORWARD_ARENA_BYTES];\n"
        "int main(void) { return sizeof arena == MY_NET_FORWARD_ARENA_BYTES ? 0 : 1; }\n"
    )
    words = ["cc", "-std=c99", "-Wall", "-Werror", str(source), "-o", str(tmp_path / "main")]
    subprocess.run(words, check=True)
    assert subprocess.run([str(tmp_path / "main")], check=False).returncode == 0


def test_what_is_no_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.pte").write_bytes(b"not a program" * 4)
    assert main([str(tmp_path / "x.pte")]) == 1
    assert "expected a program with identifier ET12" in capsys.readouterr().err
    assert main([str(tmp_path / "none.pte")]) == 1
