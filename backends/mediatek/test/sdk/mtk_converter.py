# SPDX-License-Identifier: BSD-3-Clause
"""In the place of MediaTek's converter, for tests: writes down what it is asked, and gives the names of operators as
its MLIR. `refused`: operators that it does not take, or cannot convert. `kept`: where it is a table, MLIR ends with
as many zeros as it has data, and the key that its program has there."""

from __future__ import annotations

import hashlib
import sys
from typing import Any, ClassVar

import torch

LOG: list[Any] = []
refused: set[str] = set()
unconverted: set[str] = set()
kept: dict[str, torch.export.ExportedProgram] | None = None
__version__ = "8.13.0"


def is_fx_node_supported(node: torch.fx.Node) -> bool:
    name = _name(node)
    LOG.append(["is_fx_node_supported", name])
    return name not in refused and not _is_unknown(name)


class PyTorchV2Converter:
    """Its attributes are the options."""

    names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_exported_program(cls, program: torch.export.ExportedProgram) -> PyTorchV2Converter:
        made = cls()
        calls = [node for node in program.graph.nodes if node.op == "call_function"]
        names = tuple(map(_name, calls))
        if kept is not None:
            made_of = _data(program)
            key = hashlib.sha256(program.graph_module.code.encode() + made_of).hexdigest()
            kept[key] = program
            names = (*names, "0" * len(made_of), f"#{key}")
        object.__setattr__(made, "names", names)
        LOG.append(["from_exported_program", list(made.names)])
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        LOG.append(["set", name, value])
        object.__setattr__(self, name, value)

    def convert_to_mlir(self) -> bytes:
        LOG.append(["convert_to_mlir"])
        print("the converter's progress")
        found = {each for each in self.names if each in unconverted or _is_unknown(each)}
        if found:
            raise RuntimeError(f"trace\ncannot convert {', '.join(sorted(found))}")
        return " ".join(self.names).encode()


def _is_unknown(name: str) -> bool:
    """Operators that only tests have."""
    return "conformance" in name


def _data(program: torch.export.ExportedProgram) -> bytes:
    every = (*program.state_dict.values(), *program.constants.values())
    return b"".join(
        each.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes() for each in every
    )


def _name(node: torch.fx.Node) -> str:
    return getattr(node.target, "__name__", str(node.target))


# Modules of its packages are this one.
__path__: list[str] = []
python = converters = pytorch = importer_v2 = sys.modules[__name__]
for _inner in (
    "python",
    "python.converters",
    "python.converters.pytorch",
    "python.converters.pytorch.importer_v2",
):
    sys.modules[f"{__name__}.{_inner}"] = sys.modules[__name__]
