# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch export` does: finds the model, runs a recipe, writes the file, compares it with the model."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.discovery import backends
from executorch.cli import automatic, plugins
from executorch.cli.evaluating import reading_of
from executorch.cli.sources import Source, source
from executorch.cli.steps import processing_of
from executorch.devtools.accuracy.readers import read
from executorch.devtools.accuracy.whole import Whole
from executorch.devtools.commands import given
from executorch.devtools.commands.check import missing_here
from executorch.devtools.commands.program_file import ProgramFile, plan_of
from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL
from executorch.examples.models.comparison import largest_error
from executorch.exir.backend.lowering.manifest import AUTO, INT8
from executorch.exir.capture.diagnostics import NotExportable
from executorch.exir.error import ExportError
from executorch.export import (
    Arguments,
    ExportRecipe,
    ExportSession,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
    export,
)
from executorch.runtime import Runtime

# ||program - model|| / ||model|| of the worst output that is no error of rounding.
LARGEST_ERROR = {"": 1e-3, "int8": 0.5, "int8-dynamic": 0.2, "int4-weights": 0.5}
OF_FEW_BITS = 0.5  # of other kinds of quantization
WAYS = {True: "by Python's bytecode (--strict)", False: "by running Python once (--no-strict)"}


def recipe_types() -> list[type[RecipeType]]:
    """Those of the backends that are here with all that they need."""
    offered = [each for each in backends().values() if each.recipes and not each.why_absent()]
    return [each.load(each.recipes) for each in offered]


def listing() -> str:
    recipes = [str(recipe.value) for kind in recipe_types() for recipe in kind]
    models = sorted({*EXAMPLES, *MODEL_NAME_TO_MODEL})
    return f"example models: {', '.join(models)}\nrecipes: {', '.join(recipes)}"


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
    quantizers = [backend.named(backend.quantizer)()] if options.quantize else None
    return _plain(backend.name, quantizers, **backend.lowering(options.soc))


def _plain(name: str, quantizers: list[Any] | None = None, **lowering: Any) -> ExportRecipe:
    quantization = QuantizationRecipe(quantizers) if quantizers else None
    return ExportRecipe(name, quantization, lowering_recipe=LoweringRecipe(**lowering))


def calibration(options: argparse.Namespace, found: Source) -> dict[str, list[tuple[Any, ...]]]:
    """By method, the calls that ranges are taken of; the first is the one that is exported."""
    calls: dict[str, list[tuple[Any, ...]]] = {
        method: [Arguments(each.inputs, each.keywords)] for method, each in found.methods.items()
    }
    if options.calibrate is None:
        return calls
    if options.calibrate.is_dir() or options.calibrate.suffix == ".npz":
        if len(calls) > 1:
            raise ValueError(
                f"{options.calibrate}: expected a model of one method, or a file of torch.save, found "
                f"{', '.join(calls)}"
            )
        ((method, model),) = found.methods.items()
        whole = Whole.of(model, processing_of(options))
        data = read(options.calibrate, whole.slots, reading_of(options, whole.carried))
        calls[method] += [Arguments(*whole.call(sample.inputs)) for sample in data]
        return calls
    saved = torch.load(options.calibrate, weights_only=True)
    by_method = saved if isinstance(saved, dict) else dict.fromkeys(calls, saved)
    for method, more in by_method.items():
        if not isinstance(more, list) or not all(isinstance(call, tuple) for call in more):
            raise ValueError(
                f"{options.calibrate}: expected a list of tuples of inputs (torch.save), found {type(more).__name__}"
            )
        if method not in calls:
            raise ValueError(
                f"{options.calibrate}: expected inputs of {', '.join(calls)}, found some of {method}"
            )
        calls[method] += more
    return calls


def automatic_recipe(options: argparse.Namespace) -> ExportRecipe:
    """Of what is quantized already."""
    return replace(
        recipe(argparse.Namespace(**vars(options) | {"quantize": INT8})), quantization_recipe=None
    )


def export_automatic(options: argparse.Namespace) -> int:
    """Exit status 1 where the program loses more than was asked."""
    started = time.perf_counter()
    made = automatic_program(options)
    seconds = time.perf_counter() - started
    print(f"wrote {made.target}: {made.target.stat().st_size:,} bytes in {seconds:.1f} s")
    print(made.line)
    print(f"why, by layer: {made.target.with_suffix('.accuracy.md')}")
    return 0 if made.holds else 1


def automatic_program(options: argparse.Namespace) -> automatic.Made:
    """Writes the program, and its report beside it."""
    status = Status()
    found = source(options.model)
    target = options.output or Path(f"{found.name}.pte")
    chosen = automatic_recipe(options)
    made = automatic.search(options, found.to_be_quantized(), backends()[options.backend])
    status("exporting")
    session = export(
        made.source,
        {made.method: [Arguments(made.model.inputs, made.model.keywords)]},
        chosen,
        dynamic_shapes={made.method: made.model.dynamic_shapes},
        generate_etrecord=options.etrecord is not None,
        processing=processing_of(options),
    )
    session.save_to_pte(str(target))
    if options.etrecord is not None:
        session.get_etrecord().save(options.etrecord)
    status("")
    return automatic.report(made, target, options.check and not missing_here(target))


