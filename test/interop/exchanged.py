# SPDX-License-Identifier: BSD-3-Clause
"""Examples as both sides have them: exported, and lowered by the upstream wheel, each made once (program_store.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from executorch.examples.models import make_example
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.interop import peer

MODELS = ("examples/models",)
PEER = (*MODELS, "test/interop")
Row = tuple[str, bool]  # an example's name, and whether its sizes vary


class Exported:
    """The methods of an example, as files and as programs."""

    def __init__(self, store: ProgramStore, row: Row) -> None:
        name, dynamic = row
        self.made: dict[str, torch.export.ExportedProgram] = {}

        def make(folder: Path) -> None:
            self.made = make_example(name, dynamic).export()
            for method, program in self.made.items():
                torch.export.save(program, folder / f"{method}.pt2")

        folder = store.folder(f"exported/{name}", make, MODELS, dynamic=dynamic)
        self.files = {path.stem: path for path in sorted(folder.glob("*.pt2"))}

    def programs(self) -> dict[str, torch.export.ExportedProgram]:
        return self.made or {name: torch.export.load(path) for name, path in self.files.items()}


def label(row: Row) -> str:
    return row[0] + ("-dynamic" if row[1] else "")


def lowered_there(
    store: ProgramStore,
    exported: dict[Row, Exported],
    version: str,
    partitioner: str | None = None,
    with_data: Sequence[Row] = (),
) -> Path:
    """A folder with `<label>.pte` of each, and for those with data `<label>/model.pte` and its data beside it. The peer
    lowers all of them in one process, as it takes seconds to start."""

    def make(folder: Path) -> None:
        jobs = []
        for row, example in exported.items():
            out = folder / f"{label(row)}.pte"
            jobs.append(peer.lower_job(example.files, out, partitioner=partitioner))
        for row in with_data:
            (folder / label(row)).mkdir()
            out = folder / label(row) / "model.pte"
            jobs.append(peer.lower_job(exported[row].files, out, external_constants=True))
        peer.do(jobs, folder, version)
        for job in jobs:
            peer.result(Path(job["out"]))

    rows, data = ("+".join(map(label, each)) for each in (exported, with_data))
    options = {"version": version, "data": data, "partitioner": partitioner or ""}
    return store.folder("lowered there", make, PEER, rows=rows, **options)
