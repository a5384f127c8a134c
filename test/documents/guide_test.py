# SPDX-License-Identifier: BSD-3-Clause
"""The pages of pages/ hold the documents' code, and it runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, get_overloads

import pytest
import torch
import yaml
from torch.export import Dim, export
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule, Node, subgraph_rewriter
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.utils.source_matcher_utils import get_source_partitions
from torch.library import Library

from executorch import exir
from executorch.exir import to_edge
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.dialects._ops import bind_pattern_to_op
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)
from executorch.exir.memory_planning import greedy
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.replace_aten_with_edge_pass import _trace_and_lower_to_edge_ops
from executorch.runtime import Runtime
from executorch.test.documents import delegates_test, guide

BLOCKS = yaml.safe_load((Path(__file__).parent / "blocks.yaml").read_text())
PAGES = sorted(path.name for path in guide.FOLDER.glob("*.md") if path.name != "delegates.md")
X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
Y = X + 1


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def module_of(function: Any) -> torch.nn.Module:
    class Function(torch.nn.Module):
        def forward(self, *args: torch.Tensor) -> Any:
            return function(*args)

    return Function()


def graph_of(function: Any, *inputs: torch.Tensor) -> GraphModule:
    return export(module_of(function), inputs).graph_module


def targets(module: GraphModule) -> list[Any]:
    return [node.target for node in module.graph.nodes if node.op == "call_function"]


def test_every_block_stands_on_a_page_as_the_documents_print_it() -> None:
    found = {
        name: guide.fingerprint(code)
        for page in PAGES
        for name, code in guide.printed(page).items()
    }
    assert found == BLOCKS


def test_no_block_of_these_documents_is_left_out() -> None:
    """As many as pages/README.md counts; those of pages/delegates.md have names there."""
    rows = re.findall(r"^\| (\d+) .*? \| (\d+) \|", (guide.FOLDER / "README.md").read_text(), re.M)
    elsewhere = {"whole", "save", "composite", "partitioner", "by_hand", "inspect"}
    assert elsewhere <= set(delegates_test.BLOCKS)
    expected = {document: int(number) for document, number in rows}
    found = Counter(name.split(".")[0] for name in BLOCKS) + Counter({"099": 4, "083": 2})
    assert found == expected and sum(expected.values()) == len(BLOCKS) + len(elsewhere)


@pytest.mark.req("CMP-020", "CMP-021", "CMP-022")
def test_backend_dialect() -> None:
    names = {
        "torch": torch,
        "Library": Library,
        "ExportPass": ExportPass,
        "GraphModule": GraphModule,
        "PassResult": PassResult,
        "subgraph_rewriter": subgraph_rewriter,
        "bind_pattern_to_op": bind_pattern_to_op,
        "_trace_and_lower_to_edge_ops": _trace_and_lower_to_edge_ops,
    }
    model, pattern, library, fusion = guide.today("backend_dialect.md")
    guide.run(pattern, guide.run(model, names))
    assert names["pattern"](X, -X).abs().max() == 0
    guide.run(library, names)
    guide.run(fusion, names)
    edge = to_edge(export(module_of(names["f"]), (X, Y)))
    fused = edge.transform([names["AddReluFusionPass"]()]).exported_program()
    shown = str(fused.graph)
    assert "executorch.exir.dialects.edge._ops.foo_namespace.add_relu.default" in shown
    assert [n.name for n in fused.graph.nodes if n.op == "call_function"] == [
        "foo_namespace_add_relu_default"
    ]
    torch.testing.assert_close(fused.module()(X, Y), torch.relu(X + Y))


def passes_page(*wanted: str, **names: Any) -> dict[str, Any]:
    """Runs those blocks of the page whose code has one of the `wanted` words."""
    scope = {
        "torch": torch,
        "ExportPass": ExportPass,
        "PassBase": PassBase,
        "PassResult": PassResult,
        "to_edge": to_edge,
        "export": export,
        "get_source_partitions": get_source_partitions,
        "dataclass": dataclass,
        "field": field,
        "Node": Node,
        "Dict": dict,
        "List": list,
        "Type": type,
        **names,
    }
    for code in guide.today("passes.md"):
        if any(word in code for word in wanted):
            guide.run(code, scope)
    return scope


@pytest.mark.req("CMP-027")
def test_passes_that_replace_calls() -> None:
    aten = torch.ops.aten
    names = passes_page("InPlaceRelu", graph_module=graph_of(lambda x: aten.relu_(x + 1), X))
    assert targets(names["new_graph_module"]) == [aten.add.Tensor, aten.relu.default]
    names = passes_page("class ReplaceAddWithMulSub", "class RemoveDetachPass", "def args_map")
    mul_sub = names["ReplaceAddWithMulSub"]()(graph_of(lambda x, y: x + y, X, Y)).graph_module
    assert targets(mul_sub) == [aten.mul.Tensor, aten.sub.Tensor]
    torch.testing.assert_close(mul_sub(X, Y)[0], X * Y - Y)
    detached = names["RemoveDetachPass"]()(graph_of(lambda x: x.detach() * 2, X)).graph_module
    assert targets(detached) == [aten.mul.Tensor]
    with_tensors = names["ScalarToTensorPass"]()(graph_of(lambda x: x * 2, X)).graph_module
    (mul,) = with_tensors.graph.find_nodes(op="call_function", target=aten.mul.Tensor)
    assert mul.args[1].op == "get_attr"
    torch.testing.assert_close(with_tensors(X)[0], X * 2)


@pytest.mark.req("CMP-028")
def test_the_subgraph_rewriter_of_the_page() -> None:
    names = passes_page("def replace_patterns", "class ReplacedPatterns")
    module = graph_of(lambda x, y: ((x + y) * y).relu(), X, Y)
    (replaced,) = names["replace_patterns"](module)
    assert targets(module) == [torch.ops.aten.sub.Tensor, torch.ops.aten.relu.default]
    assert all(hasattr(replaced, name) for name in names["ReplacedPatterns"].__annotations__)


@pytest.mark.req("CMP-029", "CMP-C09")
def test_the_pass_manager_of_the_page() -> None:
    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.add(x, x)

    module = torch.fx.symbolic_trace(Add())
    names = passes_page("class ReplaceAddPass", graph_module=module)
    assert targets(module) == [torch.div]

    def replace_div_with_mul(graph_module: GraphModule) -> None:
        for node in graph_module.graph.find_nodes(op="call_function", target=torch.div):
            node.target = torch.mul

    both = {
        "replace_add_with_div": names["replace_add_with_div"],
        "replace_div_with_mul": replace_div_with_mul,
        "graph_module": torch.fx.symbolic_trace(Add()),
    }
    after = passes_page("suppress_check_failures=False", **both)["graph_module_out"]
    assert targets(after.graph_module) == [torch.mul]
    from executorch.exir.pass_manager import PassManager

    both["graph_module"] = torch.fx.symbolic_trace(Add())
    with pytest.raises(Exception, match="when running") as caught:
        passes_page("def check_div_target", PassManager=PassManager, **both)
    assert str(caught.value.__cause__) == "Target should be div!"


@pytest.mark.req("CMP-030", "CMP-032")
def test_the_partitioners_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    names = passes_page(
        "class LargeModel",
        "class InternalMatch",
        "class SourcePartition",
        large_inputs=(torch.randn(3, 3),),
        pattern_inputs=(torch.randn(5, 5),),
    )
    (match,) = names["match_result"]
    assert all(hasattr(match, name) for name in names["InternalMatch"].__annotations__)
    module = graph_of(lambda x, y: torch.relu(x + y) * y + x, X, Y)
    names = passes_page("class AddMulOperatorSupport", graph_module=module)
    assert [len(partition.nodes) for partition in names["partition_list"]] == [2]
    names = passes_page("linear2")
    nodes = {
        kind.__name__: sum(len(partition.nodes) for partition in each)
        for kind, each in names["module_partitions"].items()
    }
    assert nodes == {"Linear": 3, "ReLU": 1}
    assert "aten_relu_default" in capsys.readouterr().out


@pytest.mark.req("CMP-037", "CMP-039")
def test_memory_planning() -> None:
    def arenas(program: Any) -> list[int]:
        return program.executorch_program.execution_plan[0].non_const_buffer_sizes

    edge = to_edge(export(module_of(lambda x, y: (x + y) * y), (X, Y)))
    scope = {
        "exir": exir,
        "torch": torch,
        "MemoryPlanningPass": MemoryPlanningPass,
        "GraphModule": GraphModule,
        "Optional": Optional,
        "ExportGraphSignature": ExportGraphSignature,
        "PassResult": PassResult,
        "greedy": greedy,
    }
    left_out, custom, use = guide.today("memory_planning.md")
    with_inputs = edge.to_executorch()
    program = guide.run(left_out, {**scope, "edge_program": edge})["program"]
    assert sum(arenas(program)) < sum(arenas(with_inputs))
    scope = guide.run(custom, scope)
    program = guide.run(use, {**scope, "edge_program": edge})["program"]
    assert len(arenas(program)) == 3 and all(arenas(program)[1:])
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    torch.testing.assert_close(method.execute([X, Y])[0], (X + Y) * Y)


def _meaning(row: dict[str, Any]) -> set[tuple[frozenset[str], ...]]:
    """A row of edge.yaml without the names of its aliases."""
    kinds = {name: frozenset(types) for name, types in row["type_alias"].items()}
    return {(kinds[each["self"]], kinds[each["__ret_0"]]) for each in row["type_constraint"]}


@pytest.mark.req("CMP-018", "CMP-C13")
def test_edge_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    program, allowed = guide.today("edge_dialect.md")
    guide.run(program, {})
    assert "EdgeProgramManager.exported_program" in capsys.readouterr().out
    names = guide.run(allowed, {})
    assert "aten::sigmoid(Tensor self) -> Tensor" in capsys.readouterr().out
    assert names["_return"].allowed_types == {torch.float32, torch.float64}
    integers = {torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool}
    assert names["self_arg"].allowed_types == {torch.float32, torch.float64} | integers
    (printed,) = yaml.safe_load(guide.printed("edge_dialect.md")["118.2"])
    table = Path(exir.__file__).parent / "dialects/edge/edge.yaml"
    ours = next(each for each in yaml.safe_load(table.read_text()) if each["func"] == "sigmoid")
    assert _meaning(ours) == _meaning(printed)


@pytest.mark.req("CMP-051", "CMP-C05")
def test_one_partitioner_for_two_backends() -> None:
    (code,) = guide.today("backend_interface.md")
    names = guide.run(
        code,
        {
            "Partitioner": Partitioner,
            "DelegationSpec": DelegationSpec,
            "PartitionResult": PartitionResult,
            "CompileSpec": CompileSpec,
            "ExportedProgram": torch.export.ExportedProgram,
            "exir_ops": exir_ops,
        },
    )
    from executorch.exir.backend.test import backend_with_compiler_demo, executor_backend

    assert backend_with_compiler_demo.BackendWithCompilerDemo and executor_backend.ExecutorBackend
    edge = to_edge(export(module_of(lambda x: torch.sin(x) * x + x), (X,)))
    lowered = edge.to_backend(names["Backend_1_2_Partitioner"]())
    modules = get_lowered_backend_modules(lowered.exported_program().graph_module)
    assert [m.backend_id for m in modules] == ["BackendWithCompilerDemo", "ExecutorBackend"]


def signature(function: Any, renamed: dict[str, str] | None = None) -> list[tuple[str, Any]]:
    """Names and types of the parameters and, last, of the result; `self` left out."""
    types = inspect.get_annotations(function, eval_str=True)
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    known = renamed or {}
    return [(known.get(name, name), types[name]) for name in names] + [("", types["return"])]


SIGNATURES = {
    "083.1": Partitioner.partition,
    "083.2": BackendDetails.preprocess,
    "099.1": get_overloads(to_backend)[0],
    "099.5": get_overloads(to_backend)[1],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_that_the_documents_print(name: str) -> None:
    code = guide.printed("backend_interface.md")[name].rstrip()
    names = {
        "ExportedProgram": torch.export.ExportedProgram,
        "PartitionResult": PartitionResult,
        "PreprocessResult": PreprocessResult,
        "LoweredBackendModule": LoweredBackendModule,
        "Partitioner": Partitioner,
        "CompileSpec": CompileSpec,
        "List": list,
    }
    guide.run(f"{code} ...\n", names)
    defined = names["to_backend" if name.startswith("099") else code.split()[1].split("(")[0]]
    # One parameter is called compile_specs here, as in all other calls.
    ours = signature(SIGNATURES[name], {"compile_specs": "compile_spec"} if name == "099.1" else {})
    assert ours == signature(defined)


@pytest.mark.req("CMP-057")
def test_the_quantizing_block() -> None:
    command = [sys.executable, "-m", "executorch.test.documents.quantized_export"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    title, *numbers = done.stdout.splitlines()[-1].split()
    quantizers, wrong, total, _ = map(float, numbers)
    assert title == "RESULT" and "Quantized Graph" in done.stdout
    assert quantizers == 2  # before the convolution and after relu
    assert wrong <= 0.01 * total  # where a sum lies between two steps


@pytest.mark.req("CMP-052", "CMP-055", "CMP-C12")
def test_export_and_lowering() -> None:
    eager, lower, tag, write, ep, run, run_pair, methods, wrappers = guide.today(
        "export_and_lowering.md"
    )
    names = guide.run(eager, {})
    names = guide.run(ep, guide.run(lower, {**names, "exir": exir, "output_directory": "."}))
    names["model"].eval()
    assert isinstance(names["ep"], torch.export.ExportedProgram)
    names = guide.run(run, names)
    expected = names["model"](names["input_tensor"])
    torch.testing.assert_close(names["outputs"][0], expected)
    names = guide.run(write, guide.run(tag, names))
    names["executorch_program"].save("model.pte")
    assert Path("model.ptd").stat().st_size > 0
    names = guide.run(run_pair, names)
    torch.testing.assert_close(
        names["outputs"][0], names["model"](names["input_tensor"]), atol=1e-5, rtol=1e-5
    )
    names["model"].encode = names["model"].seq
    names["model"].decode = names["model"].forward
    names = guide.run(methods, guide.run(wrappers, names))
    names["lowered"].save("two.pte")
    program = Runtime.get().load_program("two.pte")
    assert sorted(program.method_names) == ["decode", "encode"]
    (encoded,) = program.load_method("encode").execute([*names["inputs"]])
    torch.testing.assert_close(encoded, names["model"].seq(*names["inputs"]))


@pytest.mark.req("CMP-062", "CMP-C01", "CMP-C03", "CMP-C04")
def test_tutorial(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"Dim": Dim}
    for code in guide.today("tutorial.md"):
        names = guide.run(code, names)
    shown = capsys.readouterr()
    for title in ("ATen Dialect Graph", "Edge Dialect graph of decode", "ExecuTorch Dialect"):
        assert title in shown.out
    assert "LoweredBackendModule()\nBackendWithCompilerDemo\n" in shown.out
    assert "executorch_exir_dialects_edge__ops_aten_sigmoid_default" in shown.out
    # One error of the second block, two of the fourth.
    assert shown.err.count("Traceback (most recent call last)") >= 3
    expected = names["M"]().eval()
    assert Path("delegate.pte").exists() and Path("model.pte").exists()
    method = Runtime.get().load_program("model.pte").load_method("forward")
    (result,) = method.execute([*names["example_args"]])
    assert result.shape == expected(*names["example_args"]).shape
    assert 0 <= result.min() and result.max() <= 1
