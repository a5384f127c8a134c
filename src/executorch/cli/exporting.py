# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch export` does: finds the model, runs a recipe, writes the file, compares it with the model."""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.backends.discovery import backends
from executorch.cli import plugins
from executorch.devtools.commands import given, python_model
from executorch.devtools.commands.check import missing_here
from executorch.devtools.commands.program_file import ProgramFile, plan_of
from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL, make_example
from executorch.examples.models.comparison import largest_error
from executorch.examples.models.model_factory import EagerModelFactory
from executorch.export import (
    ExportRecipe,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
    export,
)
from executorch.runtime import Runtime

# ||program - model|| / ||model|| of the worst output that is no error of rounding.
LARGEST_ERROR = {"": 1e-3, "int8": 0.5, "int8-dynamic": 0.2, "int4-weights": 0.5}
OF_FEW_BITS = 0.5  # of other kinds of quantization


def recipe_types() -> list[type[RecipeType]]:
    """Those of the backends that are here with all that they need."""
    offered = [each for each in backends().values() if each.recipes and not each.why_absent()]
    return [each.load(each.recipes) for each in offered]


@dataclass(frozen=True)
class Source:
    """`model` with the inputs of an example call; an ExportedProgram has its dynamic shapes inside."""

    name: str
    model: torch.nn.Module | ExportedProgram
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None

    @property
    def module(self) -> torch.nn.Module:
        return self.model.module() if isinstance(self.model, ExportedProgram) else self.model


def listing() -> str:
    recipes = [str(recipe.value) for kind in recipe_types() for recipe in kind]
    models = sorted({*EXAMPLES, *MODEL_NAME_TO_MODEL})
    return f"example models: {', '.join(models)}\nrecipes: {', '.join(recipes)}"


def source(spec: str) -> Source:
    """ValueError for what is no model."""
    if spec.endswith(".pt2"):
        program = given.exported_program(Path(spec))
        if program.example_inputs is None:
            raise ValueError(
                f"{spec}: expected example inputs in the file, found none: export it anew"
            )
        return Source(Path(spec).stem, program, program.example_inputs[0])
    if python_model.is_python(spec):
        made = python_model.load(spec)
        return Source(spec.rpartition(":")[2], made.module, made.inputs, made.dynamic_shapes)
    if spec in EXAMPLES or spec in MODEL_NAME_TO_MODEL:
        return _example(spec)
    if spec.endswith(".gguf") or Path(spec).is_dir():
        raise ValueError(
            f"{spec} is a language model: `executorch chat {spec}` exports it and talks to it; to export it alone: "
            f"`python -m executorch.extension.llm.export.export_llm base.checkpoint={spec}` (--help has the options)"
        )
    near = difflib.get_close_matches(spec, {*EXAMPLES, *MODEL_NAME_TO_MODEL}, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(
        f"expected a .pt2 file, file.py:name, or an example model, found {spec!r}{hint} "
        "(`executorch export --list` prints the example models)"
    )


def _example(name: str) -> Source:
    if name in EXAMPLES:
        methods = make_example(name).methods
        if "forward" not in methods:
            raise ValueError(f"{name}: expected a method forward, found {', '.join(methods)}")
        method = methods["forward"]
        return Source(name, method.module, method.inputs, method.dynamic_shapes)
    module, inputs, keywords, shapes = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL[name])
    if keywords:
        raise ValueError(
            f"{name}: expected inputs by place, found {', '.join(keywords)} by keyword"
        )
    return Source(name, module.eval(), inputs, shapes)


def recipe(options: argparse.Namespace) -> ExportRecipe:
    known = {str(each.value): each for kind in recipe_types() for each in kind}
    if options.recipe:
        if options.recipe not in known:
            raise ValueError(
                f"--recipe: expected one of {', '.join(known)}, found {options.recipe}"
            )
        return ExportRecipe.get_recipe(known[options.recipe])
    if options.backend == plugins.NO_BACKEND:
        if options.quantize:
            raise ValueError(
                "--quantize: expected a backend that computes in few bits, found --backend none"
            )
        return ExportRecipe()
    backend = backends().get(options.backend)
    if options.quantize and (backend is None or options.quantize not in backend.quantizations()):
        able = [n for n, each in backends().items() if options.quantize in each.quantizations()]
        raise ValueError(
            f"--quantize: expected --backend {' or '.join(able)}, found {options.backend}: quantize the model with the "
            "backend's own quantizer, and export that"
        )
    if backend is None:
        return _plain(options.backend, partitioners=[plugins.partitioner(options.backend)])
    name = backend.recipe_of.get(options.quantize or "")
    if name is not None:
        return ExportRecipe.get_recipe(backend.load(backend.recipes)[name])
    quantizers = [backend.load(backend.quantizer)()] if options.quantize else None
    return _plain(backend.name, quantizers, **backend.lowering())


