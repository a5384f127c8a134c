# SPDX-License-Identifier: BSD-3-Clause
"""Compile specs: one, a flatbuffer, that says the chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import check_keys
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).with_name("compile_options.fbs"))
ENN_COMPILE_OPTION_TITLE = "enn_compile_options"
COMPILE_OPTION_SCHEMA_NAME = "compile_options_def"


class SamsungChipset(IntEnum):
    UNDEFINED_CHIP_V = 0
    E9955 = 9955  # Exynos 2500
    E9965 = 9965  # Exynos 2600


@dataclass(frozen=True)
class EnnExecuTorchOptions:
    chipset: SamsungChipset = SamsungChipset.E9955


def gen_samsung_backend_compile_spec_core(options: EnnExecuTorchOptions) -> CompileSpec:
    packed = SCHEMA.pack(SCHEMA.make("EnnExecuTorchOptions", chipset=int(options.chipset)))
    return CompileSpec(ENN_COMPILE_OPTION_TITLE, packed)


def gen_samsung_backend_compile_spec(chipset: str) -> CompileSpec:
    """`chipset`: such as E9955, in any case. ValueError for another."""
    known = {each.name: each for each in SamsungChipset if each}
    found = known.get(chipset.upper())
    if found is None:
        raise ValueError(f"expected a chipset, one of {', '.join(known)}, found {chipset!r}")
    return gen_samsung_backend_compile_spec_core(EnnExecuTorchOptions(found))


def options_in(specs: Sequence[CompileSpec]) -> EnnExecuTorchOptions:
    """ValueError for specs that do not say a chip that is known, OptionError for others beside."""
    found = [spec for spec in specs if spec.key == ENN_COMPILE_OPTION_TITLE]
    if len(found) != 1:
        keys = ", ".join(spec.key for spec in specs) or "none"
        raise ValueError(f"expected one compile spec {ENN_COMPILE_OPTION_TITLE}, found {keys}")
    check_keys("EnnBackend", specs, [ENN_COMPILE_OPTION_TITLE])
    chipset = SCHEMA.unpack(bytes(found[0].value)).chipset or 0
    if chipset not in list(SamsungChipset)[1:]:
        known = ", ".join(f"{each.value} ({each.name})" for each in SamsungChipset if each)
        raise ValueError(f"expected a chipset, one of {known}, found {chipset}")
    return EnnExecuTorchOptions(SamsungChipset(chipset))
