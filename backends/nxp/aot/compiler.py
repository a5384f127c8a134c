# SPDX-License-Identifier: BSD-3-Clause
"""From programs to payloads: TFLite, the converter, the header. Without the SDK models are left in a folder, and an
error says which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch.export import ExportedProgram

from executorch.backends.nxp.aot.lowering import Lowered, lowered
from executorch.backends.nxp.aot.options import NeutronOptions, options_in
from executorch.backends.nxp.aot.payload import PayloadComposer
from executorch.backends.nxp.backend import neutron_converter_manager as door
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    Options,
    options_of,
    specs_of,
)
from executorch.exir.backend.lowering.external.intermediates import (
    Intermediate,
    keep,
    tag_of,
    tags_of,
)


def _compile(program: ExportedProgram, options: Options, place: Path | None) -> bytes:
    """The converter's model."""
    chosen = options_in(specs_of(options))
    made = _lowered(program, chosen)
    if place:
        (place / "pure.et.tflite").write_bytes(made.tflite)
    manager = door.NeutronConverterManager(chosen.dump_kernel_selection_code)
    model = manager.convert(
        made.tflite,
        chosen.target,
        tag_of(program),
        chosen.fetch_constants_to_sram,
        chosen.use_profiling,
    )
    PayloadComposer().get_binary_payload(made.formats, model)
    return model


COMPILER = ExternalCompiler(
    "eIQ Neutron converter",
    door.DISTRIBUTION,
    door.VERSIONS,
    "nxp",
    _compile,
    module=door.SDK,
    get=door.GET_SDK,
)


def payloads(
    programs: Sequence[ExportedProgram], specs: Sequence[Sequence[CompileSpec]]
) -> list[PreprocessResult]:
    """MissingCompiler, behind the models of all, without the SDK."""
    chosen = [options_in(each) for each in specs]
    made = [_lowered(program, each) for program, each in zip(programs, chosen, strict=True)]
    tags = tags_of(programs)
    models = [
        Intermediate(f"{tag}_pure.et.tflite", each.tflite, options.intermediates_dir)
        for each, options, tag in zip(made, chosen, tags, strict=True)
    ]
    keep(models, "TFLite models", COMPILER.why_missing())
    return [_payload(*each) for each in zip(programs, specs, made, chosen, tags, strict=True)]


def _payload(
    program: ExportedProgram,
    specs: Sequence[CompileSpec],
    made: Lowered,
    options: NeutronOptions,
    tag: str,
) -> PreprocessResult:
    model = COMPILER.payload(program, options_of(specs))
    file = Intermediate(f"{tag}_neutron.et.tflite", model, options.intermediates_dir)
    keep([file], "TFLite models")
    return made.writer.result(PayloadComposer().get_binary_payload(made.formats, model))


def _lowered(program: ExportedProgram, options: NeutronOptions) -> Lowered:
    return lowered(program, options.target, not options.use_neutron_for_format_conversion)
