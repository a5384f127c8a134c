# SPDX-License-Identifier: BSD-3-Clause
"""A model as a program for one of Arm's targets.

python -m executorch.backends.arm.scripts.aot_arm_compiler --model_name=add --delegate --quantize"""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.scripts import models
from executorch.backends.arm.scripts.targets import TARGETS, Options, Target, target_of
from executorch.exir import (
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

_ALWAYS = ("--verbose-operators", "--verbose-cycle-estimate")  # what Vela is told
_DIRECT_DRIVE = ("--separate-io-regions", "--cop-format=COP2")
_NO_EFFECT = {
    "enable_qdq_fusion_pass": "--enable_qdq_fusion_pass",
    "evaluate": "--evaluate",
    "c": "-c",
}

Arguments = argparse.Namespace


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("-m", "--model_name", required=True, help="an example's name, a .py, .pt or .pth file")
    add("--model_input", help="a .pt file with the inputs, needed for a .pt or .pth model")
    add("-t", "--target", default="ethos-u55-128", choices=TARGETS, metavar="TARGET",
        help=f"one of {', '.join(TARGETS)}")  # fmt: skip
    add("-d", "--delegate", action="store_true", help="lower to the target what it takes")
    add("-q", "--quantize", action="store_true", help="8 bits; 16 of activations for int16 targets")
    add("--calibration_data", help="inputs to calibrate with: a .pt file or a folder of them")
    add("--bundleio", action="store_true", help="a .bpte with the inputs and what is expected")
    add("--etrecord", action="store_true", help="also write the record for the developer tools")
    add("-o", "--output", help="a .pte or .bpte file, or a folder")
    add("-i", "--intermediates", help="a folder for TOSA, Vela's files, and what was delegated")
    add("--system_config", help="of Vela's configuration file")
    add("--memory_mode", help="of Vela's configuration file")
    add("--config", default="Arm/vela.ini", help="Vela's configuration file")
    add("--enable_debug_mode", choices=("json", "tosa"), help="origins of operators, needs -i")
    add("--direct_drive", action="store_true", help="for the driver of Linux on Cortex-A")
    add("-s", "--so_library", action="append", default=[], help="custom operators to load")
    add("--non_strict_export", action="store_true")
    add("--debug", action="store_true", help="log more")
    for name in ("--enable_qdq_fusion_pass", "-c"):
        add(name, action="store_true", help=argparse.SUPPRESS)
    add("-e", "--evaluate", nargs="?", const="", help=argparse.SUPPRESS)
    return made


def target(args: Arguments) -> Target:
    flags = list(_ALWAYS)
    if args.intermediates:
        flags.append("--enable-debug-db")
    if args.direct_drive:
        flags += _DIRECT_DRIVE
    options = Options(args.system_config, args.memory_mode, args.config, flags)
    made = target_of(args.target, args.quantize, options)
    if made.spec is not None and args.intermediates:
        made.spec.dump_intermediate_artifacts_to(args.intermediates)
        if args.enable_debug_mode:
            made.spec.dump_debug_info(ArmCompileSpec.DebugMode[args.enable_debug_mode.upper()])
    return made


def quantized(
    program: ExportedProgram, quantizer: Any, samples: Iterable[models.Inputs]
) -> torch.nn.Module:
    prepared = prepare_pt2e(program.module(check_guards=False), quantizer)
    with torch.no_grad():
        for each in samples:
            prepared(*each)
    return convert_pt2e(prepared)


def exported(args: Arguments, model: models.Model, chosen: Target) -> tuple[Any, ExportedProgram]:
    """What the program computes, for comparison; and the program."""
    is_strict = not args.non_strict_export
    program = torch.export.export(model.module, model.inputs, strict=is_strict)
    if not args.quantize:
        return model.module, program
    samples = models.samples(args.calibration_data) if args.calibration_data else [model.inputs]
    module = quantized(program, chosen.quantizer(), samples)
    return module, torch.export.export(module, model.inputs, strict=is_strict)


def summary(edge: EdgeProgramManager) -> list[str]:
    """What was delegated, as lines."""
    module = edge.exported_program().graph_module
    delegates = len(get_lowered_backend_modules(module))
    calls = (node for node in module.graph.nodes if node.op == "call_function")
    names = Counter(op_name(node) for node in calls)
    left = {name: count for name, count in names.items() if name and _computes(name)}
    how = "not" if not delegates else "partially" if left else "fully"
    return [
        "Delegation summary:",
        f"Model was {how} delegated.",
        f"Delegated partitions for silicon acceleration: {delegates}",
        f"Non-delegated ops: {sum(left.values())}",
        *(f"  {name}: {count}" for name, count in sorted(left.items())),
    ]


def _computes(name: str) -> bool:
    copies = ("getitem", "executorch_call_delegate", "quantize_per_tensor", "dequantize_per_tensor")
    return not any(each in name for each in copies)


def _undelegated(program: ExportedProgram, record: bool) -> EdgeProgramManager:
    return to_edge_transform_and_lower(program, generate_etrecord=record)


def output_path(args: Arguments) -> Path:
    ending = ".bpte" if args.bundleio else ".pte"
    kind = "arm_delegate" if args.delegate else "arm"
    name = f"{Path(args.model_name).stem}_{kind}_{args.target}{ending}"
    if not args.output:
        return Path(name)
    given = Path(args.output)
    if given.suffix in (".pte", ".bpte"):
        return given.with_suffix(ending)
    return given / name


def save(
    args: Arguments, program: ExecutorchProgramManager, module: Any, inputs: models.Inputs
) -> None:
    path = output_path(args)
    path.parent.mkdir(parents=True, exist_ok=True)
    if args.bundleio:
        from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
        from executorch.devtools.bundled_program.serialize import write_bundled_program

        with torch.no_grad():
            case = MethodTestCase(inputs, module(*inputs))
        write_bundled_program(program, [MethodTestSuite("forward", [case])], path)
        print(f"Bundle PTE file saved as {path}")
    else:
        with path.open("wb") as file:
            program.write_to_file(file)
        print(f"PTE file saved as {path}")
    if args.etrecord:
        record = path.with_name(f"{path.stem}_etrecord.bin")
        program.get_etrecord().save(str(record))
        print(f"ETRecord saved as {record}")


def keep(args: Arguments, program: ExportedProgram, lines: list[str]) -> None:
    folder = Path(args.intermediates)
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, folder / f"{Path(args.model_name).stem}_exported_program.pt2")
    (folder / "delegation_info.txt").write_text("\n".join(lines) + "\n")


def compile_model(args: Arguments) -> None:
    for library in args.so_library:
        torch.ops.load_library(library)
    model = models.load(args.model_name, args.model_input)
    chosen = target(args)
    module, program = exported(args, model, chosen)
    lower = chosen.lower if args.delegate else _undelegated
    edge = lower(program, args.etrecord)
    lines = summary(edge)
    print("\n".join(lines))
    if args.intermediates:
        keep(args, program, lines)
    config = ExecutorchBackendConfig(extract_delegate_segments=False)
    save(args, edge.to_executorch(config), module, model.inputs)


def main(argv: list[str] | None = None) -> int:
    made = parser()
    args = made.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.debug else logging.WARNING)
    for name, flag in _NO_EFFECT.items():
        if getattr(args, name) not in (None, False):
            logging.warning("%s has no effect any more", flag)
    if args.calibration_data and not args.quantize:
        raise RuntimeError("--calibration_data needs --quantize")
    if args.enable_debug_mode and not args.intermediates:
        made.error("--enable_debug_mode needs --intermediates")
    try:
        compile_model(args)
    except ValueError as error:
        made.exit(1, f"error: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