def _plain(name: str, quantizers: list[Any] | None = None, **lowering: Any) -> ExportRecipe:
    quantization = QuantizationRecipe(quantizers) if quantizers else None
    return ExportRecipe(name, quantization, lowering_recipe=LoweringRecipe(**lowering))


def calibration(options: argparse.Namespace, found: Source) -> list[tuple[Any, ...]]:
    """The calls that ranges are taken of; the first is the one that is exported."""
    if options.calibrate is None:
        return [found.inputs]
    calls = torch.load(options.calibrate, weights_only=True)
    if not isinstance(calls, list) or not all(isinstance(call, tuple) for call in calls):
        raise ValueError(
            f"{options.calibrate}: expected a list of tuples of inputs (torch.save), found {type(calls).__name__}"
        )
    return [found.inputs, *calls]


def export_model(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    status = Status()
    status(f"reading {options.model}")
    found = source(options.model)
    target = options.output or Path(f"{found.name}.pte")
    chosen = recipe(options)
    if options.strict is not None:
        chosen = replace(chosen, strict=options.strict)
    status("exporting")
    session = export(
        found.model if not options.quantize else found.module,
        calibration(options, found),
        chosen,
        dynamic_shapes=found.dynamic_shapes,
        generate_etrecord=options.etrecord is not None,
    )
    session.save_to_pte(str(target))
    if options.etrecord is not None:
        session.get_etrecord().save(options.etrecord)
    seconds = time.perf_counter() - started
    status("")
    print(f"wrote {target}: {target.stat().st_size:,} bytes in {seconds:.1f} s")
    if reason := why_all_on_kernels(options, target):
        print(reason, file=sys.stderr)
    return compare(found, target, options.quantize or "") if options.check else 0


def why_all_on_kernels(options: argparse.Namespace, target: Path) -> str:
    """What to say where a backend that is kernels has none of a program's calls; a partitioner says it itself."""
    backend = backends().get(options.backend) if not options.recipe else None
    if backend is None or not backend.passes:
        return ""
    calls = sorted({call.name for call in ProgramFile(target).calls})
    if any(name.startswith(f"{backend.name}::") for name in calls):
        return ""
    said = f"{backend.name} has no operator for what the program calls: {', '.join(calls)}"
    ways = [] if options.quantize else backend.quantizations()
    return f"{said}; try --quantize {' or '.join(ways)}" if ways else said


class Status:
    """The step that runs, on one line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def __call__(self, step: str) -> None:
        if self._is_shown:
            print(f"\r\x1b[K{step}{' ...' if step else ''}", end="", file=sys.stderr, flush=True)


def compare(found: Source, target: Path, quantization: str) -> int:
    """Prints how far the program is from the model, on the example inputs; 1 when that is no rounding. A program for
    what this package's runtime does not have is not compared."""
    if lacking := missing_here(target):
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        print(f"not compared: the runtime of this package does not have {lacking[0]}{more}")
        return 0
    expected = given.expected_outputs(found.module, found.inputs, plan_of(target))
    method = Runtime.get().load_program(target).load_method("forward")
    inputs = pytree.tree_leaves(given.copies(found.inputs))
    start = time.perf_counter()
    outputs = method.execute(inputs)
    taken = (time.perf_counter() - start) * 1e3
    error, limit = largest_error(outputs, expected), LARGEST_ERROR.get(quantization, OF_FEW_BITS)
    beside = "beside the model in PyTorch" + (", on the example inputs" if quantization else "")
    print(f"differs by {error:.1e} {beside}; the first run took {taken:.1f} ms")
    if error <= limit:
        return 0
    print(
        f"expected {limit:g} at most: export with --etrecord RECORD, and `executorch bisect RECORD {target}` names the "
        "cause",
        file=sys.stderr,
    )
    return 1
