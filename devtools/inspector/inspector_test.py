# SPDX-License-Identifier: BSD-3-Clause
"""The Inspector on dumps of our own runtime: what ran, which line it came from, how far its values are off."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import ETRecord, Inspector
from executorch.devtools.inspector import Event, EventBlock, TimeScale, compare_results
from executorch.devtools.inspector.numerical_comparator import NumericalComparatorBase
from executorch.examples.models.mobilenet_v2 import MobileNetV2
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.repository.sources import ROOT

X = torch.linspace(-1, 1, 3 * 8 * 8).reshape(1, 3, 8, 8)
LINES = {  # of Model.forward, by the operators they become
    "aten.convolution.default": "y = self.conv_layer(x)",
    "aten.relu.default": "y = torch.relu(y)",
    "aten.mean.dim": "y = y.mean((2, 3))",
    "aten.linear.default": "y = self.head(y)",
    "aten.cumsum.default": "return torch.cumsum(y, 1)",
}


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv_layer = torch.nn.Conv2d(3, 8, 3)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv_layer(x)
        y = torch.relu(y)
        y = y.mean((2, 3))
        y = self.head(y)
        return torch.cumsum(y, 1)


class Run:
    """A model, lowered with a record and run `runs` times with all its values recorded."""

    def __init__(self, folder: Path, model: Any, inputs: Any, backends: Any, runs: int = 3) -> None:
        torch.manual_seed(0)
        lowered = to_edge_transform_and_lower(
            export(model.eval(), inputs), partitioner=backends, generate_etrecord=True
        )
        program = lowered.to_executorch()
        self.record: ETRecord = program.get_etrecord()
        self.record.update_representative_inputs(list(inputs))
        self.dump, self.values = folder / "run.etdp", folder / "run.bin"
        self.record_path = folder / "model.etrecord"
        self.record.save(self.record_path)
        loaded = Runtime.get().load_program(
            program.buffer, enable_etdump=True, debug_buffer_size=1 << 22
        )
        method = loaded.load_method("forward")
        for _ in range(runs):
            self.outputs = method.execute(inputs)
        loaded.write_etdump_result_to_file(self.dump, self.values)

    def inspector(self, **options: Any) -> Inspector:
        return Inspector(
            etdump_path=str(self.dump),
            etrecord=str(self.record_path),
            debug_buffer_path=str(self.values),
            **options,
        )


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("portable"), Model(), (X,), None)


@pytest.fixture(scope="module")
def delegated(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("xnnpack"), Model(), (X,), [XnnpackPartitioner()])


def operators(inspector: Inspector) -> list[Event]:
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    return [event for event in block.events if event.name.startswith("native_call_")]


@pytest.mark.req("DT-021", "DT-023", "DT-026", "DT-027", "DT-014")
def test_every_operator_has_its_line(portable: Run) -> None:
    inspector = portable.inspector(enable_module_hierarchy=True)
    load, execute = inspector.event_blocks
    assert [event.name for event in load.events] == ["Method::init", "Program::load_method"]
    assert (load.name, execute.name, execute.events[-1].name) == (
        "Default",
        "Execute",
        "Method::execute",
    )
    found = operators(inspector)
    assert [event.op_types for event in found] == [[name] for name in LINES]
    for event, line in zip(found, LINES.values()):
        (trace,) = event.stack_traces.values()
        assert line in trace and __file__ in trace, (event.name, trace)
        assert len(event.perf_data.raw) == 3 and min(event.perf_data.raw) > 0
    (modules,) = found[0].module_hierarchy.values()
    assert "L__self___conv_layer" in modules or "L__self__conv_layer" in modules
    torch.testing.assert_close(execute.run_output, list(portable.outputs), rtol=0, atol=0)


def test_times_lie_inside_each_other(portable: Run) -> None:
    (block,) = (b for b in portable.inspector().event_blocks if b.name == "Execute")
    by_name = {event.name: event.perf_data for event in block.events}
    inside = [sum(e.perf_data.raw[i] for e in operators(portable.inspector())) for i in range(3)]
    assert all(a <= b for a, b in zip(inside, by_name["Method::execute"].raw))
    assert by_name["Method::execute"].min <= by_name["Method::execute"].p50
    in_ns = portable.inspector(target_time_scale=TimeScale.NS)
    (again,) = (b for b in in_ns.event_blocks if b.name == "Execute")
    for event, scaled in zip(block.events, again.events):
        assert scaled.perf_data.avg == pytest.approx(event.perf_data.avg * 1e6)


@pytest.mark.req("DT-022")
def test_tables(portable: Run) -> None:
    inspector = portable.inspector(enable_module_hierarchy=True)
    table = inspector.to_dataframe()
    times = [f"{name} (ms)" for name in ("p10", "p50", "p90", "avg", "min", "max")]
    assert list(table.columns) == [
        *("event_block_name", "event_name", "raw", *times, "op_types", "delegate_debug_identifier"),
        *("stack_traces", "module_hierarchy", "is_delegated_op", "delegate_backend_name"),
        *("debug_data", "start_time"),
    ]
    assert table["avg (ms)"].dtype == float
    shown = io.StringIO()
    inspector.print_data_tabular(file=shown)
    assert "native_call_convolution.out" in shown.getvalue()
    assert "OPERATOR_CALL" not in shown.getvalue() and "stack_traces" not in shown.getvalue()
    tsv = io.StringIO()
    inspector.save_data_to_tsv(tsv)
    read = pd.read_csv(io.StringIO(tsv.getvalue()), sep="\t")
    assert len(read) == len(table) - 5  # without the rows OPERATOR_CALL
    convolution = operators(inspector)[0]
    total = inspector.find_total_for_module("conv_layer")
    assert total == pytest.approx(convolution.perf_data.avg)
    assert inspector.find_total_for_module("nothing") == 0
    assert list(inspector.get_op_list("Execute")) == list(LINES)
    assert inspector.get_exported_program() is not None


@pytest.mark.req("DT-016")
def test_values_of_operators(portable: Run) -> None:
    inspector = portable.inspector()
    names = [node.name for node in inspector.get_exported_program().graph.nodes]
    assert len(names) > 5
    relu = operators(inspector)[1]
    expected = torch.relu(operators(inspector)[0].debug_data[0])
    torch.testing.assert_close(relu.debug_data, [expected], rtol=0, atol=0)


@pytest.mark.req("DT-022")
@pytest.mark.parametrize("distance, perfect", [("L1", 0), ("mse", 0), ("SNR", 60)])
def test_numeric_gap_is_small(portable: Run, distance: str, perfect: float) -> None:
    table = portable.inspector().calculate_numeric_gap(distance)
    assert len(table) == len(LINES)
    for gaps in table["gap"]:
        assert gaps[0] > perfect if distance == "SNR" else gaps[0] < 1e-3
    traces = [next(iter(each.values())) for each in table["stacktraces"]]
    assert all(any(line in trace for trace in traces) for line in LINES.values())
    same = portable.inspector().calculate_numeric_gap(
        distance, reference_graph="edge_dialect_graph_module"
    )
    assert len(same) == len(LINES)


def test_numeric_gap_finds_the_operator_that_is_wrong(portable: Run) -> None:
    inspector = portable.inspector()
    operators(inspector)[2].debug_data[0].mul_(1.5)  # mean
    table = inspector.calculate_numeric_gap("L1")
    worst = max(range(len(table)), key=lambda row: table["gap"][row][0])
    assert table["runtime_ops"][worst] == ["native_call_mean.out"]


def test_a_comparator_of_the_users(portable: Run) -> None:
    class Largest(NumericalComparatorBase):
        def element_compare(self, a: Any, b: Any) -> float:
            assert self.inspector is not None
            return float((a - b).abs().max())

    table = portable.inspector().calculate_numeric_gap(Largest())
    assert all(gap[0] < 1e-4 for gap in table["gap"])


@pytest.mark.req("DT-028", "XQ-012")
def test_operators_inside_a_delegate(delegated: Run) -> None:
    inspector = delegated.inspector()
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    inside = [event for event in block.events if event.is_delegated_op]
    assert {event.delegate_backend_name for event in inside} == {"XnnpackBackend"}
    kinds = {event.name.partition(" (")[0] for event in inside}
    assert {"Convolution", "Mean", "Matmul"} <= kinds, kinds
    (call,) = (event for event in block.events if event.name == "DELEGATE_CALL")
    assert "aten.convolution.default" in call.op_types
    total = sum(event.perf_data.raw[-1] for event in inside)
    assert total <= call.perf_data.raw[-1] * 1.01 + 0.001 * len(inside)  # XNNPACK counts in µs
    table = inspector.calculate_numeric_gap("L1")
    assert {gap[0] < 1e-3 for gap in table["gap"]} == {True}


class TwoOutputs(torch.nn.Module):
    """Of five values of one size the second and the last leave the delegate."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(16, 16) for _ in range(5)])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values = [x]
        for layer in self.layers:
            values.append(layer(values[-1]))
        return torch.cumsum(values[2], 1), values[-1]


