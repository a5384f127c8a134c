# SPDX-License-Identifier: BSD-3-Clause
"""A fault planted in one of 168 operators - of the portable, of the optimized kernels, inside of a delegate: bisect
names it with its line, and the numeric gap is small before it and large from it on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.codegen.op_table import row_name
from executorch.devtools import Inspector, commands
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.program_file import Call, ProgramFile, calls_of, tensors_of
from executorch.devtools.inspector._graphs import one_method
from executorch.exir import schema, to_edge_transform_and_lower
from executorch.exir._serialize._program import (
    PTEFile,
    deserialize_pte_binary,
    serialize_pte_binary,
)
from executorch.exir.program._etrecord import parse_etrecord
from executorch.runtime import Runtime

LAYERS, WIDTH, FAULTY = 24, 16, 17
X = torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(0))
TABLES = {
    name: Path(__file__).parents[2] / "kernels" / name / file
    for name, file in (("portable", "functions.yaml"), ("optimized", "optimized.yaml"))
}


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            y = torch.relu(layer(x))
            y = torch.nn.functional.pad(y, (1, 0), value=0.25)[:, :-1]
            y = torch.flip(y, [1])
            x = x + y * 0.5
        return x


def save(folder: Path, partitioner: Any) -> None:
    torch.manual_seed(0)
    program = to_edge_transform_and_lower(
        export(Network().eval(), (X,)), partitioner=partitioner, generate_etrecord=True
    ).to_executorch()
    program.save(folder / "model.pte")
    record = program.get_etrecord()
    record.update_representative_inputs((X,))
    record.save(folder / "model.etrecord")


def call_of(plan: schema.ExecutionPlan, name: str) -> Call:
    return [call for call in calls_of(plan) if call.name == name][FAULTY]


def shuffled(data: bytes) -> bytes:
    return np.random.default_rng(0).permutation(np.frombuffer(data, np.float32)).tobytes()


def in_portable(file: PTEFile) -> tuple[int, int | None]:
    """pad writes another number. What is changed: instruction, and handle inside of a delegate."""
    (plan,) = file.program.execution_plan
    call = call_of(plan, "aten::constant_pad_nd.out")
    plan.values.append(schema.EValue(schema.Double(0.75)))
    arguments = plan.chains[0].instructions[call.instruction].instr_args.args
    (place,) = (
        index
        for index, each in enumerate(arguments)
        if isinstance(plan.values[each].val, schema.Double)
    )
    arguments[place] = len(plan.values) - 1
    return call.instruction, None


def in_optimized(file: PTEFile) -> tuple[int, int | None]:
    """linear has its weights in another order."""
    (plan,) = file.program.execution_plan
    call = call_of(plan, "aten::linear.out")
    weights = max(
        tensors_of(plan, call), key=lambda each: (each.data_buffer_idx > 0, len(each.sizes))
    )
    buffer = file.program.constant_buffer[weights.data_buffer_idx]
    file.program.constant_buffer[weights.data_buffer_idx] = schema.Buffer(shuffled(buffer.storage))
    return call.instruction, None


def in_xnnpack(file: PTEFile) -> tuple[int, int | None]:
    from executorch.backends.xnnpack.payload_reader import operators

    (plan,) = file.program.execution_plan
    payloads = {
        call: bytes(
            file.program.backend_delegate_data[plan.delegates[call.delegate].processed.index].data
        )
        for call in calls_of(plan)
        if call.delegate is not None
    }
    products = [
        (call, each)
        for call, data in payloads.items()
        for each in operators(data)
        if each.kind == "FullyConnected"
    ]
    call, product = products[FAULTY]
    key = max(product.constants, key=lambda each: each.num_bytes).key
    index = file.named_data.pte_data[key].buffer_index
    file.named_data.buffers[index] = shuffled(file.named_data.buffers[index])
    return call.instruction, product.debug_handle


# As the model calls it, which the table of gaps names.
OPERATORS = {"portable": "pad_17", "optimized": "linear_17", "xnnpack": "_17"}
FAULTS: dict[str, Callable[[PTEFile], tuple[int, int | None]]] = {
    "portable": in_portable,
    "optimized": in_optimized,
    "xnnpack": in_xnnpack,
}


def plant(folder: Path, kind: str) -> str:
    """Writes faulty.pte; gives the node of the edge program that is wrong there."""
    file = deserialize_pte_binary((folder / "model.pte").read_bytes())
    instruction, handle = FAULTS[kind](file)
    (folder / "faulty.pte").write_bytes(
        bytes(serialize_pte_binary(file, extract_delegate_segments=True))
    )
    origins = Origins.read(folder / "model.etrecord")
    if handle is not None:
        return origins.of_handles(handle)[0].node
    (call,) = (c for c in ProgramFile(folder / "model.pte").calls if c.instruction == instruction)
    return origins.of_call(call)[0].node


def gap(folder: Path, name: str) -> pd.DataFrame:
    loaded = Runtime.get().load_program(
        folder / f"{name}.pte", enable_etdump=True, debug_buffer_size=1 << 22
    )
    loaded.load_method("forward").execute((X,))
    dump, values = str(folder / "dump"), str(folder / "values")
    loaded.write_etdump_result_to_file(dump, values)
    inspector = Inspector(
        etdump_path=dump, debug_buffer_path=values, etrecord=str(folder / "model.etrecord")
    )
    return inspector.calculate_numeric_gap("MSE")


def bisect(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> Any:
    commands.main(["bisect", str(folder / "model.etrecord"), str(folder / f"{name}.pte"), "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_named(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path, [XnnpackPartitioner()] if kind == "xnnpack" else None)
    edge = one_method(parse_etrecord(tmp_path / "model.etrecord").edge_dialect_program)
    assert sum(node.op == "call_function" for node in edge.graph.nodes) >= 100
    node = plant(tmp_path, kind)
    right = gap(tmp_path, "model")
    assert max(each[0] for each in right["gap"]) < 1e-9
    assert bisect(tmp_path, "model", capsys)["first"] is None
    wrong = gap(tmp_path, "faulty")
    first = next(index for index, each in enumerate(wrong["gap"]) if each[0] > 1e-6)
    assert 0 < first < len(wrong) - 1
    assert OPERATORS[kind] in str(wrong["aot_ops"][first])
    found = bisect(tmp_path, "faulty", capsys)
    assert node in found["first"]["joined"], (node, found["summary"])
    assert "planted_faults_test.py:" in found["first"]["line"]
    assert [row["operator"] for row in found["wrong"]] == [found["first"]["operator"]]


def test_the_faulty_operators_are_of_these_libraries() -> None:
    names = {
        name: {row_name(row) for row in yaml.safe_load(path.read_text())}
        for name, path in TABLES.items()
    }
    assert "linear.out" in names["optimized"]
    assert "constant_pad_nd.out" in names["portable"] - names["optimized"]
