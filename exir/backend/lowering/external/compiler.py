# SPDX-License-Identifier: BSD-3-Clause
"""`ExternalCompiler`: what another maker's compiler is to an export. It is found in a version that is wanted, compiles
programs within a time limit, each content once, and its refusals are reasons why calls are not delegated.

Files are kept on request: EXECUTORCH_COMPILER_ARTIFACTS names a folder for what each compilation was given and gave,
EXECUTORCH_COMPILER_CACHE one for payloads that later exports read."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from packaging.specifiers import SpecifierSet
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.results import CompiledResults
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.program_copies import own_copy

Options = Mapping[str, str]
# What compiles: a program that it may change, options, and the folder for files that are worth keeping, if any is.
Compile = Callable[[ExportedProgram, Options, Path | None], bytes]

_log = logging.getLogger(__name__)
# In the meta of calls: what a piece is compiled as.
_COMPILED = "compiled_as"
_ARTIFACTS = "EXECUTORCH_COMPILER_ARTIFACTS"
_CACHE = "EXECUTORCH_COMPILER_CACHE"


def options_of(specs: Iterable[CompileSpec]) -> Options:
    """What compile specs tell a compiler that is told texts; of bytes of any encoding, which specs_of() makes again."""
    return {spec.key: bytes(spec.value).decode(errors="surrogateescape") for spec in specs}


def specs_of(options: Options) -> list[CompileSpec]:
    return [
        CompileSpec(key, text.encode(errors="surrogateescape")) for key, text in options.items()
    ]


class Refused(Exception):
    """A program that a compiler does not take. `nodes`: the names of the calls that it means; none when it does not
    say. `is_final`: looking for these calls in parts of the program is no use."""

    def __init__(self, reason: str, nodes: Iterable[str] = (), is_final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.nodes = frozenset(nodes)
        self.is_final = is_final


class MissingCompiler(ExportError, ImportError):
    """It is not installed, or not in a version that is wanted."""


@dataclass(frozen=True)
class ExternalPackage:
    """A package of another maker: `distribution`, in versions `wanted`, which our `extra` names, too. `module`: what is
    imported of it; that may also be there without being installed, and then has a `__version__`. `get`: how it is had,
    where pip's index does not have it. `needs`: packages that it does not work without."""

    name: str
    distribution: str
    wanted: str
    extra: str
    module: str = field(default="", kw_only=True)
    get: str = field(default="", kw_only=True)
    needs: tuple[ExternalPackage, ...] = field(default=(), kw_only=True)

    def version(self) -> str:
        """The one that is there; empty when none is."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            is_there = self.module in sys.modules or (self.module and find_spec(self.module))
            return getattr(import_module(self.module), "__version__", "") if is_there else ""

    def why_missing(self) -> str:
        """What is found and wanted, and how it is installed; empty when nothing is missing."""
        missing = [each.why_missing() for each in self.needs]
        found = self.version()
        if not (found and SpecifierSet(self.wanted).contains(found, prereleases=True)):
            missing.append(
                f"{self.name} is needed: expected {self.distribution} {self.wanted}, found "
                f"{found or 'none'}; {self.how_to_get()}"
            )
        return ". ".join(filter(None, missing))

    def how_to_get(self) -> str:
        """Not by the extra: where this package is not installed, pip would bring the index's package of that name."""
        return (
            self.get or f"pip install '{self.distribution}{self.wanted}' (the extra {self.extra})"
        )

    def require(self) -> None:
        missing = self.why_missing()
        if missing:
            raise MissingCompiler(ExportErrorType.MISSING_PROPERTY, missing)