def test_a_delegate_of_two_outputs_has_two_gaps(tmp_path: Path) -> None:
    run = Run(tmp_path, TwoOutputs(), (torch.ones(16, 16),), [XnnpackPartitioner()])
    table = run.inspector().calculate_numeric_gap("L1")
    assert len(table) == 3 and max(gap[0] for gap in table["gap"]) < 1e-3
    named = list(table["aot_ops"])
    assert named[0] == named[1] and len(named[0]) == 5


@pytest.mark.req("DT-026", "DT-028", "XQ-012")
def test_operators_inside_a_delegate_have_their_lines(delegated: Run) -> None:
    inspector = delegated.inspector(enable_module_hierarchy=True)
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    inside = [event for event in block.events if event.is_delegated_op]
    lines = {
        kind: [LINES[op_type] for op_type in op_types]
        for kind, op_types in {
            "Transpose": ["aten.convolution.default", "aten.relu.default"],  # of the input
            "Convolution": ["aten.convolution.default", "aten.relu.default"],
            "Mean": ["aten.mean.dim"],
            "Matmul": ["aten.linear.default"],
        }.items()
    }
    assert [event.name.partition(" (")[0] for event in inside] == list(lines)
    for event, expected in zip(inside, lines.values()):
        traces = list(event.stack_traces.values())
        assert len(traces) == len(expected), event.name
        assert all(line in trace for line, trace in zip(expected, traces)), event.name
    convolutions = [event for event in inside if "aten.convolution.default" in event.op_types]
    total = inspector.find_total_for_module("conv_layer")
    assert total == pytest.approx(sum(event.perf_data.avg for event in convolutions))


