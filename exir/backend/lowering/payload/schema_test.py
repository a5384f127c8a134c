# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of declaration: classes as flatc read them, bytes as flatc packs the same values in JSON."""

from __future__ import annotations

import json
import struct
import subprocess
from dataclasses import asdict, fields, is_dataclass
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any

import pytest

from executorch.exir._native import FormatError
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SOURCE = """
namespace made.up;
enum Kind : short { NONE = -1, First, Second, Tenth = 10 }
enum Access : ubyte (bit_flags) { Read, Write, Run = 4 }
struct Point { x: float; y: double; at: Kind; }
struct Grid { corners: [Point:2]; codes: [ubyte:3]; last: Point; ready: bool; }
table Leaf { name: string; weight: double = 1.0; }
union Node { Leaf, Twig: Leaf, Point }
table Defaults {
  minus: int = -1;
  one: float = 1.0;
  wide: ulong = 9223372036854775807;
  kind: Kind = Second;
  maybe: int = null;
  perhaps: double = null;
  yes: bool = true;
  old: int (deprecated);
  access: Access = Read;
}
table Root {
  defaults: Defaults;
  point: Point;
  grid: Grid;
  node: Node;
  nodes: [Node];
  points: [Point];
  kinds: [Kind];
  numbers: [long];
  reals: [float];
  raw: [ubyte] (force_align: 16);
  aligned: [int] (force_align: 32);
  names: [string];
  leaves: [Leaf];
  flag: Access;
  small: byte;
  title: string (required);
}
root_type Root;
file_identifier "MADE";
"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> PayloadSchema:
    folder = tmp_path_factory.mktemp("schema")
    source = folder / "made.fbs"
    source.write_text(SOURCE)
    flatc(folder, "--binary", "--schema", "--bfbs-builtins", source)
    return PayloadSchema(source)


def flatc(folder: Path, *arguments: str | Path) -> None:
    subprocess.run(["flatc", "-o", folder, *arguments], check=True, capture_output=True)


def as_json(value: Any) -> Any:
    """What flatc reads: enums as numbers, a union's kind in a field of its own before it."""
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, list):
        return [as_json(each) for each in value]
    if not is_dataclass(value):
        return int(value) if isinstance(value, IntEnum | IntFlag) else value
    made = {}
    for field in fields(value):
        each = getattr(value, field.name)
        if field.name == "node" and each is not None:
            made["node_type"] = type(each).__name__
        if field.name == "nodes" and each is not None:
            made["nodes_type"] = [type(item).__name__ for item in each]
        if each is not None:
            made[field.name] = as_json(each)
    return made


def roots(schema: PayloadSchema) -> dict[str, Any]:
    make, kind, access = schema.make, schema.classes["Kind"], schema.classes["Access"]
    point = make("Point", x=0.5, y=-2.0, at=kind.Tenth)
    other = make("Point", x=1.0, y=0.0, at=kind.NONE)
    grid = make("Grid", corners=[point, other], codes=[1, 2, 255], last=other, ready=True)
    leaf, twig = make("Leaf", name="l"), make("Twig", name="é", weight=0.0)
    every = make(
        "Defaults", minus=5, one=0.0, wide=7, kind=kind.First, maybe=0, perhaps=0.0, yes=False,
        access=access.Read | access.Run,
    )  # fmt: skip
    same = make("Defaults", minus=-1, one=1.0, wide=2**63 - 1, kind=kind.Second, yes=True)
    cases = {
        "nothing": {},
        "defaults left out": {"defaults": make("Defaults")},
        "defaults given": {"defaults": same},
        "no defaults": {"defaults": every},
        "struct": {"point": point, "small": -3},
        "struct of arrays": {"grid": grid},
        "union of a table": {"node": leaf},
        "union of a renamed table": {"node": twig, "flag": access.Write},
        "union of a struct": {"node": point},
        "unions": {"nodes": [twig, point, leaf, leaf]},
        "vectors of structs": {"points": [point, other, point]},
        "vectors of numbers": {"kinds": [kind.First, kind.NONE], "numbers": [-(2**63), 2**63 - 1], "reals": [0.1]},
        "aligned": {"raw": bytes(range(70)), "aligned": [1, 2, 3], "names": ["a", "", "bcd"]},
        "tables": {"leaves": [leaf, twig.__class__.__base__(weight=3.0)], "numbers": []},
    }  # fmt: skip
    made = {name: make("Root", title=name, **given) for name, given in cases.items()}
    made["all"] = make(
        "Root", title="all", **{k: v for each in cases.values() for k, v in each.items()}
    )
    return made


CASES = (
    "nothing, defaults left out, defaults given, no defaults, struct, struct of arrays, union of a table, union of a "
    "renamed table, union of a struct, unions, vectors of structs, vectors of numbers, aligned, tables, all"
).split(", ")


