# SPDX-License-Identifier: BSD-3-Clause
"""The commands on programs that are not one straight line: methods, branches, loops, state, several outputs, chance,
half precision, numbers that are none; and on files that are something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.devtools import Inspector, commands, parse_etrecord
from executorch.devtools.commands.program_file import calls_of
from executorch.exir import schema, to_edge_transform_and_lower
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary
from executorch.runtime import Runtime


class Tanh(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) + 1


class Several(torch.nn.Module):
    def forward(self, x: torch.Tensor, factor: float) -> tuple[torch.Tensor, ...]:
        values, places = torch.topk(torch.cumsum(x, 1) * factor, 2)
        return values, places


class Branch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(x.sum() > 0, lambda v: v.sin() * 2, lambda v: v.cos() * 3, (x,))
        return torch.softmax(y, -1)


class Loop(torch.nn.Module):
    def forward(self, count: torch.Tensor, x: torch.Tensor) -> Any:
        return torch.ops.higher_order.while_loop(
            lambda i, v: i < 5, lambda i, v: (i + 1, v * 1.5 + 1), (count, x.exp()), ()
        )


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x * self.count


class Noise(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + torch.rand_like(x)).relu()


class NoNumbers(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(x - 10) * 2


class Norms(torch.nn.Module):
    """One value each in the model, three of the kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.BatchNorm1d(4), torch.nn.LayerNorm(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x.sin()).relu()).abs()


class Centred(torch.nn.Module):
    """The means that the second norm's kernel writes, too, are next to nothing, and nobody reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(96), torch.nn.LayerNorm(96)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


class Nothing(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


X = torch.arange(1.0, 13.0).reshape(3, 4) / 8
PROGRAMS: dict[str, dict[str, tuple[torch.nn.Module, tuple[Any, ...]]]] = {
    "methods": {"first": (Tanh(), (X,)), "second": (Several(), (X, 2.0))},
    "several": {"forward": (Several(), (X, 2.0))},
    "branch": {"forward": (Branch(), (X,))},
    "loop": {"forward": (Loop(), (torch.tensor(0), X))},
    "counter": {"forward": (Counter(), (X,))},
    "noise": {"forward": (Noise(), (X,))},
    "no_numbers": {"forward": (NoNumbers(), (X,))},
    "norms": {"forward": (Norms().eval(), (X,))},
    "centred": {"forward": (Centred(), (torch.linspace(-3, 5, 960).reshape(10, 96).sin(),))},
    "nothing": {"forward": (Nothing(), (X,))},
    "half": {"forward": (Tanh(), (X.half(),))},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name, methods in PROGRAMS.items():
        exported = {key: export(module, inputs) for key, (module, inputs) in methods.items()}
        program = to_edge_transform_and_lower(exported, generate_etrecord=True).to_executorch()
        program.save(str(folder / f"{name}.pte"))
        program.get_etrecord().save(folder / f"{name}.etrecord")
    return folder


COMPARED = {
    "several": {"cumsum_default", "mul_tensor", "topk_default"},
    "branch": {"sum_dim_int_list", "gt_scalar", "sin_default", "mul_tensor", "_softmax_default"},
    "counter": {"add_tensor", "mul_tensor"},
    "norms": {
        "sin_default",
        "_native_batch_norm_legit_no_training_default",
        "relu_default",
        "native_layer_norm_default",
        "abs_default",
    },
    "centred": {"native_layer_norm_default", "native_layer_norm_default_1"},
    "no_numbers": {"sub_tensor", "log_default", "mul_tensor"},
}


def report(capsys: pytest.CaptureFixture[str], *arguments: Any, status: int = 0) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    assert commands.main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out, parse_constant=refuse)


def bisect(
    folder: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
    *more: str,
    file: str = "",
    status: int = 0,
) -> Any:
    record, program = folder / f"{name}.etrecord", folder / f"{file or name}.pte"
    return report(capsys, "bisect", record, program, *more, status=status)


@pytest.mark.parametrize("name", ["several", "branch", "counter", "norms", "centred", "no_numbers"])
def test_nothing_is_wrong_where_nothing_was_planted(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = bisect(folder, name, capsys)
    targets = {row["operator"].removeprefix("aten_") for row in found["operators"]}
    assert targets == COMPARED[name], found["summary"]
    assert ("no value" in " ".join(found["summary"])) == (name == "branch")


def test_the_numeric_gap_of_operators_with_several_outputs(folder: Path, tmp_path: Path) -> None:
    program = Runtime.get().load_program(
        folder / "norms.pte", enable_etdump=True, debug_buffer_size=1 << 16
    )
    program.load_method("forward").execute((X,))
    dump, values = str(tmp_path / "dump"), str(tmp_path / "values")
    program.write_etdump_result_to_file(dump, values)
    record = parse_etrecord(folder / "norms.etrecord")
    record.update_representative_inputs([X])
    found = Inspector(etdump_path=dump, debug_buffer_path=values, etrecord=record)
    gaps = found.calculate_numeric_gap("MSE")
    assert len(gaps) >= 5 and max(gap for (gap,) in gaps["gap"]) < 1e-9


class Square(torch.nn.Module):
    """By its sizes the value before the transpose cannot be told from the one behind it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.transpose(x + 1, 1, 2) / 3 + x