@pytest.mark.req("DT-026", "DT-027")
@pytest.mark.parametrize("partitioner", [None, XnnpackPartitioner()], ids=["kernels", "xnnpack"])
def test_the_operators_of_a_network_fit_into_its_time(partitioner: Any) -> None:
    x = (torch.randn(1, 3, 128, 128),)
    torch.manual_seed(0)
    program = to_edge_transform_and_lower(
        export(MobileNetV2().eval(), x),
        partitioner=[partitioner] if partitioner else None,
        generate_etrecord=True,
    ).to_executorch()
    loaded = Runtime.get().load_program(program.buffer, enable_etdump=True)
    for _ in range(5):
        loaded.load_method("forward").execute(x)
    with tempfile.NamedTemporaryFile() as dump:
        loaded.write_etdump_result_to_file(dump.name, None)
        inspector = Inspector(etdump_path=dump.name, etrecord=program.get_etrecord())
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    parts = [e for e in block.events if e.is_delegated_op or e.name.startswith("native_call_")]
    assert len(parts) > 50 and all(event.stack_traces for event in parts)
    whole = block.events[-1].perf_data.raw
    sums = [sum(e.perf_data.raw[run] for e in parts) for run in range(5)]
    assert all(0 < operators <= 1.03 * run for operators, run in zip(sums, whole)), (sums, whole)


