# SPDX-License-Identifier: BSD-3-Clause
"""What `--model_name` of the commands names: a module and the inputs that it is exported with."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

Inputs = tuple[Any, ...]
MAX_SAMPLES = 1000  # of a folder


class Model(NamedTuple):
    module: nn.Module
    inputs: Inputs


class _Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + x


class _Sum(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


class _Operators(nn.Module):
    """Two sums and two products of one another."""

    def forward(self, w: Tensor, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return (w + x) * y - z * w


BUILT_IN: dict[str, Callable[[], Model]] = {
    "qadd": lambda: Model(_Double(), (torch.rand(13, 3),)),
    "qadd2": lambda: Model(_Sum(), (torch.rand(13, 3), torch.rand(13, 3))),
    "qops": lambda: Model(_Operators(), tuple(torch.rand(13, 3) for _ in range(4))),
    "qlinear": lambda: Model(nn.Linear(100, 10), (torch.rand(1, 100),)),
}


def load(name: str, inputs: str | None) -> Model:
    """`inputs`: a file that has those of a `.pt`, or others. ValueError for what is no model."""
    torch.manual_seed(0)
    given = None if inputs is None else _tuple(_loaded(Path(inputs)))
    path = Path(name)
    if path.suffix == ".py":
        found = _of_script(path)
    elif path.suffix in (".pt", ".pth"):
        if given is None:
            raise ValueError(f"{name}: a saved module has no inputs, give them with --model_input")
        found = Model(torch.load(path, weights_only=False), given)
    elif name in BUILT_IN:
        found = BUILT_IN[name]()
    else:
        found = _example(name)
    return Model(found.module.eval(), found.inputs if given is None else given)


def _of_script(path: Path) -> Model:
    names = runpy.run_path(str(path))
    missing = [each for each in ("ModelUnderTest", "ModelInputs") if each not in names]
    if missing:
        raise ValueError(
            f"{path}: expected ModelUnderTest and ModelInputs, {missing[0]} is not there"
        )
    return Model(names["ModelUnderTest"], _tuple(names["ModelInputs"]))


def _example(name: str) -> Model:
    from executorch.examples.models import EXAMPLES, make_example

    if name not in EXAMPLES:
        known = ", ".join(sorted({*BUILT_IN, *EXAMPLES}))
        raise ValueError(f"no model {name!r}: expected a .py, .pt or .pth file, or one of {known}")
    methods = make_example(name).methods
    if list(methods) != ["forward"]:
        raise ValueError(f"{name} has the methods {', '.join(methods)}: expected forward alone")
    return Model(methods["forward"].module, methods["forward"].inputs)


def samples(place: str) -> Iterator[Inputs]:
    """Inputs for calibration: a file, or a folder of them."""
    path = Path(place)
    files = [path]
    if path.is_dir():
        files = [each for each in sorted(path.rglob("*")) if each.suffix in (".pt", ".pth")]
        if len(files) > MAX_SAMPLES:
            raise RuntimeError(f"{place}: expected at most {MAX_SAMPLES} files, found {len(files)}")
    if not files:
        raise ValueError(f"{place}: expected .pt or .pth files, found none")
    return (_tuple(_loaded(each)) for each in files)


def _loaded(path: Path) -> Any:
    if path.suffix not in (".pt", ".pth"):
        raise ValueError(f"{path}: expected tensors in a .pt or .pth file")
    return torch.load(path, weights_only=True)


def _tuple(values: Any) -> Inputs:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)
