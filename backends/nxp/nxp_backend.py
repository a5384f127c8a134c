# SPDX-License-Identifier: BSD-3-Clause
"""`NeutronBackend`, the ahead-of-time half: TFLite, then NXP's converter. The class's name is the backend's id."""

from __future__ import annotations

from pathlib import Path

import torch
from typing_extensions import Self

from executorch.backends.nxp.aot.compiler import payloads
from executorch.backends.nxp.aot.options import NeutronOptions
from executorch.backends.nxp.aot.payload import PayloadComposer
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.preprocess import CompiledTogether

__all__ = [
    "NeutronBackend",
    "NeutronCompileSpecBuilder",
    "PayloadComposer",
    "core_aten_ops_exception_list",
    "generate_neutron_compile_spec",
]

core_aten_ops_exception_list = [torch.ops.aten.prelu.default]


class NeutronCompileSpecBuilder:
    def __init__(self) -> None:
        self._options: NeutronOptions | None = None

    def neutron_compile_spec(
        self,
        config: str,
        intermediates_dir: str | None = None,
        extra_flags: str | None = None,
        operators_not_to_delegate: list[str] | None = None,
        use_neutron_for_format_conversion: bool = True,
        fetch_constants_to_sram: bool = False,
        dump_kernel_selection_code: bool = False,
        use_profiling: bool = False,
    ) -> Self:
        """`config`: the NPU, such as imxrt700. Once for each builder."""
        if self._options is not None:
            raise AssertionError("Output format already set")
        flags = extra_flags if isinstance(extra_flags, str) else " ".join(extra_flags or ())
        self._options = NeutronOptions(
            config,
            flags,
            None if intermediates_dir is None else Path(intermediates_dir),
            tuple(operators_not_to_delegate or ()),
            use_neutron_for_format_conversion,
            fetch_constants_to_sram,
            dump_kernel_selection_code,
            use_profiling,
        )
        return self

    def build(self) -> list[CompileSpec]:
        if self._options is None:
            raise RuntimeError("output format is required: call neutron_compile_spec() before")
        return self._options.specs()


def generate_neutron_compile_spec(
    config: str,
    system_config: str | None = None,
    extra_flags: str | None = None,
    intermediates_dir: str | None = None,
    operators_not_to_delegate: list[str] | None = None,
    use_neutron_for_format_conversion: bool = True,
    fetch_constants_to_sram: bool = False,
    dump_kernel_selection_code: bool = False,
    use_profiling: bool = False,
    neutron_converter_flavor: str | None = None,
) -> list[CompileSpec]:
    """`intermediates_dir`: where TFLite models are kept, before and behind the converter. `extra_flags` are kept in the
    program and not used; `system_config` and `neutron_converter_flavor`, of older SDKs, are of no consequence."""
    builder = NeutronCompileSpecBuilder().neutron_compile_spec(
        config,
        intermediates_dir,
        extra_flags,
        operators_not_to_delegate,
        use_neutron_for_format_conversion,
        fetch_constants_to_sram,
        dump_kernel_selection_code,
        use_profiling,
    )
    return builder.build()


class NeutronBackend(CompiledTogether):
    """Takes the programs that NeutronPartitioner cuts out."""

    payloads = staticmethod(payloads)
