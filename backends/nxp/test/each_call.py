# SPDX-License-Identifier: BSD-3-Clause
"""A delegate's TFLite model in LiteRT beside PyTorch, call by call: each call of PyTorch gets what LiteRT's gave before
it, so that it is off by what it is itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import Interpreter, Node

from executorch.backends.nxp.aot import payload as payloads
from executorch.backends.nxp.test import stand_in
from executorch.exir.backend.lowering.quantized import is_quantize


class Watched:
    """In the place of what a delegate stands for; `off`: quanta and names of its calls are put there."""

    def __init__(
        self, program: ExportedProgram, payload: bytes, off: list[tuple[int, str]]
    ) -> None:
        self._program, self._payload, self._off = program, payload, off

    def module(self) -> Watched:
        return self

    def __call__(self, *inputs: torch.Tensor) -> Any:
        found = payloads.read(self._payload)
        ran = stand_in.interpreted(found.weights, stand_in.given(found, inputs), keeps_all=True)
        values = {
            each["name"]: ran.get_tensor(each["index"])
            for each in ran.get_tensor_details()
            if each["dtype"] == np.int8
        }
        results = stand_in.run_payload(self._payload, list(inputs))
        specs, data = self._program.graph_signature.input_specs, _data(self._program)
        users = iter(inputs)
        args = [data[each.target] if each.target in data else next(users) for each in specs]
        graph = _ByCall(self._program.graph_module, values, self._off)
        own = graph.run(*args)
        for have, want in zip(results, own, strict=True):
            assert have.shape == want.shape and have.dtype == want.dtype, (have.shape, want.shape)
            self._off.append((int((have.int() - want.int()).abs().max()), "its results"))
        return own


def _data(program: ExportedProgram) -> dict[str, Any]:
    return {**program.state_dict, **program.constants}


class _ByCall(Interpreter):
    def __init__(
        self,
        module: torch.fx.GraphModule,
        values: Mapping[str, np.ndarray],
        off: list[tuple[int, str]],
    ) -> None:
        super().__init__(module)
        self._values, self._off = values, off

    def run_node(self, node: Node) -> Any:
        with torch.fx.traceback.preserve_node_meta(False):
            made = super().run_node(node)
        if not is_quantize(node) or node.name not in self._values:
            return made
        value = torch.from_numpy(np.asarray(self._values[node.name]))
        ways = [value] + ([value.movedim(-1, 1).contiguous()] if value.dim() > 2 else [])
        found = {quanta_off(each, made): each for each in ways if each.shape == made.shape}
        assert found, f"{node.name}: {list(value.shape)}, expected {list(made.shape)}"
        least = min(found)
        self._off.append((least, node.name))
        return found[least]


def quanta_off(found: torch.Tensor, expected: torch.Tensor) -> int:
    return int((found.int() - expected.int()).abs().max())
