# SPDX-License-Identifier: BSD-3-Clause
"""What backends file beside their blobs reaches the files once, whoever else files the same; so do equal blobs."""

from __future__ import annotations

import pytest
import torch
from torch.export import ExportedProgram, export

from executorch.exir import (
    EdgeProgramManager,
    ExecutorchBackendConfig,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir._serialize._cord import Cord
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._program import deserialize_pte_binary, read_program
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.canonical_partitioners.all_node_partitioner import AllNodePartitioner
from executorch.exir.backend.partitioner import PartitionResult
from executorch.exir.schema import CompileSpec, DataLocation
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer


class FilesWeights(BackendDetails):
    """Files each weight under its name, or all under `key`; in a data file when `tag` is given."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        options = {spec.key: spec.value.decode() for spec in compile_specs}
        store = NamedDataStore()
        for name, tensor in edge_program.state_dict.items():
            store.add_named_data(options.get("key", name), tensor.detach(), 16, options.get("tag"))
        return PreprocessResult(b"blob", data_store_output=store.get_named_data_store_output())


class Scale(torch.nn.Module):
    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


class Twice(Scale):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x) * self.weight


X = torch.ones(3)
WEIGHT = torch.tensor([1.0, 2.0, 3.0])


def lowered(modules: dict[str, torch.nn.Module], **options: str):  # type: ignore[no-untyped-def]
    specs = [CompileSpec(key, value.encode()) for key, value in options.items()]
    programs = {name: export(module, (X,)) for name, module in modules.items()}
    partitioner = AllNodePartitioner(FilesWeights.__name__, specs)
    return to_edge_transform_and_lower(programs, partitioner=[partitioner])


class Both(Scale):
    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__(weight)
        self.register_buffer("own", torch.tensor([7.0, 8.0, 9.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.weight).sin() + self.own


def test_a_data_file_has_the_programs_tensors_first() -> None:
    class Products(AllNodePartitioner):
        def partition(self, exported_program: ExportedProgram) -> PartitionResult:
            for node in exported_program.graph.nodes:
                if "mul" in node.name or node.name == "p_weight":
                    node.meta["delegation_tag"] = "tag"
            return PartitionResult(exported_program, {"tag": self.delegation_spec})

    specs = [CompileSpec("tag", b"model")]
    program = to_edge(export(Both(WEIGHT), (X,))).exported_program()
    edge = EdgeProgramManager(to_backend(program, Products(FilesWeights.__name__, specs)))
    config = ExecutorchBackendConfig(external_constants=lambda node: "model")
    (file,) = edge.to_executorch(config)._tensor_data.values()
    payload = FlatTensorSerializer().deserialize(Cord(bytes(file)))
    assert list(payload.named_data) == ["own", "weight"]
    own, weight = (payload.buffers[entry.buffer_index] for entry in payload.named_data.values())
    assert own == bytes(Both(WEIGHT).own.numpy()) and weight == bytes(WEIGHT.numpy())


def test_methods_share_named_data_and_blobs() -> None:
    weight = WEIGHT.clone()
    manager = lowered({"one": Scale(weight), "two": Twice(weight)})
    buffer = manager.to_executorch().buffer
    assert buffer.count(weight.numpy().tobytes()) == 1
    program = read_program(buffer)
    assert [named.key for named in program.named_data] == ["weight"]
    places = [d.processed for plan in program.execution_plan for d in plan.delegates]
    assert places[0] == places[1] and places[0].location == DataLocation.SEGMENT
    named = deserialize_pte_binary(buffer).named_data
    assert bytes(named.buffers[named.pte_data["weight"].buffer_index]) == weight.numpy().tobytes()


@pytest.mark.req("CMP-008")
def test_equal_blobs_are_stored_once_inline() -> None:
    manager = lowered({"one": Scale(WEIGHT), "two": Twice(WEIGHT)})
    config = ExecutorchBackendConfig(extract_delegate_segments=False, delegate_alignment=64)
    program = deserialize_pte_binary(manager.to_executorch(config).buffer).program
    assert [bytes(data.data) for data in program.backend_delegate_data] == [b"blob"]
    places = [d.processed for plan in program.execution_plan for d in plan.delegates]
    assert {(p.location, p.index) for p in places} == {(DataLocation.INLINE, 0)}


def test_one_key_with_two_contents_is_an_error() -> None:
    manager = lowered({"one": Scale(WEIGHT), "two": Scale(WEIGHT + 1)}, key="shared")
    with pytest.raises(ValueError, match="Duplicate key shared with different data"):
        manager.to_executorch()


def test_tagged_data_goes_to_a_data_file() -> None:
    manager = lowered({"forward": Scale(WEIGHT)}, tag="weights").to_executorch()
    assert WEIGHT.numpy().tobytes() not in manager.buffer
    assert WEIGHT.numpy().tobytes() in bytes(manager._data_files()["weights"])


def test_a_lowered_module_writes_its_own_named_data() -> None:
    program = to_edge(export(Scale(WEIGHT), (X,))).exported_program()
    module = to_backend(FilesWeights.__name__, program, [])
    named = deserialize_pte_binary(module.buffer()).named_data
    assert list(named.pte_data) == ["weight"]