def export_model(options: argparse.Namespace) -> int:
    if options.quantize == AUTO:
        return export_automatic(options)
    started = time.perf_counter()
    status = Status()
    status(f"reading {options.model}")
    found = _source(options)
    target = options.output or Path(f"{found.name}.pte")
    status("exporting")
    if options.graph is not None:
        return write_graphs(options, found)
    session = exported(options, found)
    session.save_to_pte(str(target))
    if options.etrecord is not None:
        session.get_etrecord().save(options.etrecord)
    seconds = time.perf_counter() - started
    status("")
    print(f"wrote {target}: {target.stat().st_size:,} bytes in {seconds:.1f} s")
    if reason := why_all_on_kernels(options, target):
        print(reason, file=sys.stderr)
    if not options.check:
        return 0
    wholes = {name: Whole.of(each, processing_of(options)) for name, each in found.methods.items()}
    return compare(wholes, target, options.quantize or "")


def _source(options: argparse.Namespace) -> Source:
    """Modules where more is done to them than to capture them."""
    found = source(options.model)
    return found.to_be_quantized() if options.quantize or processing_of(options) else found


def write_graphs(options: argparse.Namespace, found: Source) -> int:
    manifest = backends()[options.backend]
    with manifest.named(manifest.graphs)(options.graph):
        exported(options, found)
    Status()("")
    print(f"wrote {options.graph}: {len(options.graph.read_text().splitlines())} lines")
    return 0


def exported(options: argparse.Namespace, found: Source) -> ExportSession:
    """Where nobody says how to trace, both ways are tried; what neither takes is told of the first."""
    chosen, calls = recipe(options), calibration(options, found)
    shapes = {method: each.dynamic_shapes for method, each in found.methods.items()}

    def run(strict: bool) -> ExportSession:
        return export(
            {method: each.module for method, each in found.methods.items()},
            calls,
            replace(chosen, strict=strict),
            dynamic_shapes=shapes,
            generate_etrecord=options.etrecord is not None,
            processing=processing_of(options),
        )

    if options.strict is not None:
        return run(options.strict)
    try:
        return run(chosen.strict)
    except NotExportable as problem:
        try:
            session = run(not chosen.strict)
        except ExportError:
            raise problem from None
        first, second = (WAYS[strict] for strict in (chosen.strict, not chosen.strict))
        print(f"traced {second}, since {first} it does not export:", file=sys.stderr)
        print(problem.findings[-1].as_text(), file=sys.stderr)
        return session


def why_all_on_kernels(options: argparse.Namespace, target: Path) -> str:
    """What to say where a backend that is kernels has none of a program's calls; a partitioner says it itself."""
    backend = backends().get(options.backend) if not options.recipe else None
    if backend is None or not backend.passes:
        return ""
    calls = sorted({call.name for call in ProgramFile(target).calls})
    if any(name.startswith(f"{backend.name}::") for name in calls):
        return ""
    message = f"{backend.name} has no operator for what the program calls: {', '.join(calls)}"
    ways = [] if options.quantize else backend.quantizations()
    return f"{message}; try --quantize {' or '.join(ways)}" if ways else message


class Status:
    """The step that runs, on one line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def __call__(self, step: str) -> None:
        if self._is_shown:
            print(f"\r\x1b[K{step}{' ...' if step else ''}", end="", file=sys.stderr, flush=True)


def compare(wholes: Mapping[str, Whole], target: Path, quantization: str) -> int:
    """Prints how far the program is from the model, on the example inputs; 1 when that is no rounding. A program for
    what this package's runtime does not have is not compared."""
    if lacking := missing_here(target):
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        print(f"not compared: the runtime of this package does not have {lacking[0]}{more}")
        return 0
    limit = LARGEST_ERROR.get(quantization, OF_FEW_BITS)
    beside = "beside the model in PyTorch" + (", on the example inputs" if quantization else "")
    errors = []
    for name, each in wholes.items():
        error, taken = measured(target, name, each)
        method = f"{name} " if len(wholes) > 1 else ""
        print(f"{method}differs by {error:.1e} {beside}; the first run took {taken:.1f} ms")
        errors.append(error)
    if max(errors) <= limit:
        return 0
    print(
        f"expected {limit:g} at most: export with --etrecord RECORD, and `executorch bisect RECORD {target}` names the "
        "cause",
        file=sys.stderr,
    )
    return 1


def measured(target: Path, name: str, whole: Whole) -> tuple[float, float]:
    """The error of a method on its example inputs, and the milliseconds of its first run."""
    model = whole.called
    method = Runtime.get().load_program(target).load_method(name)
    inputs = pytree.tree_leaves(given.copies((model.inputs, dict(model.keywords))))
    start = time.perf_counter()
    outputs = method.execute(inputs)
    taken = (time.perf_counter() - start) * 1e3
    plan = plan_of(target, name)
    named = dict(zip(plan.output_names, outputs))
    if whole.steps is not None and (chosen := whole.steps.compared(named)) is not None:
        return largest_error(*chosen), taken
    expected = given.expected_outputs(model.callable, model.inputs, plan, model.keywords)
    return largest_error(outputs, expected), taken
