# SPDX-License-Identifier: BSD-3-Clause
"""Lowers models to TOSA and runs their delegates: by our evaluator, or by the TOSA reference model, in a process of its
own, which it ends when a graph is bad."""

from __future__ import annotations

import operator
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.test.tosa.evaluator import evaluate
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.lowering.external.tool import tool_path
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

_SCRIPT = """
import glob, sys, numpy, tosa_reference_model
folder = sys.argv[1]
for place in sorted(glob.glob(folder + "/*.tosa")):
    given = numpy.load(place + ".npz")
    inputs = [given[key] for key in sorted(given.files)]
    found, status = tosa_reference_model.run(open(place, "rb").read(), inputs)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        sys.exit(f"{place}: {status}")
    numpy.savez(place + ".out.npz", *found)
"""
HAS_MODEL = tool_path("arm", "tosa_reference_model") is not None
needs_model = pytest.mark.skipif(not HAS_MODEL, reason="the TOSA reference model is not installed")


Graph = tuple[bytes, Sequence[torch.Tensor]]


def run(graph: bytes, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """By the evaluator, which needs no tool."""
    found = evaluate(graph, [_array(each) for each in inputs])
    return [torch.from_numpy(np.ascontiguousarray(each).reshape(each.shape)) for each in found]


def run_all(graphs: Sequence[Graph]) -> list[list[torch.Tensor]]:
    """Of each graph the results for its inputs."""
    return [run(*each) for each in graphs]


def run_all_in_model(graphs: Sequence[Graph]) -> list[list[torch.Tensor]]:
    """By the reference model, which also says whether a graph is valid."""
    python = tool_path("arm", "tosa_reference_model").with_name("python")
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, f"{place:04}.tosa") for place in range(len(graphs))]
        for place, (graph, inputs) in zip(places, graphs, strict=True):
            place.write_bytes(graph)
            np.savez(f"{place}.npz", **{f"{i:04}": _array(each) for i, each in enumerate(inputs)})
        ran = subprocess.run(
            [str(python), "-c", _SCRIPT, folder], capture_output=True, text=True, timeout=300
        )
        if ran.returncode:
            raise RuntimeError(
                f"the reference model refuses a graph: {ran.stderr[-1500:]}{ran.stdout[-500:]}"
            )
        found = [np.load(f"{place}.out.npz") for place in places]
        return [[torch.from_numpy(each[key].copy()) for key in each.files] for each in found]


def _array(values: torch.Tensor) -> np.ndarray[Any, Any]:
    return values.detach().contiguous().numpy()


def quantized(
    model: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    spec: str = "TOSA-1.0+INT",
    config: Any = None,
    quantizer: TOSAQuantizer | None = None,
) -> torch.nn.Module:
    quantizer = quantizer or TOSAQuantizer(TosaCompileSpec(spec))
    quantizer.set_global(config or get_symmetric_quantization_config())
    prepared = prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def lowered(
    model: torch.nn.Module, inputs: tuple[torch.Tensor, ...], spec: str, partitioner: Any = None
) -> EdgeProgramManager:
    exported = torch.export.export(model, inputs)
    return to_edge_transform_and_lower(
        exported, partitioner=[partitioner or TOSAPartitioner(TosaCompileSpec(spec))]
    )


def delegates(edge: EdgeProgramManager) -> list[Any]:
    return get_lowered_backend_modules(edge.exported_program().graph_module)


class _Wanted(Exception):
    """A delegate that was not run yet."""

    def __init__(self, graph: bytes, inputs: list[torch.Tensor]) -> None:
        super().__init__("")
        self.call = (graph, inputs)


class _Through(torch.fx.Interpreter):
    """Runs a lowered program with results of delegates that are there already."""

    def __init__(self, module: torch.fx.GraphModule, known: list[list[torch.Tensor]]) -> None:
        super().__init__(module)
        self._known = iter(known)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target is not torch.ops.higher_order.executorch_call_delegate:
            return super().call_function(target, args, kwargs)
        module, *inputs = args
        found = next(self._known, None)
        if found is None:
            given = [each.permute(each.dim_order()) for each in inputs]
            raise _Wanted(bytes(module.processed_bytes), given)
        return found

    def run_node(self, node: torch.fx.Node) -> Any:
        """Results come with their dimensions in the order of memory."""
        value = super().run_node(node)
        of_delegate = (
            node.op == "call_function"
            and node.target is operator.getitem
            and node.args[0].target is torch.ops.higher_order.executorch_call_delegate
        )
        if not of_delegate:
            return value
        order = list(node.meta["val"].dim_order())
        return value.permute([order.index(dim) for dim in range(len(order))])


Program = tuple[EdgeProgramManager, Sequence[torch.Tensor]]


def through_reference_all(
    programs: Sequence[Program], run_all: Callable[..., list[list[torch.Tensor]]] = run_all
) -> list[list[torch.Tensor]]:
    """Of lowered programs; delegates that wait at one time run in one process."""
    known: list[list[list[torch.Tensor]]] = [[] for _ in programs]
    done: list[list[torch.Tensor] | None] = [None] * len(programs)
    while None in done:
        waiting = []
        for place, (edge, inputs) in enumerate(programs):
            if done[place] is None:
                try:
                    done[place] = _run(edge, inputs, known[place])
                except _Wanted as wanted:
                    waiting.append((place, wanted.call))
        results = run_all([each for _, each in waiting]) if waiting else []
        for (place, _), found in zip(waiting, results, strict=True):
            known[place].append(found)
    return done


def first_delegate(
    edge: EdgeProgramManager, inputs: Sequence[torch.Tensor]
) -> tuple[bytes, list[torch.Tensor]]:
    """Its payload, and what it is called with."""
    try:
        _run(edge, inputs, [])
    except _Wanted as wanted:
        return wanted.call
    raise ValueError("expected a program with a delegate")


def through_reference(
    edge: EdgeProgramManager, inputs: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    return through_reference_all([(edge, inputs)])[0]


def _run(
    edge: EdgeProgramManager, inputs: Sequence[torch.Tensor], known: list[list[torch.Tensor]]
) -> list[torch.Tensor]:
    program = edge.exported_program()
    return list(run_on(_Through(program.graph_module, known), program, inputs))


def run_on(
    interpreter: torch.fx.Interpreter, program: ExportedProgram, inputs: Sequence[torch.Tensor]
) -> Any:
    """Of a program, with its data."""
    data = {**program.state_dict, **program.constants}
    users = iter(inputs)
    specs = program.graph_signature.input_specs
    args = [data[each.target] if each.target in data else next(users) for each in specs]
    with torch.no_grad(), torch.fx.traceback.preserve_node_meta(False):
        return interpreter.run(*args)
