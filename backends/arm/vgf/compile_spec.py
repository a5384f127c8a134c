# SPDX-License-Identifier: BSD-3-Clause
"""`VgfCompileSpec`: a VGF file, which Vulkan's ML extensions run."""

from __future__ import annotations

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.tosa.specification import TosaSpecification

DEFAULT = "TOSA-1.0+FP+INT+int4+int16"


class VgfCompileSpec(ArmCompileSpec):
    def __init__(
        self,
        tosa_spec: TosaSpecification | str | None = None,
        compiler_flags: list[str] | None = None,
    ) -> None:
        if tosa_spec is None or isinstance(tosa_spec, str):
            tosa_spec = TosaSpecification.create_from_string(tosa_spec or DEFAULT)
        self._set_compile_specs(tosa_spec, compiler_flags or (), tosa_dev_mode=True)

    @classmethod
    def _get_output_format(cls) -> str:
        return "vgf"

    def _validate(self) -> None:
        if self.tosa_spec.version.major != 1:
            raise ValueError(f"VGF needs TOSA 1, found {self.tosa_spec}")
