# SPDX-License-Identifier: BSD-3-Clause
"""Models of the examples beside those of ExecuTorch 1.4.1's ahead-of-time part, which run on the same kernels here:
operators, planned memory, bytes, outputs. `-s` prints the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from executorch.backends.cadence.aot import compiler
from executorch.backends.cadence.test import cadence_peer_models
from executorch.examples.cadence.models.rnnt_joiner import Joiner
from executorch.examples.cadence.models.rnnt_predictor import Predictor
from executorch.examples.models.mobilenet_v2 import MobileNetV2
from executorch.examples.models.resnet import ResNet18
from executorch.examples.models.transformers import VisionTransformer
from executorch.examples.models.weights import prepare
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import load_backend
from executorch.test.interop import peer

pytestmark = pytest.mark.full
IMAGE = (torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0)),)
TOKENS = (torch.arange(10).reshape(1, 10), torch.tensor([10]))
Made = tuple[nn.Module, tuple[Any, ...]]
MODELS: dict[str, Callable[[], Made]] = {
    "linear": lambda: (nn.Linear(32, 16), (torch.ones(64, 32),)),
    "conv1d": lambda: (
        nn.Conv1d(8, 16, 3, stride=2, padding=4, dilation=3),
        (torch.randn(1, 8, 33),),
    ),
    "rnnt_predictor": lambda: (Predictor(), TOKENS),
    "rnnt_joiner": lambda: (Joiner(), (torch.randn(1, 25, 256), torch.randn(1, 10, 256))),
    "mobilenet_v2": lambda: (prepare(MobileNetV2(), IMAGE), IMAGE),
    "resnet18": lambda: (prepare(ResNet18(), IMAGE), IMAGE),
    "vision_transformer": lambda: (
        prepare(VisionTransformer(layers=2, image=64), IMAGE),
        IMAGE,
    ),
}


@dataclass
class Found:
    operators: Counter[str]
    memory: int
    size: int
    outputs: list[torch.Tensor]


def found(data: bytes, inputs: tuple[Any, ...]) -> Found:
    program = deserialize_pte_binary(data)
    program = getattr(program, "program", program)
    (plan,) = program.execution_plan
    calls = [each.instr_args for chain in plan.chains for each in chain.instructions]
    names = [plan.operators[each.op_index] for each in calls if hasattr(each, "op_index")]
    method = Runtime.get().load_program(data).load_method("forward")
    outputs = [each.clone() for each in method.execute(inputs) if isinstance(each, torch.Tensor)]
    operators = Counter(f"{each.name}.{each.overload}" for each in names)
    return Found(operators, sum(plan.non_const_buffer_sizes), len(data), outputs)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Found, Found, torch.Tensor]]:
    load_backend("cadence")
    folder: Path = tmp_path_factory.mktemp("models")
    made = {}
    for name, make in MODELS.items():
        torch.manual_seed(0)
        model, inputs = make()
        captured = torch.export.export(model.eval(), inputs, strict=True)
        torch.export.save(captured, folder / f"{name}.pt2")
        made[name] = model, inputs
    peer.lower_each(cadence_peer_models.__file__, folder)
    pairs = {}
    for name, (model, inputs) in made.items():
        program = compiler._lower_ep_to_cadence_gen_etrecord(compiler.quantize_pt2(model, inputs))
        with torch.no_grad():
            eager = pytree.tree_leaves(model(*inputs))[0]
        ours = found(program.buffer, inputs)
        theirs = found(peer.result(folder / f"{name}.pte").read_bytes(), inputs)
        pairs[name] = ours, theirs, eager
    return pairs


def noise(have: torch.Tensor, want: torch.Tensor) -> float:
    """Of the size of what is wanted."""
    return float((have - want).square().mean().sqrt() / want.square().mean().sqrt())


@pytest.mark.req("NPU-051", "NPU-065")
def test_files_of_the_peer_run_here_and_ours_are_no_larger(pairs: dict[str, Any]) -> None:
    """Ours and its in each column. Both give the same bits: the same values are quantized, by the same numbers."""
    print(
        "\nmodel               operators  planned bytes        file bytes           noise beside floats  largest gap"
    )
    for name, (ours, theirs, eager) in pairs.items():
        both = [sum(each.operators.values()) for each in (ours, theirs)]
        apart = [noise(each.outputs[0], eager) for each in (ours, theirs)]
        gap = float((ours.outputs[0] - theirs.outputs[0]).abs().max())
        print(
            f"{name:20}{both[0]:4} {both[1]:4}  {ours.memory:9} {theirs.memory:9}  {ours.size:9} {theirs.size:9}  "
            f"{apart[0]:.4f} {apart[1]:.4f}        {gap:g}"
        )
        assert both[0] <= both[1], f"{name}: {ours.operators - theirs.operators}"
        assert ours.memory <= theirs.memory + 64 and ours.size <= theirs.size * 1.02, name
        assert gap == 0, name
        own = [
            Counter(
                {op: count for op, count in each.operators.items() if "cadence::quantized" in op}
            )
            for each in (ours, theirs)
        ]  # ours also of sums that stand between what quantizes, which it leaves to floats
        assert not own[1] - own[0], name
