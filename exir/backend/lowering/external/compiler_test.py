# SPDX-License-Identifier: BSD-3-Clause
"""A compiler of another maker that refuses, fails, hangs or is missing: what an export makes of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.export import ExportedProgram, export

from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external import results
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    ExternalPackage,
    MissingCompiler,
    Options,
    Refused,
    options_of,
    specs_of,
)
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules


class Vendor:
    """Compiles to the names of operators; what it does to each is a function of its name."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.wrong: dict[str, str] = {}  # operator -> "named", "failed" or "late"

    def compile(self, program: ExportedProgram, options: Options, place: Path | None) -> bytes:
        calls = [node for node in program.graph.nodes if node.op == "call_function"]
        names = [op_name(node) for node in calls]
        self.seen.append(names)
        if place:
            (place / "listing.txt").write_text(" ".join(names))
        for node, name in zip(calls, names, strict=True):
            how = self.wrong.get(name)
            if how == "named":
                raise Refused(f"the vendor has no {name}", [node.name])
            if how == "failed":
                raise RuntimeError(f"trace\nsegment {len(name)} of the compiler broke")
            if how == "late":
                time.sleep(0.5)
        return f"{sorted(options.items())} {names}".encode()


VENDOR = Vendor()


def _lower() -> None:
    """Nothing is written here."""


