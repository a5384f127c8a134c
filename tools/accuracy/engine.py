# SPDX-License-Identifier: BSD-3-Clause
"""Lowers one exported program in float or int8, runs it, and compares with eager. Imports nothing of this repository
but the public package `executorch`, so that the same code asks both implementations.

usage: python engine.py JOB    JOB is JSON; the last line of the output is JSON.
"""

import json
import logging
import math
import sys
import warnings
from functools import partial

import torch


def quantized(program: torch.export.ExportedProgram, calls: list) -> torch.nn.Module:
    """Static, symmetric, weights per channel."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    config = get_symmetric_quantization_config(is_per_channel=True)
    prepared = prepare_pt2e(program.module(), XNNPACKQuantizer().set_global(config))
    for call in calls:
        prepared(*call)
    return convert_pt2e(prepared)


def sqnr(pairs: list) -> float:
    """Of each output over all calls, in dB; the worst. Infinite when equal."""
    found = []
    for number in range(len(pairs[0][0])):
        signal = sum(float(want[number].double().square().sum()) for want, _ in pairs)
        noise = sum(
            float((want[number].double() - torch.as_tensor(got[number]).double()).square().sum())
            for want, got in pairs
        )
        found.append(10 * math.log10(signal / noise) if noise else math.inf)
    return min(found)


def main(job: dict) -> dict:
    """By precision: SQNR by backend, of the quantized graph, bytes, delegates; or the error. By recipe, where a backend
    has to show its own: SQNR, bytes."""
    ways = dict.fromkeys(("float", "int8"), measured)
    if "recipes of" in job:
        ways = {kind.value: partial(by_recipe, kind) for kind in recipes_of(job["recipes of"])}
    return {name: _answer(way, job, name) for name, way in ways.items()}


def _answer(way, job: dict, name: str) -> dict:
    try:
        return way(job, name)
    except Exception as problem:
        return {"error": f"{type(problem).__name__}: {problem}"}


def recipes_of(name: str) -> list:
    from executorch.backends.discovery import backends

    return list(backends()[name].load(backends()[name].recipes))


class Model(torch.nn.Module):
    """What is captured already, as a model that is not: a recipe quantizes such."""

    def __init__(self, captured: torch.nn.Module) -> None:
        super().__init__()
        self.captured = captured

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.captured(*inputs)


def by_recipe(kind, job: dict, _: str) -> dict:
    """The first call that calibrates is the one that is exported."""
    from executorch.export import ExportRecipe, export

    saved = torch.load(job["calls"])
    recipe = ExportRecipe.get_recipe(kind)
    recipe.strict = False
    model = Model(torch.export.load(job["program"]).module())
    buffer = export(model, saved["calibration"], recipe).get_pte_buffer()
    return {"sqnr": sqnr(_pairs(buffer, saved)), "bytes": len(buffer)}


def measured(job: dict, precision: str) -> dict:
    import executorch.kernels.quantized  # noqa: F401  registers operators
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.devtools.backend_debug import get_delegation_info
    from executorch.exir import to_edge_transform_and_lower

    program = torch.export.load(job["program"])
    saved = torch.load(job["calls"])
    answer = {}
    if precision == "int8":
        module = quantized(program, saved["calibration"])
        pairs = [(want, _flat(module(*call))) for call, want in saved["measured"]]
        answer["graph"] = sqnr(pairs)
        program = torch.export.export(module, saved["measured"][0][0])
    for backend in job["backends"]:
        partitioners = [XnnpackPartitioner()] if backend == "xnnpack" else None
        manager = to_edge_transform_and_lower(program, partitioner=partitioners)
        info = get_delegation_info(manager.exported_program().graph_module)
        buffer = manager.to_executorch().buffer
        answer[backend] = sqnr(_pairs(buffer, saved))
        answer[f"{backend} bytes"] = len(buffer)
        if backend == "xnnpack":
            answer["delegates"] = info.num_delegated_subgraphs
            answer["left"] = info.num_non_delegated_nodes
    return answer


def _pairs(buffer: bytes, saved: dict) -> list:
    """Of each call that is measured: what is expected, and what the program gives."""
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(buffer).load_method("forward")
    return [
        (want, [torch.as_tensor(each).clone() for each in method.execute(list(call))])
        for call, want in saved["measured"]
    ]


def _flat(result: object) -> list:
    return torch.utils._pytree.tree_leaves(result)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    with torch.no_grad():
        print(json.dumps(main(json.loads(sys.argv[1]))))
