# SPDX-License-Identifier: BSD-3-Clause
"""Compile specs: `device`, `payload`, `config`, and properties of OpenVINO under their own names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

DEVICE, PAYLOAD, CONFIG = "device", "payload", "config"
CHECKSUM, VERSION = "checksum", "version"  # which preprocess writes
PAYLOADS = ("auto", "compiled", "ir")
CPUINFO = Path("/proc/cpuinfo")
_PRECISION = {"INFERENCE_PRECISION_HINT", "EXECUTION_MODE_HINT"}


def wrong(message: str) -> ExportError:
    return ExportError(ExportErrorType.INVALID_INPUT_TYPE, f"OpenVINO: {message}")


@dataclass(frozen=True)
class Options:
    """`payload`: compiled for the device, `ir` for any device and version, or `auto`: compiled where the device is
    here and what is compiled for it can be stored."""

    device: str = "CPU"
    payload: str = "auto"
    properties: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def read(specs: Iterable[CompileSpec]) -> Options:
        return Options.of_texts({spec.key: _text(spec) for spec in specs})

    @staticmethod
    def of_texts(texts: Mapping[str, str]) -> Options:
        found = {key: text for key, text in texts.items() if key not in (CHECKSUM, VERSION)}
        device = found.pop(DEVICE, "CPU")
        payload = found.pop(PAYLOAD, "auto")
        if payload not in PAYLOADS:
            raise wrong(
                f"compile spec payload: expected one of {', '.join(PAYLOADS)}, found {payload!r}"
            )
        config = _config(found.pop(CONFIG, "{}"))
        return Options(device, payload, config | found)

    def specs(self) -> list[CompileSpec]:
        """What the file says: the runtime half knows no `config`."""
        kept = {DEVICE: self.device}
        if self.payload != "auto":
            kept[PAYLOAD] = self.payload
        kept.update(self.properties)
        return [CompileSpec(key, value.encode()) for key, value in kept.items()]

    def compile_properties(self) -> dict[str, str]:
        """Computing is as precise as the model unless something else is asked for."""
        given = dict(self.properties)
        if not _PRECISION.intersection(given) and self.device != "NPU":
            given["EXECUTION_MODE_HINT"] = "ACCURACY"
        if self.device == "CPU" and products_saturate():
            given["LP_TRANSFORMS_MODE"] = "NO"
        return given


@cache
def products_saturate() -> bool:
    """Whether this processor's 8-bit products, two of which are added, saturate at 16 bits: x86 without VNNI. OpenVINO
    uses them all the same, and is off by a third; without its low precision transformations it computes in floats."""
    try:
        flags = CPUINFO.read_text().split()
    except OSError:
        return False
    return "avx2" in flags and not {"avx512_vnni", "avx_vnni"}.intersection(flags)


def _text(spec: CompileSpec) -> str:
    try:
        return bytes(spec.value).rstrip(b"\0").decode()
    except UnicodeDecodeError:
        raise wrong(f"compile spec {spec.key}: expected text, found {spec.value!r}") from None


def _config(text: str) -> dict[str, str]:
    try:
        config = json.loads(text)
    except ValueError:
        config = None
    if not isinstance(config, dict):
        raise wrong(f"compile spec config: expected a JSON object of properties, found {text!r}")
    return {str(key): _value(value) for key, value in config.items()}


def _value(value: object) -> str:
    """As OpenVINO reads it."""
    return ("YES" if value else "NO") if isinstance(value, bool) else str(value)