class VendorBackend(BackendDetails):
    @staticmethod
    def preprocess(program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        options = {spec.key: spec.value.decode() for spec in compile_specs}
        return PreprocessResult(VendorPartitioner.compiler.payload(program, options))


class VendorPartitioner(ExternalPartitioner):
    backend_id = "VendorBackend"
    table = OpTable(
        {
            f"aten.{name}": Row(_lower)
            for name in ("add.Tensor", "mul.Tensor", "sin.default", "max.dim")
        }
    )
    compiler = ExternalCompiler("Vendor", "torch", ">=2", "vendor", VENDOR.compile)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.sin(x + self.weight)
        return (y * y + x).max(dim=-1)[0]


@pytest.fixture(autouse=True)
def vendor() -> Iterator[Vendor]:
    VENDOR.seen.clear()
    VENDOR.wrong.clear()
    VendorPartitioner.compiler._made.clear()
    yield VENDOR


def _program() -> ExportedProgram:
    return export(Model(), (torch.ones(2, 3),))


def _lowered(specs: tuple[CompileSpec, ...] = (), per_op_mode: bool = False) -> list[bytes]:
    partitioner = VendorPartitioner(specs, per_op_mode)
    edge = to_edge_transform_and_lower(_program(), partitioner=[partitioner])
    found = get_lowered_backend_modules(edge.exported_program().graph_module)
    return [bytes(each.processed_bytes) for each in found]


def _reasons() -> dict[str, str]:
    edge = to_edge_transform_and_lower(_program()).exported_program()
    return {op_name(n): why for n, why in VendorPartitioner().why_not_delegated(edge).items()}


def test_what_is_compiled_when_partitioning_is_not_compiled_again(vendor: Vendor) -> None:
    (payload,) = _lowered((CompileSpec("speed", b"high"),))
    assert payload.startswith(b"[('speed', 'high')]") and b"aten.max.dim" in payload
    assert len(vendor.seen) == 1


def test_options_of_any_encoding_come_back() -> None:
    specs = [CompileSpec("level", b"\xff\0\0\0"), CompileSpec("name", "h\u00f6her".encode())]
    options = options_of(specs)
    assert options["name"] == "h\u00f6her" and specs_of(options) == specs


@pytest.mark.parametrize("how", ["named", "failed"])
def test_a_call_that_is_refused_goes_back_with_its_reason(vendor: Vendor, how: str) -> None:
    vendor.wrong["aten.sin.default"] = how
    payloads = _lowered()
    assert [b"sin" in each for each in payloads] == [False, False]
    assert b"aten.add.Tensor" in payloads[0] and b"aten.max.dim" in payloads[1]
    why = {
        "named": "the vendor has no aten.sin.default",
        "failed": "Vendor failed: segment 16 of the compiler broke",
    }
    assert _reasons() == {"aten.sin.default": why[how]}


def test_several_calls_that_are_refused_one_after_the_other(vendor: Vendor) -> None:
    vendor.wrong |= {"aten.sin.default": "named", "aten.max.dim": "failed"}
    assert [each.count(b"aten") for each in _lowered()] == [1, 2]
    assert set(_reasons()) == {"aten.sin.default", "aten.max.dim"}


def test_a_compiler_that_takes_nothing_leaves_all(vendor: Vendor) -> None:
    vendor.wrong |= dict.fromkeys(VendorPartitioner.table, "failed")
    assert _lowered() == [] and set(_reasons()) == set(VendorPartitioner.table)


def test_one_delegate_per_call(vendor: Vendor) -> None:
    vendor.wrong["aten.mul.Tensor"] = "named"
    assert len(_lowered(per_op_mode=True)) == 4


def test_a_compiler_that_takes_too_long(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = ExternalCompiler("Vendor", "torch", ">=2", "vendor", vendor.compile, time_limit=0.05)
    monkeypatch.setattr(VendorPartitioner, "compiler", limited)
    vendor.wrong["aten.sin.default"] = "late"
    assert set(_reasons().values()) == {"compiling takes more than 0.05 s"}
    assert len(vendor.seen) == 1, "parts are not tried"


@pytest.mark.parametrize(
    "distribution, wanted, found",
    [("no-such-compiler", ">=3,<4", "none"), ("torch", ">=999", torch.__version__)],
)
def test_a_compiler_that_is_missing_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, distribution: str, wanted: str, found: str
) -> None:
    missing = ExternalCompiler("Vendor", distribution, wanted, "vendor", VENDOR.compile)
    monkeypatch.setattr(VendorPartitioner, "compiler", missing)
    with pytest.raises(MissingCompiler) as caught:
        _lowered()
    message = (
        f"expected {distribution} {wanted}, found {found}; pip install '{distribution}{wanted}' "
    )
    assert f"{message}(the extra vendor)" in str(caught.value)


def test_preprocess_alone_says_what_is_refused(vendor: Vendor) -> None:
    vendor.wrong["aten.sin.default"] = "named"
    edge = to_edge_transform_and_lower(_program()).exported_program()
    with pytest.raises(ExportError, match="no aten.sin.default .calls aten_sin_default"):
        VendorBackend.preprocess(edge, [])


def test_artifacts_and_payloads_are_kept_on_request(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXECUTORCH_COMPILER_ARTIFACTS", str(tmp_path / "kept"))
    monkeypatch.setenv("EXECUTORCH_COMPILER_CACHE", str(tmp_path / "cache"))
    (payload,) = _lowered()
    (folder,) = (tmp_path / "kept").iterdir()
    names = {file.name for file in folder.iterdir()}
    assert names == {"program.txt", "options.json", "payload.bin", "listing.txt"}
    assert (folder / "payload.bin").read_bytes() == payload
    assert _lowered() == [payload] and len(vendor.seen) == 1, "a later export reads the cache"
    assert _lowered((CompileSpec("speed", b"low"),)) != [payload], "other options, other content"


def test_other_data_is_other_content() -> None:
    edge = to_edge_transform_and_lower(_program()).exported_program()
    before = VendorPartitioner.compiler.key(edge, {})
    assert VendorPartitioner.compiler.key(edge, {}) == before
    with torch.no_grad():
        edge.state_dict["weight"][1] = 2
    assert VendorPartitioner.compiler.key(edge, {}) != before


def numbered(made: list[str], size: int) -> ExternalCompiler:
    """Gives `size` bytes of the number that it is told."""

    def compile(program: ExportedProgram, options: Options, place: Path | None) -> bytes:
        made.append(options["number"])
        return bytes([int(options["number"])]) * size

    return ExternalCompiler("Vendor", "torch", ">=1", "vendor", compile)


def test_payloads_that_wait_are_compiled_once_whatever_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond so many bytes they wait in files, which go when they are taken."""
    monkeypatch.setattr(results, "IN_MEMORY", 250)
    monkeypatch.setattr(results, "SMALL", 50)
    made: list[str] = []
    compiler, program = numbered(made, 100), _program()
    numbers = [str(number) for number in range(4)]
    for number in numbers:
        assert compiler.refusal(program, {"number": number}) is None
    assert len(list(Path(compiler._made._folder.name).iterdir())) == 2
    for number in numbers:
        assert compiler.payload(program, {"number": number}) == bytes([int(number)]) * 100
    assert made == numbers and not list(Path(compiler._made._folder.name).iterdir())


def test_small_payloads_that_were_taken_stay_up_to_a_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "ENTRIES", 2)
    made: list[str] = []
    compiler, program = numbered(made, 1), _program()
    for number in ("0", "1", "2", "2", "1", "0"):
        compiler.payload(program, {"number": number})
    assert made == ["0", "1", "2", "0"]


def test_data_is_hashed_once(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls that a partitioner has marked carry the key; other data or options have another."""
    hashed = []
    key = ExternalCompiler.key
    monkeypatch.setattr(ExternalCompiler, "key", lambda *given: hashed.append(1) or key(*given))
    assert len(_lowered()) == 1 and len(hashed) == 1
    compiler = VendorPartitioner.compiler
    edge = to_edge_transform_and_lower(_program()).exported_program()
    calls = [node for node in edge.graph.nodes if node.op == "call_function"]
    assert compiler.refusal(edge, {}, calls) is None
    hashed.clear()
    first = compiler.payload(edge, {})
    assert not hashed
    assert compiler.payload(edge, {"speed": "high"}) != first and len(hashed) == 1
    with torch.no_grad():
        edge.state_dict["weight"][1] = 2
    compiler.payload(edge, {})
    assert len(hashed) == 2


# ---- Packages ----


def test_a_module_that_is_not_installed_says_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = ExternalPackage("Base", "vendor_base", ">=1", "", get="ask for it")
    package = ExternalPackage(
        "Vendor", "vendor-sdk", ">=2,<3", "", module="vendor_sdk", get="buy it", needs=(base,)
    )
    expected = "Base is needed: expected vendor_base >=1, found none; ask for it"
    own = "Vendor is needed: expected vendor-sdk >=2,<3, found none; buy it"
    assert package.why_missing() == f"{expected}. {own}"
    (tmp_path / "vendor_sdk.py").write_text('__version__ = "2.4"\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert package.version() == "2.4" and package.why_missing() == expected


def test_without_the_compiler_rows_may_be_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        VendorPartitioner, "compiler", replace(VendorPartitioner.compiler, wanted=">=99")
    )
    edge = to_edge_transform_and_lower(_program()).exported_program()
    with pytest.raises(MissingCompiler):
        VendorPartitioner().why_not_delegated(edge)
    monkeypatch.setattr(VendorPartitioner, "asks_compiler", False)
    assert VendorPartitioner().why_not_delegated(edge) == {}
