# SPDX-License-Identifier: BSD-3-Clause
"""Metal's names where there is no Mac: partitions, compile specs, operators beside their formulas; lowering says what
it needs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import export

import executorch.backends.apple.metal.ops  # noqa: F401  defines metal::*
from executorch.backends.aoti import payload_reader
from executorch.backends.aoti.aoti_backend import AotiBackend
from executorch.backends.aoti.aoti_partitioner import AotiPartitioner
from executorch.backends.apple.metal.metal_backend import COMPILE_SPEC_KEYS, MetalBackend
from executorch.backends.apple.metal.metal_partitioner import MetalPartitioner
from executorch.backends.apple.metal.passes.decompose_linear_pass import DecomposeLinearPass
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name

metal = torch.ops.metal


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU(), torch.nn.Softmax(-1))


# ---- Partitions and compile specs ----


def test_all_of_a_program_is_one_partition() -> None:
    specs = [MetalBackend.generate_method_name_compile_spec("forward")]
    program = to_edge(export(network(), (torch.randn(2, 4),))).exported_program()
    partitioner = MetalPartitioner(specs)
    assert isinstance(partitioner, AotiPartitioner)
    result = partitioner.partition(program)
    assert list(result.partition_tags) == ["aoti_0"]
    assert result.partition_tags["aoti_0"].backend_id == "MetalBackend"
    assert result.partition_tags["aoti_0"].compile_specs == specs
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    data = [node for node in program.graph.nodes if node.name.startswith("p_")]
    assert nodes and len(data) == 2
    assert {node.meta["delegation_tag"] for node in nodes + data} == {"aoti_0"}


def test_nothing_is_decomposed() -> None:
    program = export(network(), (torch.randn(2, 4),))
    kept, _ = MetalPartitioner([]).ops_to_not_decompose(program)
    assert {str(each) for each in kept} >= {"aten.linear.default", "aten.gelu.default"}


class WithMemory(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("unused", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


def test_buffers_that_change_and_that_nobody_reads_are_taken_over() -> None:
    program = to_edge(export(WithMemory(), (torch.ones(4),))).exported_program()
    MetalPartitioner([]).partition(program)
    tags = {node.name: node.meta.get("delegation_tag") for node in program.graph.nodes}
    assert tags["b_total"] == tags["b_unused"] == "aoti_0" and tags["x"] is None


def test_method_names() -> None:
    spec = MetalBackend.generate_method_name_compile_spec("prefill")
    assert (spec.key, bytes(spec.value)) == (COMPILE_SPEC_KEYS.METHOD_NAME.value, b"prefill")
    assert MetalBackend.method_name_from_compile_specs([spec]) == "prefill"
    with pytest.raises(RuntimeError, match="Could not find method name in compile specs"):
        MetalBackend.method_name_from_compile_specs([])


def test_libraries_are_signed_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", lambda command, check: commands.append(command))
    MetalBackend.codesign_so("a.so", [])
    assert not commands
    MetalBackend.codesign_so("a.so", [CompileSpec("codesign_identity", b"-")])
    assert commands == [["codesign", "-f", "-s", "-", "a.so"]]
    assert MetalBackend.get_aoti_compile_options([])["aot_inductor.package"]


def test_lowering_says_what_it_needs() -> None:
    program = export(network(), (torch.randn(2, 4),))
    with pytest.raises(ExportError, match="Metal lowering needs macOS with an MPS device"):
        to_edge_transform_and_lower(program, partitioner=[MetalPartitioner([])])


def test_kernels_that_the_runtime_lacks_are_named() -> None:
    assert issubclass(MetalBackend, AotiBackend) and MetalBackend.get_device_name() == "metal"
    MetalBackend.check_fallback_kernels("forward", {"aoti_torch_mps_mm_out", "metal::gather_qmv"})
    words = r"Method forward missing fallback kernels \(2 total\): a::one, b::two"
    with pytest.raises(RuntimeError, match=words):
        MetalBackend.check_fallback_kernels("forward", ["b::two", "metal::gather_qmv", "a::one"])


@pytest.mark.parametrize(
    ("shape", "bias", "is_changed"),
    [((2, 4), True, True), ((2, 4), False, False), ((3, 2, 4), True, False)],
)
def test_linear_layers_on_matrices(shape: tuple[int, ...], bias: bool, is_changed: bool) -> None:
    layer, x = torch.nn.Linear(4, 3, bias=bias), torch.randn(shape)
    for program in (export(layer, (x,)), to_edge(export(layer, (x,))).exported_program()):
        result = DecomposeLinearPass()(program.graph_module)
        assert result.modified == is_changed
        names = [op_name(node) for node in program.graph.nodes]
        assert ("aten.linear.default" in names) != is_changed
        assert ("aten.matmul.default" in names) == is_changed
        torch.testing.assert_close(program.module()(x), layer(x))


# ---- Operators ----


def test_gather_qmv_is_its_formula() -> None:
    torch.manual_seed(1)
    experts, outputs, inputs, group, rows = 3, 5, 8, 4, 4
    quantized = torch.randint(0, 16, (experts, outputs, inputs), dtype=torch.uint8)
    packed = quantized[..., 0::2] | quantized[..., 1::2] << 4
    scales, biases = torch.rand(2, experts, outputs, inputs // group)
    x, chosen = torch.randn(rows, inputs), torch.tensor([2, 0, 1, 2])
    found = metal.gather_qmv(x, packed, scales, biases, chosen, group)
    for row in range(rows):
        for output in range(outputs):
            expert = int(chosen[row])
            expected = sum(
                float(x[row, place])
                * (
                    int(quantized[expert, output, place])
                    * float(scales[expert, output, place // group])
                    + float(biases[expert, output, place // group])
                )
                for place in range(inputs)
            )
            assert float(found[row, output]) == pytest.approx(expected, abs=1e-4)
    assert metal.gather_qmv(x.half(), packed, scales, biases, chosen, group).dtype == torch.float16


def _delta_samples(heads: int) -> list[torch.Tensor]:
    torch.manual_seed(2)
    q, k = torch.randn(2, 2, 3, 2, 4)  # batch 2, 3 steps, 2 heads of 4
    v, (g, beta) = torch.randn(2, 3, heads, 5), torch.rand(2, 2, 3, heads)
    return [q, k, v, g, beta, torch.randn(2, heads, 5, 4)]


@pytest.mark.parametrize("heads", [2, 4])
def test_gated_delta_rule_is_its_formula(heads: int) -> None:
    q, k, v, g, beta, state = _delta_samples(heads)
    expected_state = state.clone()
    found = metal.gated_delta_rule(q, k, v, g, beta, state)
    for batch in range(2):
        for head in range(heads):
            s, of_key = expected_state[batch, head].double(), head * 2 // heads
            for step in range(3):
                key, query = k[batch, step, of_key].double(), q[batch, step, of_key].double()
                s = s * g[batch, step, head]
                d = (v[batch, step, head] - s @ key) * beta[batch, step, head]
                s = s + torch.outer(d, key)
                torch.testing.assert_close(
                    found[batch, step, head].double(), s @ query, rtol=1e-4, atol=1e-4
                )
            torch.testing.assert_close(state[batch, head].double(), s, rtol=1e-4, atol=1e-4)


def test_operators_keep_the_rules_of_pytorch() -> None:
    tests = ("test_schema", "test_faketensor")
    packed = torch.zeros(1, 3, 2, dtype=torch.uint8)
    sample = (
        torch.randn(2, 4),
        packed,
        torch.rand(1, 3, 1),
        torch.rand(1, 3, 1),
        torch.zeros(2).long(),
        4,
    )
    torch.library.opcheck(metal.gather_qmv.default, sample, test_utils=tests)
    torch.library.opcheck(
        metal.gated_delta_rule.default, tuple(_delta_samples(2)), test_utils=tests
    )


def _changed(samples: list[Any], place: int, value: Any) -> list[Any]:
    return [value if at == place else each for at, each in enumerate(samples)]


def test_sizes_that_do_not_fit_are_named() -> None:
    samples = _delta_samples(2)
    for place, name in enumerate(("q", "k", "v", "g", "beta", "state")):
        if name != "v":
            with pytest.raises(
                ValueError, match=f"metal::gated_delta_rule: {name}: expected sizes"
            ):
                metal.gated_delta_rule(*_changed(samples, place, torch.zeros(1, 2, 2, 7)))
    odd = [*_delta_samples(2)[:2], *_delta_samples(3)[2:]]
    with pytest.raises(ValueError, match="expected heads that those of k, 2, divide, found 3"):
        metal.gated_delta_rule(*odd)
    packed = torch.zeros(1, 3, 2, dtype=torch.uint8)
    good = [
        torch.randn(2, 4),
        packed,
        torch.rand(1, 3, 1),
        torch.rand(1, 3, 1),
        torch.zeros(2).long(),
        4,
    ]
    for place, name in ((1, "w"), (2, "scales"), (3, "biases"), (4, "expert_indices")):
        bad = (
            torch.zeros(5) if name == "expert_indices" else torch.zeros(1, 3, 7, dtype=torch.uint8)
        )
        with pytest.raises(ValueError, match=f"metal::gather_qmv: {name}: expected"):
            metal.gather_qmv(*_changed(good, place, bad))
    with pytest.raises(ValueError, match="expected uint8"):
        metal.gather_qmv(*_changed(good, 1, packed.int()))


# ---- Payloads ----


def test_payloads_name_what_they_need() -> None:
    record = payload_reader.facts(b"12ab_so_blob\n34cd_weights_blob")
    assert record == [
        ("native code", "runs as it is in the file: load it from those only whom you trust"),
        ("shared library", "named data 12ab_so_blob"),
        ("weights", "named data 34cd_weights_blob"),
    ]
    assert payload_reader.facts(b"")[0][1].startswith("[method]_so_blob")
    for bad in (b"12ab_so_blob", b"a_so_blob\nb", b"\xff\xfe", b"a_so_blob\nb_weights_blob\nc"):
        with pytest.raises(ValueError, match="expected two lines"):
            payload_reader.facts(bad)
    with pytest.raises(ValueError, match="has no operators to list"):
        payload_reader.operators(b"")
