# SPDX-License-Identifier: BSD-3-Clause
"""Options become compile specs and come back; what a backend does not know is refused, with what it expects."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any

import pytest

from executorch.exir.backend.lowering.payload.options import (
    I64,
    JSON,
    TEXTS,
    U8,
    OptionError,
    flatbuffer,
    from_compile_specs,
    options_of,
    shown_options,
    to_compile_specs,
)
from executorch.exir.backend.lowering.payload.schema import PayloadSchema
from executorch.exir.schema import CompileSpec

ROOT = Path(__file__).parents[4]
SCHEMA = PayloadSchema(ROOT / "backends" / "skeleton" / "schema" / "skeleton.fbs")
BACKEND = "KindsBackend"


class Storage(IntEnum):
    BUFFER = 0
    TEXTURE = 258


@dataclass(frozen=True)
class Kinds:
    fast: bool = False
    level: Annotated[int, U8] = 1
    delta: int = 0
    total: Annotated[int, I64] = 0
    storage: Storage = Storage.BUFFER
    target: str | None = field(default=None, metadata={"key": "target-name"})
    passes: Annotated[Any, JSON] = None
    raw: bytes = b""
    graph: Annotated[Any, flatbuffer(SCHEMA)] = None


@dataclass(frozen=True)
class Tuning:
    level: Annotated[int, U8] = 1
    storage: Storage = Storage.BUFFER


@dataclass(frozen=True)
class Memory:
    tuning: Tuning = Tuning()
    total: int = field(default=0, metadata={"key": "all"})


@dataclass(frozen=True)
class Nested:
    """The outer field's default counts where it is another than the inner ones."""

    devices: Annotated[tuple[str, ...], TEXTS] = ("v1",)
    fast: Tuning = Tuning(level=3)
    memory: Memory = field(default_factory=Memory)


@dataclass(frozen=True)
class Nothing:
    pass


@dataclass(frozen=True)
class Needed:
    device: str


@dataclass(frozen=True)
class NestedNeeded:
    inner: Needed


GRAPH = SCHEMA.make("Graph", num_inputs=2, constants=[], calls=[], outputs=[])

# one value of each kind, and its bytes
ROWS: list[tuple[str, Any, bytes]] = [
    ("fast", True, b"\x01"),
    ("level", 200, b"\xc8"),
    ("delta", -2, b"\xfe\xff\xff\xff"),
    ("total", 1 << 40, b"\0\0\0\0\0\x01\0\0"),
    ("storage", Storage.TEXTURE, b"\x02\x01\0\0"),
    ("target", "höher", b"h\xc3\xb6her"),
    ("passes", {"b": [1, None], "a": "x"}, b'{"a":"x","b":[1,null]}'),
    ("raw", b"\0\xff", b"\0\xff"),
    ("graph", GRAPH, SCHEMA.pack(GRAPH)),
]


@pytest.mark.parametrize(("name", "value", "data"), ROWS, ids=[row[0] for row in ROWS])
def test_each_encoding_comes_back(name: str, value: Any, data: bytes) -> None:
    options = Kinds(**{name: value})
    (spec,) = to_compile_specs(options, BACKEND)
    assert (spec.key, spec.value) == ("target-name" if name == "target" else name, data)
    assert from_compile_specs(Kinds, [spec], BACKEND) == options


def test_only_what_is_not_as_by_default_is_written_in_the_order_of_the_fields() -> None:
    assert to_compile_specs(Kinds(), BACKEND) == []
    assert from_compile_specs(Kinds, [], BACKEND) == Kinds()
    specs = to_compile_specs(Kinds(total=3, fast=True, level=1), BACKEND)
    assert [spec.key for spec in specs] == ["fast", "total"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 256}, "option level: expected u8, found 256"),
        ({"delta": 1 << 31}, "option delta: expected i32, found 2147483648"),
        ({"delta": True}, "option delta: expected i32, found True of type bool"),
        ({"fast": 1}, "option fast: expected bool, found 1 of type int"),
        ({"target": 3}, "option target-name: expected text, found 3 of type int"),
        ({"storage": 258}, "option storage: expected Storage, found 258 of type int"),
        ({"passes": {1j}}, "option passes: expected what JSON has"),
        ({"passes": float("nan")}, "option passes: "),
        ({"graph": SCHEMA.make("Call")}, "option graph: "),
    ],
)
def test_a_value_that_cannot_be_written_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"KindsBackend: {message}"):
        to_compile_specs(Kinds(**given), BACKEND)


KEYS = "fast, level, delta, total, storage, target-name, passes, raw, graph"


