# SPDX-License-Identifier: BSD-3-Clause
"""What the compile specs of a program say: texts, each of which is always there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import check_keys

FORMAT = "tflite"


@dataclass(frozen=True)
class NeutronOptions:
    """`compile_flags` are kept, and nobody reads them. `operators_not_to_delegate`: parts of names such as
    aten_convolution."""

    target: str = "imxrt700"
    compile_flags: str = ""
    intermediates_dir: Path | None = None
    operators_not_to_delegate: tuple[str, ...] = ()
    use_neutron_for_format_conversion: bool = True
    fetch_constants_to_sram: bool = False
    dump_kernel_selection_code: bool = False
    use_profiling: bool = False

    def specs(self) -> list[CompileSpec]:
        """In this order."""
        names = ",".join(each.replace("::", "_") for each in self.operators_not_to_delegate)
        texts = (FORMAT, self.compile_flags, self.target, str(self.intermediates_dir), names)
        flags = (str(getattr(self, name)) for name in _FLAGS)
        return [
            CompileSpec(key, text.encode())
            for key, text in zip(_KEYS, (*texts, *flags), strict=True)
        ]


_FLAGS = (
    "use_neutron_for_format_conversion",
    "fetch_constants_to_sram",
    "dump_kernel_selection_code",
    "use_profiling",
)
_TEXTS = (
    "output_format",
    "compile_flags",
    "target",
    "intermediates_dir",
    "operators_not_to_delegate",
)
_KEYS = (*_TEXTS, *_FLAGS)


def options_in(specs: Sequence[CompileSpec]) -> NeutronOptions:
    """RuntimeError without a known output format, ValueError for intermediates that are to go into no folder,
    OptionError for another key."""
    texts = {spec.key: bytes(spec.value).decode() for spec in specs}
    check_keys("NeutronBackend", specs, _KEYS)
    if not texts.get("output_format"):
        raise RuntimeError("output format is required")
    if texts["output_format"] != FORMAT:
        raise RuntimeError(f"Unknown format {texts['output_format']}")
    given = texts.get("intermediates_dir", "None")
    folder = None if given in ("", "None") else Path(given)
    if folder is not None and not folder.is_dir():
        raise ValueError("intermediates_dir is not a directory path.")
    flags = {name: texts[name] == "True" for name in _FLAGS if name in texts}
    return NeutronOptions(
        texts.get("target", NeutronOptions.target),
        texts.get("compile_flags", ""),
        folder,
        tuple(filter(None, texts.get("operators_not_to_delegate", "").split(","))),
        **flags,
    )
