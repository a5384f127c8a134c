# SPDX-License-Identifier: BSD-3-Clause
"""A program with all that `executorch wrap` has to name: for the tests of each language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim, export

from executorch.cli.main import DONE, main
from executorch.exir import ExecutorchBackendConfig, to_edge

LABELS = ["a cat", 'a "dog" for $5', "zwölf"]
NUMPY_DTYPES = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
    torch.bool,
)  # fmt: skip


class Names(torch.nn.Module):
    """Keywords of five languages, names with dots, and two that are one in another spelling."""

    def forward(
        self,
        input_ids: torch.Tensor,
        inputIds: torch.Tensor,
        state: dict[str, Any],
        self_: torch.Tensor,
    ) -> Any:
        total = input_ids + 2 * inputIds + 3 * self_ + sum(state["in"].values()) + state["list"][1]
        return {"class": total, "in": [total + 1, total + 2], "count": total + 3, "0": total + 4}


TAKEN = (
    "outputs", "execute", "fits", "module", "elementsOf", "scalarOf", "has_count", "tensor_of", "is_of", "array_of",
    "std", "executorch", "np", "torch", "int", "len", "Array", "Value", "EValue", "Result", "String", "inputs",
    "method", "given", "input_0_", "labels", "et", "this", "print",
)  # fmt: skip


class Taken(torch.nn.Module):
    """Names that the classes use themselves."""

    def forward(self, **named: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: value * 2 for name, value in named.items()}


class Scalars(torch.nn.Module):
    """Values that are no tensors, and a size that varies."""

    def forward(self, x: torch.Tensor, n: int, f: float, flag: bool, nothing: None) -> Any:
        return x + n + f, x.shape[0], 2.5, flag, None


class Text(torch.nn.Module):
    def forward(self, x: torch.Tensor, text: str) -> torch.Tensor:
        return x * len(text)


class Ranges(torch.nn.Module):
    """Sizes that go together: n and 2 * n."""

    def forward(self, rows: torch.Tensor, pairs: torch.Tensor, width: torch.Tensor) -> torch.Tensor:
        return rows.sum(1) + pairs.reshape(-1, 2).sum(1) + width.sum()


class Types(torch.nn.Module):
    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(torch.cat([each, each]) for each in tensors)


class Nothing(torch.nn.Module):
    def forward(self) -> torch.Tensor:
        return torch.arange(3.0) + 0.25


class Image(torch.nn.Module):
    """Channels last, in and out."""

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return image * 2


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x])


class Ranked(torch.nn.Module):
    """Classes with scores, the last of none."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        scores, classes = torch.topk(x + torch.tensor([0.0, 2.0, 1.0, -1.0]), 4)
        return {"scores": scores, "classes": torch.where(scores < 0, -1, classes)}


