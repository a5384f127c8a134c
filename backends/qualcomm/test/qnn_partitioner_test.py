# SPDX-License-Identifier: BSD-3-Clause
"""What goes to the NPU, what stays and why; how programs become contexts; and what is said without the SDK."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.export import export

from executorch.backends.qualcomm.aot.compiler import context_binary_in, payload_of
from executorch.backends.qualcomm.aot.door import using
from executorch.backends.qualcomm.aot.graph import DataType, TensorType
from executorch.backends.qualcomm.partition.qnn_partitioner import (
    QnnOperatorSupport,
    QnnPartitioner,
)
from executorch.backends.qualcomm.partition.utils import generate_qnn_executorch_option
from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test.recorder import Recorder, left, lowered, quantized, specs
from executorch.backends.qualcomm.utils.check_qnn_version import (
    get_sdk_build_id,
    is_qnn_sdk_version_greater_than,
    is_qnn_sdk_version_less_than,
)
from executorch.backends.qualcomm.utils.utils import QcomChipset, get_soc_to_chipset_map
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules


class Steps(nn.Module):
    """erf has no row."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.exp(torch.erf(torch.relu(x) + 1.0)) * 2.0


X = (torch.rand(2, 3),)


@pytest.mark.req("NPU-013")
def test_the_documented_signature() -> None:
    parameters = inspect.signature(QnnPartitioner).parameters
    assert {name: each.default for name, each in parameters.items()} == {
        "compiler_specs": inspect.Parameter.empty,
        "skip_node_id_set": None,
        "skip_node_op_set": None,
        "skip_mutable_buffer": False,
    }


