# SPDX-License-Identifier: BSD-3-Clause
"""The example models by name; a new model is one row of MODEL_NAME_TO_MODEL (or of NETWORKS).

`make_example(name)` gives a model with fixed random weights; `make_example(name, dynamic=True)` one with a
dynamic dimension and calls at three sizes, for the names in NETWORKS.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from executorch.examples.models import small_programs as small
from executorch.examples.models.example import Example, Inputs, Method, single
from executorch.examples.models.networks import NETWORKS

__all__ = [
    "MODEL_NAME_TO_MODEL",
    "NETWORKS",
    "SMALL",
    "Example",
    "Inputs",
    "Method",
    "make_example",
]


def _two_methods() -> Example:
    shared = nn.Linear(6, 3)
    encode, decode = small.Encode(shared).eval(), small.Decode(shared).eval()
    x, code = torch.randn(2, 6), torch.randn(2, 3)
    return Example(
        {
            "encode": Method(encode, (x,), ((x,),)),
            "decode": Method(decode, (code, 2.0), ((code, 2.0),)),
        }
    )


def _of_rows(module: nn.Module, width: int) -> Example:
    """A module that takes any number of rows up to 16."""
    rows = torch.export.Dim("rows", min=1, max=16)
    calls = [(torch.randn(n, width),) for n in (1, 5, 16)]
    return single(module.eval(), (torch.randn(4, width),), calls, ({0: rows},))


def _wide() -> Example:
    layers = (nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 128))
    return _of_rows(nn.Sequential(*layers), 256)


def _cond() -> Example:
    positive = torch.rand(3, 4) + 0.1
    return single(small.Cond().eval(), (positive,), ((positive,), (-positive,)))


def _running_total() -> Example:
    x = torch.randn(2, 3)
    return single(small.RunningTotal().eval(), (x,), ((x,), (torch.ones(2, 3),), (-x,)))


SMALL: dict[str, Callable[[], Example]] = {
    "add": lambda: single(small.Add(), (torch.ones(1), torch.ones(1))),
    "mul": lambda: single(small.Mul(), (torch.randn(3, 2), torch.randn(3, 2))),
    "linear": lambda: single(nn.Linear(3, 3).eval(), (torch.randn(2, 3),)),
    "softmax": lambda: single(nn.Softmax(-1), (torch.zeros(2, 2),)),
    "add_mul": lambda: single(small.AddMul(), tuple(torch.randn(2, 2) for _ in range(3))),
    "cond": _cond,
    "two_methods": _two_methods,
    "running_total": _running_total,
    "list_output": lambda: single(small.ListOutput(), (torch.randn(4, 3),)),
    "dict_output": lambda: single(
        small.DictOutput(), ({"a": torch.randn(3), "b": torch.randn(3)},)
    ),
    "dynamic_rows": lambda: _of_rows(small.DynamicRows(), 8),
    "wide": _wide,
    "expansion": lambda: single(small.Expansion().eval(), (torch.randn(1, 4, 64, 66),)),
    "small_image": lambda: single(small.SmallImage().eval(), (torch.randn(1, 3, 11, 9),)),
}

MODEL_NAME_TO_MODEL: dict[str, Callable[[], Example]] = {
    **{name: lambda row=row: row.example(dynamic=False) for name, row in NETWORKS.items()},
    **SMALL,
}


def make_example(name: str, dynamic: bool = False) -> Example:
    """The model `name`, always with the same weights and inputs; leaves torch's random state alone."""
    if name not in MODEL_NAME_TO_MODEL:
        known = ", ".join(MODEL_NAME_TO_MODEL)
        raise ValueError(f"no model is called {name!r}; expected one of: {known}")
    if dynamic and name not in NETWORKS:
        raise ValueError(f"{name!r} has no dynamic form; these have: {', '.join(NETWORKS)}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return NETWORKS[name].example(dynamic=True) if dynamic else MODEL_NAME_TO_MODEL[name]()
