# SPDX-License-Identifier: BSD-3-Clause
"""CUDA's names where there is no GPU: partitions, compile specs and what inductor is told; what is missing is said
before any work."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.aoti.aoti_backend import AotiBackend
from executorch.backends.aoti.aoti_partitioner import AotiPartitioner
from executorch.backends.cuda import readiness
from executorch.backends.cuda.cuda_backend import CudaBackend
from executorch.backends.cuda.cuda_partitioner import CudaPartitioner
from executorch.backends.cuda.options import inductor_options
from executorch.backends.cuda.passes.move_cond_predicate_to_cpu import MoveCondPredicateToCpuPass
from executorch.backends.cuda.passes.replace_int64_floor_div_with_float import (
    ReplaceInt64FloorDivWithFloatPass,
)
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.graph_facts import called_op, op_name


class Sound(torch.nn.Module):
    """As the beginning of a speech encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(4, 8, 3, padding=1)
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(self.conv(x).transpose(1, 2))
        return torch.nn.functional.scaled_dot_product_attention(y, y, y)


SAMPLE = (torch.randn(1, 4, 6),)


def specs(**texts: str) -> list[CompileSpec]:
    return [CompileSpec(key, text.encode()) for key, text in texts.items()]


def options(**texts: str) -> dict[str, Any]:
    return inductor_options(specs(**texts), has_ptxas=True)


def test_all_of_a_program_is_one_partition_on_the_first_gpu() -> None:
    program = to_edge(export(Sound(), SAMPLE)).exported_program()
    partitioner = CudaPartitioner([CudaBackend.generate_method_name_compile_spec("forward")])
    assert isinstance(partitioner, AotiPartitioner) and issubclass(CudaBackend, AotiBackend)
    tags = partitioner.partition(program).partition_tags
    assert list(tags) == ["aoti_0"] and tags["aoti_0"].backend_id == "CudaBackend"
    found = {spec.key: spec.value for spec in tags["aoti_0"].compile_specs}
    assert found == {"method_name": b"forward", "target_device": b"cuda:0"}
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    assert {node.meta["delegation_tag"] for node in calls} == {"aoti_0"}