@pytest.mark.parametrize("case", CASES)
def test_bytes_are_those_of_flatc(schema: PayloadSchema, tmp_path: Path, case: str) -> None:
    root = roots(schema)[case]
    text = tmp_path / "data.json"
    text.write_text(json.dumps(as_json(root)))
    flatc(tmp_path, "--binary", schema._source, text)
    assert schema.pack(root) == (tmp_path / "data.bin").read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_what_is_packed_is_read_again(schema: PayloadSchema, case: str) -> None:
    root = roots(schema)[case]
    found = schema.unpack(schema.pack(root))
    for name, value in asdict(root).items():
        if name == "defaults" and value is not None:
            absent = {
                "minus": -1,
                "one": 1.0,
                "wide": 2**63 - 1,
                "kind": 1,
                "yes": True,
                "access": 1,
            }
            value = {key: absent.get(key) if each is None else each for key, each in value.items()}
        if name == "leaves" and value:
            value = [{"name": each["name"], "weight": each["weight"] or 1.0} for each in value]
        if value is None or name in ("node", "nodes", "reals"):
            continue
        assert asdict(found)[name] == value, name
    assert type(found.node) is type(root.node)
    assert found.reals is None or found.reals == [struct.unpack("f", struct.pack("f", 0.1))[0]]
    assert [type(each) for each in found.nodes or []] == [type(each) for each in root.nodes or []]
    if case == "unions":
        assert found.nodes[0].name == "é" and found.nodes[0].weight == 0.0
        assert (found.nodes[1].x, found.nodes[1].y, found.nodes[1].at) == (0.5, -2.0, 10)


def test_classes(schema: PayloadSchema) -> None:
    classes = schema.classes
    assert {each.name: int(each) for each in classes["Kind"]} == {
        "NONE": -1, "First": 0, "Second": 1, "Tenth": 10,
    }  # fmt: skip
    assert issubclass(classes["Access"], IntFlag)
    assert {each.name: int(each) for each in classes["Access"]} == {
        "Read": 1,
        "Write": 2,
        "Run": 16,
    }
    assert [field.name for field in fields(classes["Defaults"])] == (
        "minus one wide kind maybe perhaps yes access".split()
    )
    assert issubclass(classes["Twig"], classes["Leaf"]) and "Node" not in classes
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'at'"):
        classes["Point"](1.0, 2.0)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"title": None}, r"Root: .title is required, found NoneType"),
        ({"points": [1]}, r"Root.points\[0\].x: expected a Point, found int 1"),
        ({"node": 3}, "Root.node: expected a member of Node, found int 3"),
        ({"nodes": [None]}, r"Root.nodes\[0\]: expected a member of Node"),
        ({"small": 128}, r"Root.small: expected an integer in \[-128, 127\], found int 128"),
        ({"kinds": "First"}, "Root.kinds: expected a list, found str"),
    ],
)
def test_wrong_values_are_refused_by_name(
    schema: PayloadSchema, given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TypeError, match=reason):
        schema.pack(schema.make("Root", **{"title": "t", **given}))


def test_an_array_has_its_length(schema: PayloadSchema) -> None:
    root = roots(schema)["struct of arrays"]
    root.grid.codes = [1, 2]
    with pytest.raises(TypeError, match=r"Root.grid.codes: expected 3 items, found list \[1, 2\]"):
        schema.pack(root)


def test_corrupted_bytes_are_refused(schema: PayloadSchema) -> None:
    """Every byte, changed in two ways: FormatError, or values of the right classes."""
    data = schema.pack(roots(schema)["all"])
    refused = 0
    for place in range(len(data)):
        for change in (0xFF, 0x01):
            mutant = bytearray(data)
            mutant[place] ^= change
            try:
                assert is_dataclass(schema.unpack(bytes(mutant)))
            except FormatError:
                refused += 1
    assert refused > len(data) // 2


def test_flags_have_no_other_bits(schema: PayloadSchema) -> None:
    data = bytearray(schema.pack(roots(schema)["union of a renamed table"]))
    places = [place for place, byte in enumerate(data) if byte == 2]
    reasons = set()
    for place in places:
        mutant = bytearray(data)
        mutant[place] = 8
        try:
            schema.unpack(bytes(mutant))
        except FormatError as error:
            reasons.add(str(error))
    assert "flag: 8 is not a Access" in reasons


def test_a_format_without_identifier(tmp_path: Path) -> None:
    """Its bytes are flatc's; four that stand where one would are read over."""
    source = tmp_path / "plain.fbs"
    source.write_text("table Plain { number: int; text: string; } root_type Plain;")
    flatc(tmp_path, "--binary", "--schema", "--bfbs-builtins", source)
    (tmp_path / "data.json").write_text('{"number": 3, "text": "abc"}')
    flatc(tmp_path, "--binary", source, tmp_path / "data.json")
    plain = PayloadSchema(source)
    made = plain.make("Plain", number=3, text="abc")
    assert plain.pack(made) == (tmp_path / "data.bin").read_bytes()
    assert plain.unpack(plain.pack(made)) == made
