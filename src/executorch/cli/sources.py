# SPDX-License-Identifier: BSD-3-Clause
"""The MODEL of `executorch export`: a file of torch.export, what a file of Python names, or an example model."""

from __future__ import annotations

import difflib
import inspect
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree

from executorch.devtools.commands import given, python_model
from executorch.devtools.commands.python_model import FORWARD, PythonModel
from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL, make_example
from executorch.examples.models.model_factory import EagerModelFactory


@dataclass(frozen=True)
class Source:
    """The methods of a program to be."""

    name: str
    methods: Mapping[str, PythonModel]

    def to_be_quantized(self) -> Source:
        """Modules instead of exported programs, with the same dynamic shapes."""
        methods = {name: _uncaptured(each) for name, each in self.methods.items()}
        return replace(self, methods=methods)


def source(spec: str) -> Source:
    """ValueError for what is no model."""
    if spec.endswith(".pt2"):
        program = given.exported_program(Path(spec))
        return Source(Path(spec).stem, {FORWARD: python_model.of_program(program, spec)})
    if python_model.is_python(spec):
        return Source(spec.rpartition(":")[2], python_model.load_methods(spec))
    if spec in EXAMPLES or spec in MODEL_NAME_TO_MODEL:
        return Source(spec, _example(spec))
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


def _example(name: str) -> dict[str, PythonModel]:
    if name in EXAMPLES:
        return {
            method: PythonModel(each.module, each.inputs, each.dynamic_shapes)
            for method, each in make_example(name).methods.items()
        }
    module, inputs, keywords, shapes = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL[name])
    if keywords:
        raise ValueError(
            f"{name}: expected inputs by place, found {', '.join(keywords)} by keyword"
        )
    return {FORWARD: PythonModel(module.eval(), inputs, shapes)}


def _uncaptured(model: PythonModel) -> PythonModel:
    """A captured module counts as quantized; its code does not, in a class of its own."""
    if not isinstance(model.module, ExportedProgram):
        return model
    captured = model.module.module(check_guards=False)
    module = type("Captured", (torch.nn.Module,), {"forward": type(captured).forward})()
    module.__dict__.update(captured.__dict__)
    module._forward_pre_hooks = OrderedDict()  # which look for the graph
    return replace(model, module=module, dynamic_shapes=_dynamic_shapes(model))


def _dynamic_shapes(model: PythonModel) -> Any:
    """As an exported program says them of its inputs; relations between sizes are found again while tracing."""
    program = model.module
    nodes = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
    inputs = iter(program.graph_signature.user_inputs)

    def shape_of(_: Any) -> dict[int, Any]:
        name = next(inputs)
        value = nodes[name].meta.get("val") if isinstance(name, str) and name in nodes else None
        sizes = value.shape if isinstance(value, torch.Tensor) else ()
        return {place: _dim(size) for place, size in enumerate(sizes) if not isinstance(size, int)}

    def _dim(size: torch.SymInt) -> Any:
        bounds = program.range_constraints.get(size.node.expr)
        least, largest = (bounds.lower, bounds.upper) if bounds is not None else (0, None)
        limits = {"min": int(least)} if least > 0 else {}
        if largest is not None and largest.is_finite:
            limits["max"] = int(largest)
        return Dim.AUTO(**limits) if limits else Dim.AUTO

    places, keywords = pytree.tree_map(shape_of, (model.inputs, dict(model.keywords)))
    if not keywords:
        return places
    names = [*inspect.signature(model.callable.forward).parameters]
    return dict(zip(names, places, strict=False)) | keywords
