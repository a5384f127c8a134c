# SPDX-License-Identifier: BSD-3-Clause
"""From programs to payloads: TFLite, the converter, the header. Without the SDK models are left in a folder, and an
error says which."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from torch.export import ExportedProgram

from executorch.backends.nxp.aot.lowering import Lowered, lowered
from executorch.backends.nxp.aot.options import NeutronOptions, options_in
from executorch.backends.nxp.aot.payload import PayloadComposer
from executorch.backends.nxp.backend import neutron_converter_manager as door
from executorch.exir.backend._partitions import TAG
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    MissingCompiler,
    Options,
    options_of,
    specs_of,
)
from executorch.exir.error import ExportErrorType

_UNTAGGED = "tag0"


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
        _tag(program),
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
    why_missing, tags = COMPILER.why_missing(), _tags(programs)
    places = [each.intermediates_dir for each in chosen]
    if why_missing and None in places:
        folder = Path(tempfile.mkdtemp(prefix="executorch-neutron-"))
        places = [each or folder for each in places]
    for each, place, tag in zip(made, places, tags, strict=True):
        _keep(place, f"{tag}_pure", each.tflite)
    if why_missing and places:
        raise MissingCompiler(
            ExportErrorType.MISSING_PROPERTY,
            f"{why_missing}. The TFLite models that it is to convert are in {', '.join(sorted({*map(str, places)}))}",
        )
    return [_payload(*each) for each in zip(programs, specs, made, chosen, tags, strict=True)]


def _payload(
    program: ExportedProgram,
    specs: Sequence[CompileSpec],
    made: Lowered,
    options: NeutronOptions,
    tag: str,
) -> PreprocessResult:
    model = COMPILER.payload(program, options_of(specs))
    _keep(options.intermediates_dir, f"{tag}_neutron", model)
    return made.writer.result(PayloadComposer().get_binary_payload(made.formats, model))


def _lowered(program: ExportedProgram, options: NeutronOptions) -> Lowered:
    return lowered(program, options.target, not options.use_neutron_for_format_conversion)


def _keep(folder: Path | None, name: str, model: bytes) -> None:
    if folder is not None:
        (folder / f"{name}.et.tflite").write_bytes(model)


def _tag(program: ExportedProgram) -> str:
    found = (node.meta.get(TAG) for node in program.graph.nodes)
    return next(filter(None, found), _UNTAGGED)


def _tags(programs: Sequence[ExportedProgram]) -> list[str]:
    """With a number where several methods have the same."""
    tags: list[str] = []
    for tag in map(_tag, programs):
        count = sum(each.partition(".")[0] == tag for each in tags)
        tags.append(f"{tag}.{count}" if count else tag)
    return tags
