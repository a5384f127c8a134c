# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that can be counted by hand; the keys and values are those that upstream's wheel gives for the same module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.size_analysis_tool.size_analysis_tool import (
    generate_model_size_information,
)
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
        self.register_buffer("table", torch.ones(3, 3))

    def forward(self, x: torch.Tensor) -> Any:
        return torch.cumsum(self.linear(x), 1), self.table > x[0, 0]


def lowered(partitioner: Any = None) -> ExecutorchProgramManager:
    edge = to_edge_transform_and_lower(
        export(Model(), (torch.ones(2, 8),)), partitioner=partitioner, generate_etrecord=True
    )
    return edge.to_executorch()


def test_data_and_blobs_add_up() -> None:
    program = lowered([XnnpackPartitioner()])
    found = generate_model_size_information(
        model=program.exported_program(),
        delegate_deserializers={"XnnpackBackend": lambda blob: {"begins": blob[4:8].decode()}},
        flatbuffer=program.buffer,
    )
    (table,) = found["tensor_data"]
    assert table == {
        "name": "b_table", "numel": 9, "dtype": "float32", "element_size": 4, "shape": [3, 3], "num_bytes": 36,
        "nn_module_stack": None,
    }  # fmt: skip
    (blob,) = found["delegate_blob_data"]
    assert (blob["name"], blob["backend_id"]) == ("lowered_module_0", "XnnpackBackend")
    assert blob["begins"] == "XH00"
    overview = found["overview"]
    assert overview["total_tensor_data_size"] == 36
    assert (
        overview["model_size"]
        == len(program.buffer)
        == sum(
            overview[key]
            for key in (
                "total_tensor_data_size",
                "total_delegate_blob_data_size",
                "serialization_metadata_size",
            )
        )
    )


def test_the_command_writes_json(tmp_path: Path) -> None:
    lowered().get_etrecord().save(tmp_path / "model.etrecord")
    module = "executorch.devtools.size_analysis_tool.size_analysis_tool"
    command = [sys.executable, "-m", module, "--etrecord_path", "model.etrecord"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = json.loads((tmp_path / "model_size_information.json").read_text())
    rows = [(row["name"], row["num_bytes"]) for row in found["tensor_data"]]
    assert rows == [("p_linear_weight", 128), ("b_table", 36), ("p_linear_bias", 16)]
    assert found["overview"]["total_delegate_blob_data_size"] == 0
