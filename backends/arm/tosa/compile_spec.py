# SPDX-License-Identifier: BSD-3-Clause
"""`TosaCompileSpec`: a TOSA file and nothing behind it."""

from __future__ import annotations

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.tosa.specification import TosaSpecification


class TosaCompileSpec(ArmCompileSpec):
    def __init__(self, tosa_spec: TosaSpecification | str) -> None:
        if isinstance(tosa_spec, str):
            tosa_spec = TosaSpecification.create_from_string(tosa_spec)
        self._set_compile_specs(tosa_spec)

    @classmethod
    def _get_output_format(cls) -> str:
        return "tosa"

    def _validate(self) -> None:
        if self.compiler_flags:
            raise ValueError(
                f"TosaCompileSpec can't have compiler flags, found {self.compiler_flags}"
            )
