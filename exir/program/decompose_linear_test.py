# SPDX-License-Identifier: BSD-3-Clause
"""`EdgeCompileConfig(decompose_linear=True)`: the graphs of upstream's programs, for partitioners that match them.
Expected graphs were printed by upstream's package."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram, export

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

edge_aten = exir_ops.edge.aten
CONFIG = EdgeCompileConfig(decompose_linear=True)
ADDMM = ["aten_permute_copy_default", "aten_addmm_default"]
FLAT = "aten_view_copy_default"
GRAPHS = [
    (True, (2, 3), ADDMM),
    (True, (4, 2, 3), [FLAT, *ADDMM, f"{FLAT}_1"]),
    (True, (3,), [FLAT, *ADDMM, f"{FLAT}_1"]),
    (False, (2, 3), ["aten_permute_copy_default", "aten_mm_default"]),
    (False, (4, 2, 3), ["aten_permute_copy_default", FLAT, "aten_mm_default", f"{FLAT}_1"]),
]


def calls(program: ExportedProgram) -> list[str]:
    return [node.name for node in program.graph.nodes if node.op == "call_function"]


class PairBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(",".join(calls(edge_program)).encode())


class PairPartitioner(Partitioner):
    """As others write them: addmm whose matrix is the transpose of a parameter, both in one partition."""

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags = {}
        for node in exported_program.graph.nodes:
            if node.target != edge_aten.addmm.default:
                continue
            matrix = node.args[2]
            if matrix.target == edge_aten.permute_copy.default:
                tags[node.name] = DelegationSpec(PairBackend.__name__, [])
                node.meta["delegation_tag"] = matrix.meta["delegation_tag"] = node.name
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)


@pytest.mark.parametrize(("bias", "shape", "expected"), GRAPHS)
def test_linear_layers_are_as_upstream_has_them(
    bias: bool, shape: tuple[int, ...], expected: list[str]
) -> None:
    torch.manual_seed(0)
    model, x = nn.Linear(3, 5, bias=bias).eval(), torch.randn(shape)
    manager = to_edge(export(model, (x,)), compile_config=CONFIG)
    assert calls(manager.exported_program()) == expected
    planned = manager.to_executorch()
    operators = [op.name for op in planned.executorch_program.execution_plan[0].operators]
    assert "aten::permute_copy" not in operators  # once, at export
    (found,) = _load_for_executorch_from_buffer(planned.buffer).forward((x,))
    torch.testing.assert_close(found, model(x))
    whole = to_edge(export(model, (x,))).exported_program()
    assert "aten_linear_default" in calls(whole)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()


def test_a_partitioner_of_others_finds_the_pair() -> None:
    model, x = network(), torch.randn(2, 8)
    for config, found in ((None, 0), (CONFIG, 2)):
        manager = to_edge_transform_and_lower(
            export(model, (x,)), partitioner=[PairPartitioner()], compile_config=config
        )
        program = manager.exported_program()
        modules = get_lowered_backend_modules(program.graph_module)
        names = [m.processed_bytes.decode().replace("_1", "").split(",") for m in modules]
        assert names == [ADDMM] * found
        torch.testing.assert_close(program.module()(x), model(x))
        assert len(manager.to_executorch().buffer) > 0


def test_what_a_partitioner_wants_whole_stays_whole() -> None:
    model, x = network(), torch.randn(2, 8)
    partitioners = [PairPartitioner(), XnnpackPartitioner()]
    manager = to_edge_transform_and_lower(
        export(model, (x,)), partitioner=partitioners, compile_config=CONFIG
    )
    modules = get_lowered_backend_modules(manager.exported_program().graph_module)
    assert [m.backend_id for m in modules] == ["XnnpackBackend"]
    (result,) = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward((x,))
    torch.testing.assert_close(result, model(x), rtol=1e-4, atol=1e-5)