class Counted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))
        self.weight = nn.Parameter(torch.rand(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x * self.weight)
        return self.total * 2.0


@pytest.mark.req("NPU-013")
def test_delegates_own_weights_and_programs_their_buffers() -> None:
    door = Recorder()
    with using(door):
        edge = to_edge(export(Counted(), X))
        partitioned = QnnPartitioner(specs()).partition(edge.exported_program())
    tags = {n.name: n.meta.get("delegation_tag") for n in edge.exported_program().graph.nodes}
    assert tags["p_weight"] == "qnn_0" and tags["b_total"] is None
    assert list(partitioned.partition_tags) == ["qnn_0"]
    manager = lowered(Counted(), X, door)
    assert not left(manager) and [each.type for each in door.graphs[0].operators] == [
        "ElementWiseMultiply",
        "ElementWiseAdd",
        "ElementWiseMultiply",
    ]


@pytest.mark.req("NPU-013")
def test_an_operator_without_a_row_stays_on_the_cpu() -> None:
    door = Recorder()
    manager = lowered(Steps(), X, door)
    assert left(manager) == ["aten.erf.default"]
    assert [[each.type for each in graph.operators] for graph in door.graphs] == [
        ["Relu", "ElementWiseAdd"],
        ["ElementWiseExp", "ElementWiseMultiply"],
    ]
    tags = {module.backend_id for module in get_lowered_backend_modules(_module(manager))}
    assert tags == {"QnnBackend"}


def _module(manager):
    return manager.exported_program().graph_module


@pytest.mark.req("NPU-013")
def test_what_the_sdk_refuses_stays_and_says_so() -> None:
    door = Recorder(refused=["ElementWiseExp"])
    assert "aten.exp.default" in left(lowered(Steps(), X, door))
    with using(door):
        reasons = QnnPartitioner(specs()).why_not_delegated(to_edge(export(Steps(), X)))
    assert {node.name: reason for node, reason in reasons.items()} == {
        "aten_erf_default": "the backend has no such operator",
        "aten_exp_default": "the SDK does not take ElementWiseExp",
    }
    (relu, *_) = door.asked
    assert [relu.tensors[0].type, relu.tensors[0].dims] == [TensorType.NATIVE, (2, 3)]


def test_users_keep_calls_undelegated() -> None:
    kept = lowered(Steps(), X, Recorder(), skip_node_op_set={"aten.exp.default"})
    assert "aten.exp.default" in left(kept)
    kept = lowered(Steps(), X, Recorder(), skip_node_id_set={"aten_relu_default"})
    assert "aten.relu.default" in left(kept)


def test_calls_are_asked_about_one_by_one() -> None:
    edge = to_edge(export(Steps(), X)).exported_program()
    support = QnnOperatorSupport(edge, specs(), skip_node_op_set={"aten.exp.default"})
    with using(Recorder(refused=["Relu"])):
        found = {n.name: support.is_node_supported({}, n) for n in edge.graph.nodes}
    assert found["aten_add_tensor" if "aten_add_tensor" in found else "aten_add_scalar"]
    assert not any(found[f"aten_{name}_default"] for name in ("relu", "erf", "exp"))


def test_floats_cross_the_boundaries_of_quantized_delegates() -> None:
    """erf is quantized nowhere: its neighbours' values of 16 bits, int32 in the program, stay inside."""
    door = Recorder()
    model = quantized(Steps(), X, QuantDtype.use_16a8w)
    manager = lowered(model, X, door)
    assert left(manager) == ["aten.erf.default"]
    for graph in door.graphs:
        outside = graph.of([*graph.inputs, *graph.outputs])
        assert {each.dtype for each in outside} == {DataType.FLOAT_32}
        inside = [each.dtype for each in graph.tensors if each.type is TensorType.NATIVE]
        assert DataType.UFIXED_POINT_16 in inside


class Gated(nn.Module):
    """What is quantized once is read by two delegates."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.erf(x.mean(1, keepdim=True))


def test_values_that_several_delegates_read_are_quantized_in_each() -> None:
    door = Recorder()
    manager = lowered(quantized(Gated(), X, QuantDtype.use_8a8w), X, door)
    assert left(manager) == ["aten.erf.default"] and len(door.graphs) == 2
    for graph in door.graphs:
        outside = graph.of([*graph.inputs, *graph.outputs])
        assert {each.dtype for each in outside} == {DataType.FLOAT_32}


def test_methods_share_contexts() -> None:
    door = Recorder()
    with using(door):
        programs = {
            name: export(nn.Linear(3, size), X, strict=True)
            for name, size in {"prefill": 2, "decode": 4}.items()
        }
        partitioner = {name: [QnnPartitioner(specs())] for name in programs}
        manager = to_edge_transform_and_lower(programs, partitioner=partitioner)
    assert [[graph.name for graph in context] for context in door.contexts] == [
        ["prefill", "decode"]
    ]
    payloads = {
        module.processed_bytes
        for name in programs
        for module in get_lowered_backend_modules(manager.exported_program(name).graph_module)
    }
    assert payloads == {payload_of(b"context 1")}


def test_methods_of_other_numbers_of_delegates_are_refused() -> None:
    with using(Recorder()), pytest.raises(ExportError, match="Hybrid compilation"):
        programs = {
            "one": export(nn.Linear(3, 2), X, strict=True),
            "two": export(Steps(), X, strict=True),
        }
        partitioner = {name: [QnnPartitioner(specs())] for name in programs}
        to_edge_transform_and_lower(programs, partitioner=partitioner)


def test_a_graph_that_does_not_compile_is_an_error_with_the_sdks_reason() -> None:
    with pytest.raises(ExportError, match="cannot compile this program: out of VTCM"):
        lowered(nn.Linear(3, 2), X, Recorder(fails="out of VTCM"))


def test_a_payload_has_its_binary_and_a_signature_of_it() -> None:
    payload = payload_of(b"binary")
    assert payload[:4] == bytes.fromhex("cdab7856") and payload[256:] == b"binary"
    assert context_binary_in(payload) == b"binary"
    assert payload_of(b"other")[4:12] != payload[4:12]
    with pytest.raises(ValueError, match="Qualcomm payload"):
        context_binary_in(b"binary")


@pytest.mark.req("NPU-C10")
def test_what_is_missing_is_said_before_work_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says(text: str) -> None:
        edge = to_edge(export(Steps(), X))
        with pytest.raises(MissingCompiler, match=text):
            edge.to_backend(QnnPartitioner(specs()))

    monkeypatch.delenv("QNN_SDK_ROOT", raising=False)
    says(r"QNN_SDK_ROOT is not set: install .* \(2\.37 is recommended\)")
    with pytest.raises(OSError, match="QNN_SDK_ROOT is not set"):
        get_sdk_build_id()
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    says("where lib/x86_64-linux-clang/libQnnHtp.so is not")
    library = tmp_path / "lib" / "x86_64-linux-clang" / "libQnnHtp.so"
    library.parent.mkdir(parents=True)
    library.touch()
    tmp_path.joinpath("sdk.yaml").write_text("version: 2.10.0.240101\n")
    says("of version 2.10.0.240101, expected at least 2.28")
    tmp_path.joinpath("sdk.yaml").write_text("version: 2.37.0.250724\n")
    # Of a file that is no library: by the module that loads it, or the package has none.
    says("libQnnHtp.so: file too short|built without its module for QNN: build ExecuTorch")


def test_versions_of_the_sdk_are_compared_as_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("sdk.yaml").write_text("version: 2.9.1\n")
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    assert get_sdk_build_id() == "2.9.1"
    assert is_qnn_sdk_version_less_than("2.37") and not is_qnn_sdk_version_greater_than("2.37")


def test_other_specs_are_refused() -> None:
    assert generate_qnn_executorch_option(specs()) == specs()[0].value
    with pytest.raises(ValueError, match="expected a compile spec qnn_compile_spec"):
        QnnPartitioner([])


def test_importing_does_nothing(tmp_path: Path) -> None:
    """No file, no process, no line, whatever the variables are."""
    script = (
        "import os, subprocess, sys; subprocess.Popen = None; os.system = None\n"
        "import executorch.backends.qualcomm.utils.utils, executorch.backends.qualcomm.quantizer.quantizer\n"
        "import executorch.backends.qualcomm.partition.qnn_partitioner, executorch.backends.qualcomm.utils.constants\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "QNN" not in done.stdout + done.stderr and not list(tmp_path.iterdir())
    assert get_soc_to_chipset_map()["SM8650"] is QcomChipset.SM8650
