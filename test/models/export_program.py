# SPDX-License-Identifier: BSD-3-Clause
"""Writes test programs: `python -m test.models.export_program --modules ModuleAddMul --outdir .` gives
ModuleAddMul.pte, or with --external-constants ModuleAddMulProgram.pte and ModuleAddMulProgram.ptd."""

from __future__ import annotations

import argparse
import functools
import os

import torch
from torch.export import ExportedProgram, export

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, to_edge
from executorch.test.models.modules import MODULES, TestModule


class _Method(torch.nn.Module):
    """One method of a module as a module's forward."""

    def __init__(self, module: TestModule, name: str) -> None:
        super().__init__()
        self.module = module
        self.name = name

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        return getattr(self.module, self.name)(*args)


def _export(module: TestModule, method: str) -> ExportedProgram:
    target = module if method == "forward" else _Method(module, method)
    return export(target, module.example_inputs(), dynamic_shapes=module.dynamic_shapes)


def export_module(name: str, external_constants: bool = False) -> ExecutorchProgramManager:
    """The program of the module `name`; its constants in a data file named after it if so wished."""
    module = MODULES[name]().eval()
    with torch.no_grad():
        programs = {method: _export(module, method) for method in module.methods}
    tag = functools.partial(lambda tag, node: tag, f"{name}Program")
    config = ExecutorchBackendConfig(external_constants=tag if external_constants else False)
    return to_edge(programs).to_executorch(config)


def write_module(name: str, outdir: str, external_constants: bool = False) -> list[str]:
    """Writes the files and gives their paths."""
    os.makedirs(outdir, exist_ok=True)
    program = export_module(name, external_constants)
    stem = os.path.join(outdir, f"{name}Program" if external_constants else name)
    program.save(f"{stem}.pte")
    program.write_tensor_data_to_file(outdir)
    return [path for path in (f"{stem}.pte", f"{stem}.ptd") if os.path.exists(path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--modules", required=True, help=f"names with commas between; known: {', '.join(MODULES)}"
    )
    parser.add_argument(
        "--external-constants", action="store_true", help="constants in a .ptd file"
    )
    parser.add_argument("--outdir", required=True, help="folder for the files; made if missing")
    args = parser.parse_args()
    names = [name.strip() for name in args.modules.split(",") if name.strip()]
    unknown = sorted(set(names) - set(MODULES))
    if unknown:
        parser.error(f"unknown modules {unknown}; known: {', '.join(MODULES)}")
    for name in names:
        for path in write_module(name, args.outdir, args.external_constants):
            print(f"wrote {path} ({os.path.getsize(path)} bytes)")


if __name__ == "__main__":
    main()
