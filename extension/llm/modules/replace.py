# SPDX-License-Identifier: BSD-3-Clause
"""Modules of another project by ours, which have their parameters."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn


def replace_torchtune(
    model: nn.Module, name: str, make: Callable[[nn.Module], nn.Module]
) -> nn.Module:
    """Every torchtune module of class `name` below `model` by what `make` gives for it; `model` itself is kept.

    Classes are known by where they are defined, so torchtune need not be installed.
    """
    for child_name, child in model.named_children():
        home = [
            each.__module__.partition(".")[0]
            for each in type(child).__mro__
            if each.__name__ == name
        ]
        if "torchtune" in home:
            setattr(model, child_name, make(child).train(child.training))
        else:
            replace_torchtune(child, name, make)
    return model
