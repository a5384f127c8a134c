# SPDX-License-Identifier: BSD-3-Clause
"""A model between the steps of its program: samples are given to the whole, quantizers see what the model gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from executorch.devtools.accuracy.data import Data, Slot
from executorch.devtools.accuracy.evaluation import (
    Run,
    as_torch,
    default_metric,
    model_run,
    model_slots,
    program_run,
)
from executorch.devtools.accuracy.metrics import METRICS, Metric, metric_of
from executorch.devtools.commands.inputs.declared import Declared, Dimension
from executorch.devtools.commands.program_file import plan_of, program_of
from executorch.devtools.commands.python_model import PythonModel
from executorch.exir.scalar_type import ScalarType
from executorch.extension.processing.carried import Carried, carried_by
from executorch.extension.processing.processed import Processed
from executorch.extension.processing.steps import Processing

_OF_TOP = {
    "top1": 1,
    "top5": 5,
}  # metrics of the classes that `top` leaves, and how many they ask for


@dataclass(frozen=True)
class Whole:
    model: PythonModel
    steps: Processed | None = None

    @classmethod
    def of(cls, model: PythonModel, processing: Processing) -> Whole:
        """ValueError for a model that the steps do not fit."""
        if not processing:
            return cls(model)
        call = (model.inputs, model.keywords, model.dynamic_shapes)
        return cls(model, Processed.of(processing, model.callable, *call))

    @property
    def carried(self) -> Carried:
        return self.steps.carried if self.steps is not None else Carried()

    @property
    def slots(self) -> list[Slot]:
        if self.steps is None or self.steps.before is None:
            return model_slots(self.model)
        sizes = [Dimension(low, high) for low, high in (*self.steps.limits, (3, 3))]
        declared = Declared(0, "picture", ScalarType.BYTE, sizes, dim_order=(0, 1, 2))
        return [Slot(declared, declared.largest)]

    @property
    def called(self) -> PythonModel:
        """The whole as a model."""
        return self._around(self.model.callable)

    def run(self, form: torch.nn.Module | None = None) -> Run:
        """`form`: another one of the model."""
        return rows_of(model_run(self._around(form or self.model.callable)), self.carried)

    def call(self, inputs: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the model gets of a sample."""
        tensors = [as_torch(each) for each in inputs]
        if self.steps is not None and self.steps.before is not None:
            with torch.no_grad():
                tensors = [self.steps.before(tensors[0])]
        _, structure = pytree.tree_flatten((self.model.inputs, dict(self.model.keywords)))
        return pytree.tree_unflatten(tensors, structure)

    def _around(self, form: torch.nn.Module) -> PythonModel:
        if self.steps is None:
            return replace(self.model, module=form)
        steps = self.steps
        return PythonModel(
            steps.around(form), steps.inputs, steps.dynamic_shapes, dict(steps.keywords)
        )


def program_carried(path: Path, method: str) -> Carried:
    return carried_by(program_of(path).user_metadata, plan_of(path, method).name)


def whole_program_run(path: Path, method: str) -> Run:
    return rows_of(program_run(path, method), program_carried(path, method))


def rows_of(run: Run, carried: Carried) -> Run:
    """Behind `top`: rows of all classes, those that it left out below the others."""
    if not carried.classes:
        return run

    def rows(inputs: Sequence[Any]) -> list[np.ndarray]:
        scores, classes = run(inputs)
        found = np.full((*scores.shape[:-1], carried.classes), scores.min() - 1, scores.dtype)
        np.put_along_axis(found, classes, scores, -1)
        return [found]

    return rows


def metric_for(name: str | None, data: Data, carried: Carried) -> Metric:
    """The default without a name. ValueError for one that needs scores which `top` leaves out."""
    if not carried.classes:
        return metric_of(name) if name else default_metric(data)
    metric = metric_of(name) if name else METRICS["top1"]
    count = Processing("", carried.postprocess).calls("--postprocess")[-1].arguments[0]
    if metric.name in METRICS and _OF_TOP.get(metric.name, count + 1) > count:
        able = [each for each, least in _OF_TOP.items() if least <= count]
        raise ValueError(
            f"--metric: expected {' or '.join(able)} behind `top {count}`, found {metric.name}"
        )
    return metric
