# SPDX-License-Identifier: BSD-3-Clause
"""Makes example models by the names of their module and class."""

from __future__ import annotations

import importlib
from typing import Any

import torch


class EagerModelFactory:
    @staticmethod
    def create_model(
        module_name: str, model_class_name: str, **kwargs: Any
    ) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any] | None, Any]:
        """(module, inputs, keyword inputs or None, dynamic shapes or None) of the class `model_class_name` in
        examples/models/<module_name>; `kwargs` go to the class."""
        module = importlib.import_module(f"executorch.examples.models.{module_name}")
        if not hasattr(module, model_class_name):
            raise ValueError(
                f"Model class '{model_class_name}' not found in module '{module_name}'."
            )
        model = getattr(module, model_class_name)(**kwargs)
        keywords = getattr(model, "get_example_kwarg_inputs", lambda: None)()
        shapes = getattr(model, "get_dynamic_shapes", lambda: None)()
        return model.get_eager_model(), model.get_example_inputs(), keywords, shapes
