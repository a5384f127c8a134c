# SPDX-License-Identifier: BSD-3-Clause
"""`TosaSpecification`: a version of TOSA with profiles and extensions, such as `TOSA-1.0+INT+int16+u55`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextvars import ContextVar, Token
from typing import Any, ClassVar, Generic, TypeVar

from packaging.version import Version

_PATTERN = re.compile(r"TOSA-([\d.]+)\+(.+)")
_BOTH = ("var", "cf")
_FP8 = ("bf16", "fp8e4m3", "fp8e5m2", "fft", *_BOTH)
_INT = ("int16", "int4", *_BOTH, "u55")
_NEWER = ("shape", "int64")


class TosaSpecification:
    """`is_U55_subset`: of what Ethos-U55 and U65 run. `level_8k`: within the limits of TOSA's level 8K. Equal are
    those of one version and the same profiles."""

    version: Version
    profiles: list[str]
    extensions: list[str]
    is_U55_subset: bool
    level_8k: bool
    _EXTENSIONS: ClassVar[dict[str, tuple[str, ...]]] = {}
    _RELEASE: ClassVar[tuple[int, int]] = (0, 0)

    def __init__(self, version: Version, extras: Iterable[str] = ()) -> None:
        words = list(extras)
        self.version = version
        self.is_U55_subset = "u55" in words
        self.level_8k = "8k" in words
        self.profiles = [each for each in words if each in self._EXTENSIONS]
        rest = [each for each in words if each not in (*self.profiles, "u55", "8k")]
        self.extensions = rest
        if not self.profiles:
            raise ValueError(f"No profile ({list(self._EXTENSIONS)}) found in: {words}")
        if len(self.profiles) > 2:
            raise ValueError(f"Too many profiles ({list(self._EXTENSIONS)}) found in: {words}")
        known = {name for profile in self.profiles for name in self._EXTENSIONS[profile]}
        bad = [each for each in rest if each not in known]
        if bad:
            raise ValueError(f"Bad extensions for TOSA-{version}: {bad}")

    @staticmethod
    def create_from_string(repr: str) -> TosaSpecification:
        found = _PATTERN.fullmatch(repr)
        if found is None:
            raise ValueError(f"Failed to parse TOSA specification representation: {repr}")
        version = Version(found[1])
        for kind in (Tosa_1_00, Tosa_1_1):
            if (version.major, version.minor) == kind._RELEASE:
                return kind(version, found[2].split("+"))
        raise ValueError(f"Wrong TOSA version: {version} is not 1.0 or 1.1")

    def support_integer(self) -> bool:
        return "INT" in self.profiles

    def support_float(self) -> bool:
        return "FP" in self.profiles

    def support_extension(self, extension: str) -> bool:
        if extension == "u55":
            return self.is_U55_subset
        return extension in self.extensions

    @classmethod
    def all_versions_and_profiles(cls) -> list[TosaSpecification]:
        kinds = ((Tosa_1_00, "1.0"), (Tosa_1_1, "1.1"))
        return [kind(Version(text), [profile]) for kind, text in kinds for profile in ("INT", "FP")]

    @classmethod
    def all_versions_for_profile(cls, profile: str) -> list[TosaSpecification]:
        return [each for each in cls.all_versions_and_profiles() if profile in each.profiles]

    @classmethod
    def all_profiles_for_version(cls, version: Version | str) -> list[TosaSpecification]:
        wanted = Version(str(version))
        return [each for each in cls.all_versions_and_profiles() if each.version == wanted]

    def __str__(self) -> str:
        ends = ["8k"] * self.level_8k + ["u55"] * self.is_U55_subset
        return "+".join([f"TOSA-{self.version}", *self.profiles, *self.extensions, *ends])

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TosaSpecification) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str]:
        return str(self.version), "+".join(self.profiles)


class Tosa_1_00(TosaSpecification):
    _RELEASE = (1, 0)
    _EXTENSIONS = {"INT": _INT, "FP": _FP8}


class Tosa_1_1(TosaSpecification):
    _RELEASE = (1, 1)
    _EXTENSIONS = {
        "INT": (*_NEWER, *_INT),
        "FP": (*_NEWER, *_FP8, "random", "mxfp", "blockscale_ue5m3"),
    }


Entry = TypeVar("Entry")


class TosaSpecMapping(Generic[Entry]):
    """Lists of what belongs to a specification of one profile."""

    def __init__(self) -> None:
        self._entries: dict[TosaSpecification, list[Entry]] = {}

    def add(self, spec: TosaSpecification, value: Entry) -> None:
        if spec.extensions or spec.is_U55_subset:
            raise ValueError(f"expected a specification without extensions, found {spec}")
        if len(spec.profiles) != 1:
            raise ValueError(f"expected a specification of one profile, found {spec}")
        self._entries.setdefault(spec, []).append(value)

    def get(self, spec: TosaSpecification) -> list[Entry]:
        found: list[Entry] = []
        for profile in ("FP", "INT"):
            if profile in spec.profiles:
                found += self._entries.get(type(spec)(spec.version, [profile]), [])
        if not found:
            raise KeyError(f"nothing is known of {spec}")
        return found


def tosa_spec_in_set(spec: TosaSpecification, specs: set[TosaSpecification]) -> bool:
    """Whether one of its profiles is there, in its version."""
    return any(type(spec)(spec.version, [profile]) in specs for profile in spec.profiles)


_spec: ContextVar[TosaSpecification | None] = ContextVar("tosa_spec", default=None)
_shape_env: ContextVar[Any] = ContextVar("tosa_shape_env", default=None)


class TosaLoweringContext:
    """`with TosaLoweringContext(spec):` what `get_context_spec()` gives inside."""

    def __init__(self, spec: TosaSpecification, shape_env: Any = None) -> None:
        self._values = (spec, shape_env)
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> TosaLoweringContext:
        self._tokens = [_spec.set(self._values[0]), _shape_env.set(self._values[1])]
        return self

    def __exit__(self, *_: object) -> None:
        spec, shape_env = self._tokens
        _spec.reset(spec)
        _shape_env.reset(shape_env)


def get_context_spec() -> TosaSpecification:
    found = _spec.get()
    if found is None:
        raise RuntimeError("no TOSA specification here: use `with TosaLoweringContext(spec):`")
    return found


def get_context_shape_env() -> Any:
    found = _shape_env.get()
    if found is None:
        raise RuntimeError("no shape environment here: give it to TosaLoweringContext")
    return found