@dataclass(frozen=True)
class ExternalCompiler(ExternalPackage):
    """Compilations that end with an exception which is no ExportError are refusals. `time_limit` is in seconds."""

    compile: Compile
    time_limit: float | None = None
    _made: CompiledResults[Refused] = field(
        default_factory=CompiledResults, compare=False, repr=False
    )

    def refusal(
        self, program: ExportedProgram, options: Options, calls: Iterable[Node] = ()
    ) -> Refused | None:
        """What the compiler has against a program. The payload is kept for `payload`; `calls`, those of the graph that
        the program was taken from, carry its key, so that data is hashed once."""
        key = self.key(program, options)
        self._compile_once(key, program, options)
        refused = self._made.refusal(key)
        if refused is not None:
            return refused
        carried = _facts(program, options), key
        for call in calls:
            call.meta[_COMPILED] = carried
        return None

    def payload(self, program: ExportedProgram, options: Options) -> bytes:
        """Raises ExportError for what is refused."""
        key = self._carried(program, options) or self.key(program, options)
        self._compile_once(key, program, options)
        made = self._made.take(key)
        if isinstance(made, Refused):
            calls = f" (calls {', '.join(sorted(made.nodes))})" if made.nodes else ""
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"{self.name} {self.version()} cannot compile this program: {made.reason}{calls}. Its partitioner "
                "leaves out what it does not take",
            )
        return made

    def _carried(self, program: ExportedProgram, options: Options) -> str | None:
        """The key that all calls carry, of a program that is still the same."""
        found = {node.meta.get(_COMPILED) for node in _calls(program)}
        if len(found) != 1 or None in found:
            return None
        ((facts, key),) = found
        return key if facts == _facts(program, options) and key in self._made else None

    def key(self, program: ExportedProgram, options: Options) -> str:
        """Of the compiler, its options, what the program computes, and its data."""
        self.require()
        digest = hashlib.sha256()
        for text in (self.name, self.version(), _text_of(options)):
            digest.update(text.encode() + b"\0")
        for line in _lines(program):
            digest.update(line.encode() + b"\0")
        for spec in program.graph_signature.input_specs:
            data = _data(program, spec.target)
            if data is not None:
                digest.update(memoryview(tensor_bytes(data)))
        return digest.hexdigest()

    def _compile_once(self, key: str, program: ExportedProgram, options: Options) -> None:
        if key not in self._made:
            stored = _stored(key)
            known = stored is not None and stored.exists()
            self._made[key] = stored.read_bytes() if known else self._new(key, program, options)

    def _new(self, key: str, program: ExportedProgram, options: Options) -> bytes | Refused:
        kept = _folder(_ARTIFACTS)
        place = kept / f"{self.name.lower()}-{key[:12]}" if kept else None
        if place:
            place.mkdir(parents=True, exist_ok=True)
            place.joinpath("program.txt").write_text("\n".join(_lines(program)) + "\n")
            place.joinpath("options.json").write_text(json.dumps(dict(options), indent=1))
        try:
            made = self._in_time(own_copy(program), options, place)
        except ExportError:
            raise
        except Exception as error:
            made = error if isinstance(error, Refused) else self._failure(error)
        if place:
            refused = isinstance(made, Refused)
            file = place / ("refused.txt" if refused else "payload.bin")
            file.write_bytes(made.reason.encode() if refused else made)
        stored = _stored(key)
        if stored and not isinstance(made, Refused):
            part = stored.with_suffix(f".{os.getpid()}")
            part.write_bytes(made)
            part.replace(stored)
        return made

    def _failure(self, error: Exception) -> Refused:
        text = str(error).strip() or type(error).__name__
        _log.info("%s %s: %s", self.name, self.version(), text)
        return Refused(f"{self.name} failed: {text.splitlines()[-1].strip()}")

    def _in_time(self, program: ExportedProgram, options: Options, place: Path | None) -> bytes:
        """A thread that is late cannot be ended; nobody waits for it."""
        if self.time_limit is None:
            return self.compile(program, options, place)
        result: list[bytes | BaseException] = []

        def work() -> None:
            try:
                result.append(self.compile(program, options, place))
            except BaseException as error:
                result.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(self.time_limit)
        if not result:
            raise Refused(f"compiling takes more than {self.time_limit:g} s", is_final=True)
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]


def _text_of(options: Options) -> str:
    return json.dumps(dict(options), sort_keys=True)


def _calls(program: ExportedProgram) -> list[Node]:
    return [node for node in program.graph.nodes if node.op == "call_function"]


def _facts(program: ExportedProgram, options: Options) -> tuple[Any, ...]:
    """What tells a piece from another of the same calls: cheap to take, and other when its data is."""
    specs = program.graph_signature.input_specs
    data = [found for spec in specs if (found := _data(program, spec.target)) is not None]
    return (
        _text_of(options),
        tuple(node.name for node in _calls(program)),
        len(specs),
        tuple((each.data_ptr(), each._version) for each in data),
    )


def _lines(program: ExportedProgram) -> list[str]:
    """What a program computes, of what, and in which order it is given and returned."""
    lines = [
        f"{spec.kind} {spec.arg} {spec.target}" for spec in program.graph_signature.input_specs
    ]
    for node in program.graph.nodes:
        value = _value_text(node.meta.get("val"))
        lines.append(f"{node.name} = {node.op} {node.target} {node.args} {node.kwargs}: {value}")
    return lines


def _value_text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {tuple(value.shape)} {value.stride()}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value_text, value))}]"
    return str(value)


def _data(program: ExportedProgram, target: str | None) -> torch.Tensor | None:
    found = program.state_dict.get(target, program.constants.get(target))
    return found if isinstance(found, torch.Tensor) else None


def _folder(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named) if named else None


def _stored(key: str) -> Path | None:
    folder = _folder(_CACHE)
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{key}.bin"