class Store(torch.nn.Module):
    """Gives nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> None:
        self.total.add_(x)


def exported() -> dict[str, torch.export.ExportedProgram]:
    def one() -> torch.Tensor:
        return torch.ones(2)  # torch.export takes the same tensor twice for one input

    state = {"in": {"class": one(), "a.b": one()}, "list": [one(), one()]}
    n = Dim("n", min=3, max=6)
    ranges = (torch.ones(4, 3), torch.ones(8), torch.ones(5))
    shapes = ({0: n}, {0: 2 * n}, {0: Dim("width", min=1, max=7)})
    tensors = tuple(torch.ones(2).to(dtype) for dtype in NUMPY_DTYPES)
    scalars = (torch.ones(3, 2), 7, 0.5, True, None)
    rows = ({0: Dim("rows", min=1, max=8)}, None, None, None, None)
    image = torch.ones(1, 3, 2, 2, dtype=torch.uint8).to(memory_format=torch.channels_last)
    return {
        "forward": export(Names(), (one(), one(), state, one())),
        "taken": export(Taken(), (), {name: one() for name in TAKEN}),
        "scalars": export(Scalars(), scalars, dynamic_shapes=rows),
        "ranges": export(Ranges(), ranges, dynamic_shapes=shapes),
        "types": export(Types(), tensors),
        "delete": export(Nothing(), ()),
        "text": export(Text(), (one(), 'a "text" for $5')),
        "image": export(Image(), (image,)),
        "halves": export(Doubled(), (one().to(torch.bfloat16),)),
        "waves": export(Doubled(), (one().to(torch.complex64),)),
        "store": export(Store(), (one(),)),
        "ranked": export(Ranked(), (torch.ones(1, 4),)),
    }


def others() -> dict[str, torch.export.ExportedProgram]:
    """Methods of the same names that take or give something else."""
    return {
        "store": export(Doubled(), (torch.ones(2),)),
        "delete": export(Scalars(), (torch.ones(3, 2), 7, 0.5, True, None)),
        "halves": export(Doubled(), (torch.ones(2),)),
        "types": export(Nothing(), ()),
        "waves": export(Doubled(), (torch.ones(2),)),
    }


def save(path: Path, methods: dict[str, torch.export.ExportedProgram], **constants: Any) -> Path:
    config = ExecutorchBackendConfig(user_metadata={"labels": LABELS})
    path.write_bytes(to_edge(methods, constant_methods=constants).to_executorch(config).buffer)
    return path


def write(folder: Path) -> Path:
    return save(folder / "all-of it.pte", exported(), get_max_seq_len=128, use_kv_cache=True)


def wrap(program: Path, language: str, *words: object) -> int:
    return main(["wrap", str(program), "--lang", language, *map(str, words)])


def wrapped(
    program: Path, language: str, folder: Path, suffix: str, *words: object
) -> tuple[Path, Path]:
    """The files of the class and of a program that calls each method, in `folder`."""
    made, caller = folder / f"AllOfIt{suffix}", folder / f"main{suffix}"
    assert wrap(program, language, "-o", made, "--main", caller, *words) == DONE
    return made, caller


# By method, what its results begin with where floats are 0.5, whole numbers 0, truth values true, at the largest sizes.
_TOTAL = 0.5 + 2 * 0.5 + 3 * 0.5 + (0.5 + 0.5) + 0.5
EXPECTED = {
    "forward": [[_TOTAL + more] * 2 for more in (0, 1, 2, 3, 4)],
    "taken": [[1.0, 1.0]] * len(TAKEN),
    "scalars": [[0.5 + 7 + 0.5] * 3, [8.0], [2.5], [1.0]],
    "ranges": [[3 * 0.5 + 2 * 0.5 + 7 * 0.5] * 3],
    "types": [[0.0] * 3] * 5 + [[0.5] * 3] * 3 + [[1.0] * 3],
    "delete": [[0.25, 1.25, 2.25]],
    "text": [[0.5 * len('a "text" for $5')] * 2],
    "image": [[0.0] * 3],
    "halves": [[0.5] * 3],
    "waves": [[0.5] * 3],
    "ranked": [[2.5, 1.5, 0.5], [1.0, 2.0, 0.0]],
    "get_max_seq_len": [[128.0]],
    "use_kv_cache": [[1.0]],
}


_TRUTH = {"true": 1.0, "True": 1.0}


def numbers(printed: str) -> dict[str, list[list[float]]]:
    """What a program of --main printed, by method."""
    found: dict[str, list[list[float]]] = {}
    for line in printed.splitlines():
        method, name, rest = line.split(" ", 2)
        if name == "labeled":
            continue
        values = re.sub(r"^\[[\d, ]*\]", "", rest)
        words = re.findall(r"[-\w.+]+", values)
        found.setdefault(method, []).append([_TRUTH.get(word) or float(word) for word in words])
    return found


def same(
    printed: str,
    names: dict[str, str],
    without: tuple[str, ...] = (),
    halves: float = 0.5,
    bfloats: float = 0.5,
) -> None:
    """`names`: methods of the program by their names in the language, where these differ; `without`: what the language
    lacks; `halves`, `bfloats`: what a float16 and a bfloat16 of 0.5 are there."""
    found = {names.get(name, name): values for name, values in numbers(printed).items()}
    assert set(found) == set(EXPECTED) - set(without)
    labeled = "".join(line for line in printed.splitlines() if line.startswith("ranked labeled "))
    places = [labeled.find(LABELS[number]) for number in (1, 2, 0)]  # in the order of scores
    assert places == sorted(places) and places[0] > 0, labeled
    for name, wanted in EXPECTED.items():
        if name in without:
            continue
        if name == "types":
            wanted = [*wanted[:5], [halves] * 3, *wanted[6:]]
        if name == "halves":
            wanted = [[bfloats] * 3]
        assert found[name] == wanted, name