@pytest.mark.parametrize(
    ("key", "data", "message"),
    [
        ("fats", b"\1", f"compile specs: expected one of {KEYS}, found 'fats'"),
        ("target", b"x", "compile specs: expected one of .* found 'target'"),
        ("fast", b"", r"compile spec fast \(bool\): expected 1 bytes, found 0"),
        ("fast", b"\2", r"compile spec fast \(bool\): expected 0 or 1, found 2"),
        ("level", b"\1\0", r"compile spec level \(u8\): expected 1 bytes, found 2"),
        ("delta", b"\1", r"compile spec delta \(i32\): expected 4 bytes, found 1"),
        ("total", b"\0" * 4, r"compile spec total \(i64\): expected 8 bytes, found 4"),
        ("storage", b"\1\0\0\0", r"expected one of 0 \(BUFFER\), 258 \(TEXTURE\), found 1"),
        ("target-name", b"\xff", r"compile spec target-name \(text\): expected UTF-8"),
        ("passes", b"{", r"compile spec passes \(json\): expected JSON"),
        ("graph", b"\0" * 12, r"compile spec graph \(flatbuffer\): "),
    ],
)
def test_specs_that_are_not_known_or_not_right_are_refused(
    key: str, data: bytes, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        from_compile_specs(Kinds, [CompileSpec(key, data)], BACKEND)


def test_a_key_stands_once_and_what_has_no_default_is_there() -> None:
    device = CompileSpec("device", b"CPU")
    assert from_compile_specs(Needed, [device], BACKEND) == Needed("CPU")
    assert to_compile_specs(Needed("CPU"), BACKEND) == [device]
    with pytest.raises(OptionError, match="compile spec device: expected once, found again"):
        from_compile_specs(Needed, [device, device], BACKEND)
    with pytest.raises(OptionError, match="compile specs: expected device, which have no default"):
        from_compile_specs(Needed, [], BACKEND)


def test_a_backend_without_options_says_so() -> None:
    assert from_compile_specs(Nothing, [], BACKEND) == Nothing()
    with pytest.raises(
        OptionError, match="KindsBackend has no compile specs, found 'a', 'b': leave"
    ):
        from_compile_specs(Nothing, [CompileSpec("a", b""), CompileSpec("b", b"")], BACKEND)


def test_a_field_without_an_encoding_is_the_backends_mistake() -> None:
    @dataclass(frozen=True)
    class Wrong:
        scale: float = 1.0

    with pytest.raises(TypeError, match="Wrong.scale: expected a bool, int, str, bytes"):
        options_of(Wrong)


def test_options_of_options_have_keys_with_a_point() -> None:
    made = Nested(("v1", "v2"), Tuning(3, Storage.TEXTURE), Memory(Tuning(level=9), 5))
    specs = to_compile_specs(made, BACKEND)
    assert [(spec.key, spec.value) for spec in specs] == [
        ("devices", b"v1,v2"),
        ("fast.storage", b"\x02\x01\0\0"),
        ("memory.tuning.level", b"\x09"),
        ("memory.all", b"\5\0\0\0"),
    ]
    assert from_compile_specs(Nested, specs, BACKEND) == made
    assert from_compile_specs(Nested, [], BACKEND) == Nested()
    assert from_compile_specs(Nested, specs[1:2], BACKEND).fast == Tuning(3, Storage.TEXTURE)
    assert ("fast.level", "3", False) in shown_options(Nested, specs)
    message = "compile specs: expected one of devices, fast.level, .* found 'fast'"
    with pytest.raises(OptionError, match=message):
        from_compile_specs(Nested, [CompileSpec("fast", b"\1")], BACKEND)
    with pytest.raises(OptionError, match="option memory.tuning.level: expected u8, found 256"):
        to_compile_specs(Nested(memory=Memory(Tuning(level=256))), BACKEND)
    with pytest.raises(OptionError, match="expected inner.device, which have no default"):
        from_compile_specs(NestedNeeded, [], BACKEND)
    device = CompileSpec("inner.device", b"CPU")
    assert from_compile_specs(NestedNeeded, [device], BACKEND) == NestedNeeded(Needed("CPU"))


@pytest.mark.parametrize("wrong", [("a,b",), ("",), (1,), "v1"])
def test_texts_are_joined_by_commas(wrong: Any) -> None:
    assert from_compile_specs(Nested, [CompileSpec("devices", b"")], BACKEND).devices == ()
    with pytest.raises(OptionError, match="KindsBackend: option devices: expected text"):
        to_compile_specs(Nested(devices=wrong), BACKEND)


def test_what_is_shown_of_a_file() -> None:
    specs = [
        CompileSpec("level", b"\7"),
        CompileSpec("delta", b"\7"),
        CompileSpec("new", b"\x0a\0"),
    ]
    rows = shown_options(Kinds, specs)
    assert rows[:4] == [
        ("level", "7", True),
        ("delta", "1 bytes 07: expected 4 bytes, found 1", True),
        ("new", "2 bytes 0a00", True),
        ("fast", "False", False),
    ]
    assert ("storage", "BUFFER", False) in rows and len(rows) == 1 + len(options_of(Kinds))
    assert shown_options(None, specs[2:]) == [("new", "2 bytes 0a00", True)]