class Parts(torch.nn.Module):
    """A delegate shows the last part; the one behind it is not read."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one, two, three, _ = torch.split(x * 2, 2, dim=1)
        return torch.relu(one + two) * three


@pytest.mark.parametrize(
    "model, sizes", [(Square(), (2, 5, 5)), (Parts(), (1, 8, 5))], ids=["transpose", "parts"]
)
def test_what_a_delegate_does_in_another_way_is_no_fault(
    model: torch.nn.Module,
    sizes: tuple[int, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    exported = export(model, (torch.randn(sizes),))
    program = to_edge_transform_and_lower(
        exported, partitioner=[XnnpackPartitioner()], generate_etrecord=True
    ).to_executorch()
    program.save(str(tmp_path / "moved.pte"))
    program.get_etrecord().save(tmp_path / "moved.etrecord")
    report = bisect(tmp_path, "moved", capsys)
    assert report["first"] is None and any(row["delegated"] for row in report["operators"])


def plant(folder: Path, name: str, method: str, operator: str, other: str) -> None:
    """Writes faulty.pte, where one call is of another operator."""
    file = deserialize_pte_binary((folder / f"{name}.pte").read_bytes())
    (plan,) = (each for each in file.program.execution_plan if each.name == method)
    (call,) = (each for each in calls_of(plan) if each.name == operator)
    base, _, overload = other.partition(".")
    plan.operators.append(schema.Operator(base, overload))
    plan.chains[0].instructions[call.instruction].instr_args.op_index = len(plan.operators) - 1
    data = serialize_pte_binary(file, extract_delegate_segments=True)
    (folder / "faulty.pte").write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("name", "method", "operator", "other", "line"),
    [
        ("branch", "forward", "aten::sin.out", "aten::exp.out", "torch.cond("),
        ("methods", "first", "aten::tanh.out", "aten::sigmoid.out", "torch.tanh(x)"),
        ("methods", "second", "aten::cumsum.out", None, "torch.cumsum(x, 1)"),
    ],
)
def test_a_fault_in_a_branch_or_in_any_method(
    folder: Path, name: str, method: str, operator: str, other: str | None, line: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if other is None:  # nothing is wrong in this one
        assert bisect(folder, name, capsys, "--method", method)["first"] is None
        return
    plant(folder, name, method, operator, other)
    more = () if method == "forward" else ("--method", method)
    found = bisect(folder, name, capsys, *more, file="faulty", status=1)
    assert line in found["first"]["line"], found["summary"]
    assert [row["operator"] for row in found["wrong"]] == [found["first"]["operator"]]
    files = [str(folder / f"{name}.etrecord"), str(folder / "faulty.pte")]
    assert commands.main(["bisect", *files, *more]) == 1  # as text, too
    assert line in capsys.readouterr().out


def test_what_is_random_or_in_a_loop_is_said_to_be_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise = bisect(folder, "noise", capsys)
    assert any(line.startswith("1 of 3 calls has no value") for line in noise["summary"])
    loop = bisect(folder, "loop", capsys)
    assert any("no value to compare" in line for line in loop["summary"])


def test_lines_are_of_the_method(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = (folder / "methods.pte", "--etrecord", folder / "methods.etrecord")
    found = report(capsys, "doctor", *files, "--no-run")["findings"]
    memory = {row["finding"].partition(":")[0]: row["line"] for row in found}

    assert Path(__file__).name in memory["first"] and Path(__file__).name in memory["second"]
    assert memory["first"] != memory["second"]
    timed = report(capsys, "doctor", *files, "--method", "second")
    assert any(line.startswith("second should take") for line in timed["summary"])


def test_self_tests_of_methods_and_of_half_precision(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, more in (("methods", ()), ("methods", ("--method", "second")), ("half", ())):
        record, output = folder / f"{name}.etrecord", tmp_path / "tested.pte"
        files = (folder / f"{name}.pte", "--etrecord", record, "--output", output)
        found = report(capsys, "self_test", *files, *more)
        assert [row["passes"] for row in found["cases"]] == [True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bisect", "nothing.etrecord", "nothing.pte"), "no operators to compare"),
        (("bisect", "several.etrecord", "several.pte", "--method", "other"), "a method of forward"),
        (("bisect", "several.etrecord", "several.pte", "--inputs", "text"), "a tuple of inputs"),
        (("bisect", "text.pt2", "several.pte"), "an exported program"),
        (("doctor", "text.pt2"), "an exported program"),
        (("doctor", "several.pte", "--etrecord", "zip.etrecord"), "a record"),
        (("explain", "several.pte", "--etrecord", "text"), "expected a file that ETRecord.save"),
        (("self_test", "several.pte", "--etrecord", "zip.etrecord"), "a record"),
    ],
)
def test_what_is_no_such_file_is_told_in_one_line(
    folder: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("text", "text.pt2"):
        (folder / name).write_text("neither a record\nnor inputs")
    record = (folder / "several.etrecord").read_bytes()
    (folder / "zip.etrecord").write_bytes(record.replace(b'{"forward"', b'{"forwar\xff"'))
    given = [str(folder / each) if (folder / each).exists() else each for each in arguments]
    assert commands.main(given) == commands.FAILED
    output = capsys.readouterr().err
    assert message in output and output.count("\n") == 1, output


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int, is_on: bool) -> torch.Tensor:
        return x * count if is_on else x


def test_bench_gives_the_numbers_that_the_model_was_exported_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = to_edge_transform_and_lower(export(Scaled(), (X, 3, True))).to_executorch()
    program.save(str(tmp_path / "scaled.pte"))
    once = ("--rounds", "1", "--runs", "1", "--cold", "1")
    assert len(report(capsys, "bench", tmp_path / "scaled.pte", *once)["files"]) == 1


def test_operators_of_eight_bits_have_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is compared is the value behind quantize and dequantize, which have none."""
    inputs = (torch.randn(4, 16, generator=torch.Generator().manual_seed(0)),)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(export(Layer(), inputs).module(), quantizer)
    prepared(*inputs)
    program = to_edge_transform_and_lower(
        export(convert_pt2e(prepared), inputs),
        partitioner=[XnnpackPartitioner()],
        generate_etrecord=True,
    ).to_executorch()
    program.save(str(tmp_path / "eight.pte"))
    program.get_etrecord().save(tmp_path / "eight.etrecord")
    rows = bisect(tmp_path, "eight", capsys)["operators"]
    layers = [row for row in rows if "linear" in " ".join(row["joined"])]
    assert len(layers) >= 2
    assert all(f"{Path(__file__).name}:" in row["line"] for row in layers), layers


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.sigmoid(self.first(x)))
