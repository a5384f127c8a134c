# SPDX-License-Identifier: BSD-3-Clause
"""Runs a model and programs on the same samples, and counts what a metric says of each."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from executorch.devtools.accuracy.data import Data, Slot, slots_of_examples
from executorch.devtools.accuracy.metrics import METRICS, Metric, Target
from executorch.devtools.commands.inputs.declared import declared
from executorch.devtools.commands.program_file import plan_of
from executorch.devtools.commands.python_model import PythonModel
from executorch.devtools.progress import counted
from executorch.runtime import Runtime

# A call's inputs, flat -> its outputs, flat
Run = Callable[[Sequence[Any]], list[np.ndarray]]


@dataclass(frozen=True)
class Counted:
    """`sums`: [samples, 2] of a metric; `milliseconds`: of each call."""

    sums: np.ndarray
    milliseconds: np.ndarray


# ---- What runs ----


def program_slots(path: Path, method: str) -> list[Slot]:
    return [Slot(each, each.largest) for each in declared(plan_of(path, method))]


def program_run(path: Path, method: str) -> Run:
    loaded = Runtime.get().load_program(path).load_method(plan_of(path, method).name)
    return lambda inputs: [as_numpy(each) for each in loaded.execute(list(inputs))]


def model_slots(model: PythonModel) -> list[Slot]:
    """By the names of forward(), where each argument is one input."""
    given = [*model.inputs, *model.keywords.values()]
    leaves = pytree.tree_leaves(given)
    names = [*inspect.signature(model.callable.forward).parameters][: len(model.inputs)]
    names = [*names, *model.keywords] if len(leaves) == len(given) else []
    return slots_of_examples(leaves, names, model.dynamic_shapes is not None)


def model_run(model: PythonModel) -> Run:
    """Each call is given tensors of its own."""
    _, structure = pytree.tree_flatten((model.inputs, dict(model.keywords)))
    module = model.callable

    def run(inputs: Sequence[Any]) -> list[np.ndarray]:
        leaves = [as_torch(each) for each in inputs]
        args, keywords = pytree.tree_unflatten(leaves, structure)
        with torch.no_grad():
            return [as_numpy(each) for each in pytree.tree_leaves(module(*args, **keywords))]

    return run


def as_torch(value: Any) -> Any:
    return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


def as_numpy(value: Any) -> np.ndarray:
    """Floats that NumPy lacks as float32."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return np.asarray(value)


# ---- Counting ----


def default_metric(data: Data) -> Metric:
    if data.has_labels:
        return METRICS["perplexity" if data.kind == "texts" else "top1"]
    return METRICS["error"]


def counted_on(
    data: Data, runs: Mapping[str, Run], metric: Metric, model: str | None = None
) -> dict[str, Counted]:
    """By name. Where the data says no target, what the run called `model` gives is it."""
    sums: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    times: dict[str, list[float]] = {name: [] for name in runs}
    order = sorted(runs, key=lambda name: name != model)
    for sample in counted(data, "samples", len(data)):
        target = sample.target
        for name in order:
            start = time.perf_counter()
            outputs = runs[name](sample.inputs)
            times[name].append((time.perf_counter() - start) * 1e3)
            if target is None and name == model:
                target = Target(values=tuple(outputs))
            sums[name].append(sums_of(metric, outputs, target, sample.name))
    return {name: Counted(np.array(sums[name]), np.array(times[name])) for name in runs}


def sums_of(
    metric: Metric, outputs: Sequence[np.ndarray], target: Target | None, where: str
) -> tuple[float, float]:
    """Inputs that a program changes stand before what it returns: they have no targets."""
    target = target or Target()
    if target.values is not None and len(outputs) > len(target.values):
        outputs = outputs[len(outputs) - len(target.values) :]
    try:
        return metric.sums(outputs, target)
    except ValueError as problem:
        raise ValueError(f"{where}: {problem}") from None
