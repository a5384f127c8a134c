# SPDX-License-Identifier: BSD-3-Clause
"""The Core ML models of a program, as .mlpackage folders for Xcode and coremltools:
`python -m executorch.examples.apple.coreml.scripts.extract_coreml_models -m model.pte`."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from executorch.backends.apple.coreml.executorchcoreml import unflatten_directory_contents
from executorch.backends.apple.coreml.payload_reader import BACKEND_ID, shared_model
from executorch.devtools.commands.program_file import ProgramFile

FOLDER = Path("extracted_coreml_models")


def models(file: ProgramFile) -> Iterator[tuple[str, bytes]]:
    """A folder's name and a flattened directory for each model; one that several delegates share comes once."""
    shared = {each.key: each.segment_index for each in file.program.named_data or []}
    seen: set[str] = set()
    delegates = [
        each
        for plan in file.program.execution_plan
        for each in plan.delegates
        if each.id == BACKEND_ID
    ]
    for number, delegate in enumerate(delegates, 1):
        payload = file.payload(delegate)
        record = shared_model(payload)
        if record is None:
            yield f"model_{number}", payload
            continue
        key = record["key"]
        if key in seen:
            continue
        seen.add(key)
        if key not in shared:
            print(f"Warning: Named data key '{key}' not found in program")
            continue
        offset, size = file.place(shared[key])
        yield Path(key).name, file.data[offset : offset + size]


def extract_coreml_models(pte_data: bytes, out_dir: Path | str | None = None) -> list[Path]:
    """Writes each model below `out_dir` (extracted_coreml_models), over what is there; gives the packages."""
    root = Path(out_dir or FOLDER)
    packages = []
    for name, blob in models(ProgramFile(Path("program.pte"), pte_data)):
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        unflatten_directory_contents(blob, str(folder))
        packages += sorted(each for each in folder.glob("*/model.mlmodelc"))
        packages += sorted(each for each in folder.glob("*/model.mlpackage"))
    if packages:
        print(f"Core ML models are extracted and saved to path = {root}")
    else:
        print("The model isn't delegated to Core ML.")
    return packages


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-m", "--model_path", required=True, type=Path, help="a .pte file")
    args = parser.parse_args(argv)
    extract_coreml_models(args.model_path.read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
