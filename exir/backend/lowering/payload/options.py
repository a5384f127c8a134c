# SPDX-License-Identifier: BSD-3-Clause
"""What users may ask of a backend's compiler and runtime: a dataclass, and compile specs of a program file.

    @dataclass(frozen=True)
    class MyOptions:
        check_finite: bool = False         # encodings: of a bool BOOL, of an int I32, of a str TEXT, of bytes BYTES
        limit: Annotated[int, I64] = 0     # or the one that is named
        storage: Storage = Storage.BUFFER  # an IntEnum
        target: str = field(default="", metadata={"key": "target-name"})  # a key that is no name of Python
        devices: Annotated[tuple[str, ...], TEXTS] = ("v1",)
        compiler: Tuning = Tuning()        # a dataclass of options: the keys are compiler.level and so on

    specs = to_compile_specs(MyOptions(limit=7), "MyBackend")
    options = from_compile_specs(MyOptions, specs, "MyBackend")

The runtime half reads the same encodings (runtime/backend/compile_options.h). Keys that are not known, and values of
another form, are an error there and here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, reduce
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.schema import CompileSpec

Options = TypeVar("Options")
_SHOWN = 40  # bytes or characters of a value, in messages and tables


class OptionError(ExportError, ValueError):
    """An option that a backend does not have, or a value that it cannot have."""


def check_keys(backend: str, specs: Sequence[CompileSpec], known: Sequence[str]) -> None:
    """OptionError for keys that are not among these, for a backend whose values have no table."""
    unknown = sorted({spec.key for spec in specs} - set(known))
    if unknown:
        expected, found = ", ".join(known), ", ".join(unknown)
        raise _error(backend, f"compile specs: expected one of {expected}, found {found}")


@dataclass(frozen=True)
class Encoding:
    """`types`: of values that it takes, empty for any. `encode` and `decode` raise ValueError."""

    name: str
    types: tuple[type, ...]
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def _integer(name: str, num_bytes: int, signed: bool) -> Encoding:
    """Little-endian."""

    def encode(value: int) -> bytes:
        try:
            return int(value).to_bytes(num_bytes, "little", signed=signed)
        except OverflowError:
            raise ValueError(f"expected {name}, found {value}") from None

    def decode(data: bytes) -> int:
        if len(data) != num_bytes:
            raise ValueError(f"expected {num_bytes} bytes, found {len(data)}")
        return int.from_bytes(data, "little", signed=signed)

    return Encoding(name, (int,), encode, decode)


U8 = _integer("u8", 1, signed=False)
I32 = _integer("i32", 4, signed=True)
I64 = _integer("i64", 8, signed=True)


def _decode_bool(data: bytes) -> bool:
    value = U8.decode(data)
    if value > 1:
        raise ValueError(f"expected 0 or 1, found {value}")
    return bool(value)


def _decode_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"expected UTF-8, found {data[:_SHOWN]!r}") from None


def _encode_json(value: Any) -> bytes:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    except TypeError as problem:
        raise ValueError(f"expected what JSON has, found {value!r}: {problem}") from None


def _decode_json(data: bytes) -> Any:
    try:
        return json.loads(_decode_text(data))
    except json.JSONDecodeError as problem:
        raise ValueError(f"expected JSON, found {data[:_SHOWN]!r}: {problem}") from None


def _encode_texts(values: tuple[str, ...]) -> bytes:
    wrong = [each for each in values if not isinstance(each, str) or not each or "," in each]
    if wrong:
        raise ValueError(f"expected texts without a comma, found {wrong[0]!r}")
    return ",".join(values).encode()


def _decode_texts(data: bytes) -> tuple[str, ...]:
    return tuple(_decode_text(data).split(",")) if data else ()


BOOL = Encoding("bool", (bool,), U8.encode, _decode_bool)
TEXT = Encoding("text", (str,), str.encode, _decode_text)
TEXTS = Encoding("texts", (tuple,), _encode_texts, _decode_texts)
JSON = Encoding("json", (), _encode_json, _decode_json)
BYTES = Encoding("bytes", (bytes,), bytes, bytes)
_BY_TYPE = {bool: BOOL, int: I32, str: TEXT, bytes: BYTES}


def flatbuffer(schema: Any) -> Encoding:
    """Of the root table of a PayloadSchema."""
    return Encoding("flatbuffer", (), schema.pack, schema.unpack)


@dataclass(frozen=True)
class Option:
    """One of a backend's options, as its field says. `names`: of the fields that lead to it, several where options are
    in a dataclass of their own. `default`: MISSING when it must be given. `kind`: the enum whose members its values
    are, if any."""

    key: str
    encoding: Encoding
    names: tuple[str, ...]
    default: Any = MISSING
    kind: type[Enum] | None = None

    def encode(self, value: Any) -> bytes:
        plain = value.value if isinstance(value, Enum) else value
        self._check_type(value, plain)
        return self.encoding.encode(plain)

    def decode(self, data: bytes) -> Any:
        value = self.encoding.decode(data)
        if self.kind is None:
            return value
        try:
            return self.kind(value)
        except ValueError:
            known = ", ".join(f"{each.value} ({each.name})" for each in self.kind)
            raise ValueError(f"expected one of {known}, found {value}") from None

    def _check_type(self, value: Any, plain: Any) -> None:
        if self.kind is not None:
            fits = isinstance(value, self.kind)
        else:
            types = self.encoding.types
            fits = not types or (
                isinstance(plain, types) and (type(plain) is not bool or bool in types)
            )
        if not fits:
            expected = self.kind.__name__ if self.kind is not None else self.encoding.name
            raise ValueError(f"expected {expected}, found {value!r} of type {type(value).__name__}")


@cache
def options_of(options: type) -> dict[str, Option]:
    """By key, in the order of the dataclass."""
    hints = get_type_hints(options, include_extras=True)
    found: dict[str, Option] = {}
    for each in fields(options):
        key, hint = each.metadata.get("key", each.name), hints[each.name]
        if not is_dataclass(hint):
            found[key] = _option(options, each, hint)
            continue
        outer = _default(each)
        for inner in options_of(hint).values():
            default = inner.default if outer is MISSING else _value(outer, inner.names)
            names = (each.name, *inner.names)
            made = replace(inner, key=f"{key}.{inner.key}", names=names, default=default)
            found[made.key] = made
    return found


def _default(field: Field[Any]) -> Any:
    made = field.default_factory
    return field.default if made is MISSING else made()


def _value(options: Any, names: tuple[str, ...]) -> Any:
    return reduce(getattr, names, options)


def _made(options: type[Options], values: dict[tuple[str, ...], Any]) -> Options:
    """Of values by the names of their fields; those of inner dataclasses are all given or have defaults."""
    own = {names[0]: value for names, value in values.items() if len(names) == 1}
    for each, hint in get_type_hints(options).items():
        inner = {n[1:]: value for n, value in values.items() if n[0] == each and len(n) > 1}
        if inner:
            own[each] = _made(hint, inner)
    return options(**own)


def _option(options: type, field: Field[Any], hint: Any) -> Option:
    named = [each for each in get_args(hint) if isinstance(each, Encoding)]
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    types = [each for each in (plain, *get_args(plain)) if isinstance(each, type)]
    kind = next((each for each in types if issubclass(each, Enum)), None)
    by_type = [
        code for known, code in _BY_TYPE.items() for each in types if issubclass(each, known)
    ]
    if not named and not by_type:
        raise TypeError(
            f"{options.__name__}.{field.name}: expected a bool, int, str, bytes or Annotated[..., encoding], "
            f"found {hint}"
        )
    key = field.metadata.get("key", field.name)
    return Option(key, (named or by_type)[0], (field.name,), _default(field), kind)


def to_compile_specs(options: Any, backend: str) -> list[CompileSpec]:
    """Of what is not as by default, in the order of the dataclass; OptionError for a value that cannot be written."""
    specs = []
    for key, option in options_of(type(options)).items():
        value = _value(options, option.names)
        if value != option.default:
            try:
                specs.append(CompileSpec(key, option.encode(value)))
            except (TypeError, ValueError) as problem:
                raise _error(backend, f"option {key}: {problem}") from problem
    return specs


def from_compile_specs(
    options: type[Options], specs: Sequence[CompileSpec], backend: str
) -> Options:
    """OptionError for keys that are not known or stand twice, for values of another form, and for what is missing."""
    known = options_of(options)
    values: dict[str, Any] = {}
    for spec in specs:
        if not known:
            found = ", ".join(repr(each.key) for each in specs)
            what = f"has no compile specs, found {found}: leave them out, or give the partitioner options"
            raise OptionError(ExportErrorType.NOT_SUPPORTED, f"{backend} {what}")
        if spec.key not in known:
            expected = ", ".join(known)
            raise _error(backend, f"compile specs: expected one of {expected}, found {spec.key!r}")
        if spec.key in values:
            raise _error(backend, f"compile spec {spec.key}: expected once, found again")
        try:
            values[spec.key] = known[spec.key].decode(bytes(spec.value))
        except (TypeError, ValueError) as problem:
            kind = known[spec.key].encoding.name
            raise _error(backend, f"compile spec {spec.key} ({kind}): {problem}") from problem
    missing = [key for key, each in known.items() if each.default is MISSING and key not in values]
    if missing:
        raise _error(
            backend, f"compile specs: expected {', '.join(missing)}, which have no default"
        )
    given = {key: values.get(key, each.default) for key, each in known.items()}
    return _made(options, {known[key].names: value for key, value in given.items()})


def _error(backend: str, what: str) -> OptionError:
    return OptionError(ExportErrorType.NOT_SUPPORTED, f"{backend}: {what}")


def shown_options(
    options: type | None, specs: Sequence[CompileSpec]
) -> list[tuple[str, str, bool]]:
    """For people, whatever a file says: key, value, and whether it was given; of a backend that declares none (None),
    the keys of the file."""
    known = options_of(options) if options is not None else {}
    rows = [(spec.key, _shown(known.get(spec.key), bytes(spec.value)), True) for spec in specs]
    given = {spec.key for spec in specs}
    rest = [(key, each) for key, each in known.items() if key not in given]
    return rows + [
        (key, _short(each.default), False) for key, each in rest if each.default is not MISSING
    ]


def _shown(option: Option | None, data: bytes) -> str:
    raw = f"{len(data)} bytes {data[:_SHOWN].hex()}"
    if option is None:
        return raw
    try:
        return _short(option.decode(data))
    except ValueError as problem:
        return f"{raw}: {problem}"


def _short(value: Any) -> str:
    text = value.name if isinstance(value, Enum) else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