def test_loops_add_up(tmp_path: Path) -> None:
    class Loop(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch._higher_order_ops.map(lambda row: torch.sin(row) + 1, x)

    run = Run(tmp_path, Loop(), (torch.ones(4, 3),), None, runs=2)
    events = {event.name: event for event in operators(run.inspector())}
    assert len(events["native_call_sin.out"].debug_data) == 4
    assert len(events["native_call_sin.out"].perf_data.raw) == 2


@pytest.mark.req("DT-024")
def test_compare_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference, found = [torch.tensor([3.0, 4.0])], [torch.tensor([3.0, 4.5])]
    results = compare_results(reference, found)
    assert results["mse"] == [0.12]  # 0.125
    assert results["snr"] == [20.0]  # 10 log10(12.5 / 0.125)
    assert results["cosine_similarity"] == [round(27 / (5 * 29.25**0.5), 2)]
    assert "snr" in capsys.readouterr().out
    assert list(compare_results(reference, found, metrics=["mse"])) == ["mse"]
    with pytest.raises(ValueError, match="snr, mse"):
        compare_results(reference, found, metrics=["best"])


@pytest.mark.req("DT-025", "PY-022")
@pytest.mark.parametrize(
    "command",
    [
        ["-m", "devtools.inspector.inspector_cli"],
        ["-m", "executorch.devtools.inspector.inspector_cli"],
        ["devtools/inspector/inspector_cli.py"],
    ],
)
def test_the_command_prints_the_table(portable: Run, command: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *command, "--etdump_path", str(portable.dump)]
        + ["--etrecord_path", str(portable.record_path), "--tsv_path", str(tmp_path / "t.tsv")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = io.StringIO()
    Inspector(
        etdump_path=str(portable.dump), etrecord=str(portable.record_path)
    ).print_data_tabular(shown)
    assert shown.getvalue() in done.stdout
    assert "native_call_relu.out" in (tmp_path / "t.tsv").read_text()


def test_wrong_use_says_what_is_expected(portable: Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expecting exactly one"):
        Inspector()
    with pytest.raises(RuntimeError, match="cycles"):
        portable.inspector(source_time_scale=TimeScale.CYCLES)
    with pytest.raises(TypeError, match="Unsupported ETRecord type"):
        Inspector(etdump_path=str(portable.dump), etrecord=3)
    with pytest.raises(ValueError, match="Unsupported distance metric"):
        portable.inspector().calculate_numeric_gap("best")
    with pytest.raises(ValueError, match="not found"):
        portable.inspector().calculate_numeric_gap("L1", reference_graph="other")
    with pytest.raises(ValueError, match="Missing etrecord"):
        Inspector(etdump_path=str(portable.dump)).calculate_numeric_gap("L1")
    (tmp_path / "cut").write_bytes(portable.values.read_bytes()[:100])
    with pytest.raises(ValueError, match="lies outside"):
        Inspector(etdump_path=str(portable.dump), debug_buffer_path=str(tmp_path / "cut"))


def test_without_a_record_there_are_times(portable: Run) -> None:
    inspector = Inspector(etdump_data=portable.dump.read_bytes())
    assert inspector.get_exported_program() is None
    assert all(not event.op_types for block in inspector.event_blocks for event in block.events)
    assert isinstance(inspector.event_blocks[0], EventBlock)


@pytest.mark.req("DT-026")
def test_branches_and_written_buffers_have_their_lines(tmp_path: Path) -> None:
    class Choice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.copy_(self.count * 2 + x)
            return torch.cond(x.sum() > 0, lambda v: torch.sin(v), lambda v: torch.cos(v), (x,))

    run = Run(tmp_path, Choice(), (torch.ones(3),), None, runs=1)
    events = {event.name: event for event in operators(run.inspector())}
    lines = {
        "native_call_sin.out": "torch.sin(v)",
        "native_call_mul.Scalar_out": "self.count * 2 + x",
        "native_call_copy_": "self.count.copy_(self.count * 2 + x)",
    }
    for name, line in lines.items():
        assert line in " ".join(events[name].stack_traces.values()), name
    assert all(event.stack_traces for event in events.values())