class Chosen(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.topk(x, 2)[0], torch.sort(x, stable=True)[0], x.cumsum(0) @ x, torch.histc(x)


def test_calls_of_pytorchs_kernels_stay_unless_the_runtime_has_them() -> None:
    program = to_edge(export(Chosen(), (torch.randn(3, 3),))).exported_program()
    reasons = CudaPartitioner([]).why_not_delegated(program)
    assert {op_name(node) for node in reasons if called_op(node) is not None} == {
        "aten.histc.default"
    }


def test_convolutions_of_sequences_become_those_of_images() -> None:
    program = export(Sound(), SAMPLE).run_decompositions(CudaBackend.get_decomposition_table())
    names = [op_name(node) for node in program.graph.nodes]
    assert "aten.conv2d.default" in names and "aten.conv1d.default" not in names
    original = export(Sound().eval(), SAMPLE)
    expected = original.module()(*SAMPLE)
    found = original.run_decompositions(CudaBackend.get_decomposition_table()).module()(*SAMPLE)
    torch.testing.assert_close(found, expected)


def test_another_gpu_may_be_named() -> None:
    found = CudaPartitioner(specs(target_device="cuda:1")).delegation_spec.compile_specs
    assert [spec.value for spec in found] == [b"cuda:1"]
    with pytest.raises(ValueError, match="Unknown device type 'tpu'"):
        CudaPartitioner(specs(target_device="tpu"))


def test_inductor_is_told_what_compile_specs_say() -> None:
    assert options() == {
        "loop_ordering_after_fusion": False,
        "emulate_precision_casts": True,
        "aot_inductor.embed_kernel_binary": True,
        "aot_inductor.link_libtorch": False,
        "aot_inductor.package": True,
        "aot_inductor.package_constants_in_so": False,
        "aot_inductor.package_constants_on_disk_format": "binary_blob",
        "aot_inductor.emit_multi_arch_kernel": True,
        "max_autotune": True,
        "max_autotune_gemm_backends": "TRITON",
        "max_autotune_conv_backends": "TRITON",
    }
    changed = options(max_autotune="OFF", emulate_precision_casts="OFF", autotune_pointwise="ON")
    assert not changed["max_autotune"] and not changed["emulate_precision_casts"]
    assert changed["triton.autotune_pointwise"]
    windows = options(platform="windows", shim_library_path="C:/lib")
    assert windows["aot_inductor.cross_target_platform"] == "windows"
    assert windows["aot_inductor.aoti_shim_library_path"] == "C:/lib"


def test_options_that_are_wrong_are_named() -> None:
    with pytest.raises(ValueError, match=r"Invalid triton_kernel_mode: X. Expected 'ON' or 'OFF'."):
        CudaBackend.get_custom_passes(specs(triton_kernel_mode="X"))
    with pytest.raises(ValueError, match=r"Invalid max_autotune: 1."):
        options(max_autotune="1")
    with pytest.raises(ValueError, match="Invalid platform: mac"):
        options(platform="mac")
    with pytest.raises(ValueError, match="needs shim_library_path"):
        options(platform="windows")
    with pytest.raises(AssertionError, match="shim_library_path"):
        options(shim_library_path="lib")


def test_what_is_missing_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on a computer that has all."""
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(readiness, "find_spec", lambda name: None)
    program = export(Sound(), SAMPLE)
    start = time.process_time()
    with pytest.raises(RuntimeError, match="a torch with CUDA.*; Triton"):
        to_edge_transform_and_lower(program, partitioner=[CudaPartitioner([])])
    assert time.process_time() - start < 1
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(readiness, "which", lambda name: None)
    missing = readiness.missing_parts({"platform": "windows"})
    assert [each.split()[0] for each in missing] == ["a", "Triton", "x86_64-w64-mingw32-g++"]
    assert "driver" in missing[0]


# ---- Passes ----


class FloorDivisions(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        narrow = torch.div(x.int(), y.int(), rounding_mode="floor")
        return x // y, x // 3, narrow, torch.div(x, y, rounding_mode="trunc"), x / y


def test_integers_are_rounded_down_in_float64() -> None:
    x, y = torch.tensor([-7, 7, -6, 2**40 + 1]), torch.tensor([2, -2, 3, 7])
    for program in (
        export(FloorDivisions(), (x, y)),
        to_edge(export(FloorDivisions(), (x, y))).exported_program(),
    ):
        result = ReplaceInt64FloorDivWithFloatPass()(program.graph_module)
        assert result.modified
        left = [
            str(node.target) for node in program.graph.nodes if "floor_divide" in str(node.target)
        ]
        assert not left
        for found, expected in zip(program.module()(x, y), FloorDivisions()(x, y), strict=True):
            assert torch.equal(found, expected) and found.dtype == expected.dtype


class ByBuffer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("flag", torch.tensor(True))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(self.flag, torch.sin, torch.cos, (x,))


def test_predicates_on_the_cpu_stay() -> None:
    assert not MoveCondPredicateToCpuPass()(export(ByBuffer(), (torch.ones(2),)))


def test_predicates_on_a_device_move() -> None:
    """The meta device stands for one."""
    program = export(ByBuffer(), (torch.ones(2),))
    predicate = next(
        iter(program.graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond))
    ).args[0]
    program._state_dict["flag"] = torch.ones((), dtype=torch.bool, device="meta")
    with pytest.raises(NotImplementedError, match="meta"):  # what has no data cannot be copied
        MoveCondPredicateToCpuPass()(program)
    assert predicate.meta["val"].device.type == "cpu"


def test_kernels_that_the_runtime_lacks_are_named() -> None:
    CudaBackend.check_fallback_kernels("forward", ["at::_ops::sort_stable::call"])
    with pytest.raises(
        RuntimeError, match=r"Method prefill missing fallback kernels \(1 total\): a::b"
    ):
        CudaBackend.check_fallback_kernels("prefill", ["a::b"])
