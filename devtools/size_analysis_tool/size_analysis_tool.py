# SPDX-License-Identifier: BSD-3-Clause
"""What a lowered program is made of, in bytes. `python -m executorch.devtools explain` says more, of a file.

python -m executorch.devtools.size_analysis_tool.size_analysis_tool --etrecord_path model.etrecord
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.devtools.inspector._graphs import one_method
from executorch.exir.graph_facts import data_specs, holder_of
from executorch.exir.lowered_backend_module import LoweredBackendModule
from executorch.exir.program._etrecord import parse_etrecord

Deserializers = dict[str, Callable[[bytes], dict[str, Any]]]


def generate_model_size_information(
    model: ExportedProgram,
    delegate_deserializers: Deserializers | None = None,
    flatbuffer: bytes | None = None,
) -> dict[str, Any]:
    """Sizes in bytes: `tensor_data` (data that the graph reads, largest first), `delegate_blob_data` (what
    `delegate_deserializers`, by backend, says of a blob is added to its row) and `overview`, the sums; with the bytes
    of the program file also what of it is neither."""
    tensors = sorted(_tensors(model), key=lambda row: -row["num_bytes"])
    blobs = [
        {"name": name, "backend_id": module.backend_id, "num_bytes": len(module.processed_bytes)}
        | (delegate_deserializers or {}).get(module.backend_id, lambda _: {})(
            module.processed_bytes
        )
        for name, module in model.graph_module.named_modules()
        if isinstance(module, LoweredBackendModule)
    ]
    overview = {
        "total_tensor_data_size": sum(row["num_bytes"] for row in tensors),
        "total_delegate_blob_data_size": sum(row["num_bytes"] for row in blobs),
    }
    if flatbuffer is not None:
        overview["serialization_metadata_size"] = len(flatbuffer) - sum(overview.values())
        overview["model_size"] = len(flatbuffer)
    return {"tensor_data": tensors, "delegate_blob_data": blobs, "overview": overview}


def _tensors(model: ExportedProgram) -> list[dict[str, Any]]:
    found = []
    for node, spec in data_specs(model).items():
        tensor = holder_of(model, spec.target).get(spec.target)
        if isinstance(tensor, torch.Tensor):
            found.append(_row(node.name, tensor, node.meta.get("nn_module_stack")))
    return found


def _row(name: str, tensor: torch.Tensor, modules: Any) -> dict[str, Any]:
    return {
        "name": name,
        "numel": tensor.numel(),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "element_size": tensor.element_size(),
        "shape": list(tensor.shape),
        "num_bytes": tensor.numel() * tensor.element_size(),
        "nn_module_stack": modules,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What a program is made of, in bytes.")
    parser.add_argument("--etrecord_path", type=Path, required=True, help="the record of the model")
    parser.add_argument(
        "--output_path",
        type=Path,
        default=Path("model_size_information.json"),
        help="the JSON file",
    )
    options = parser.parse_args()
    program = one_method(parse_etrecord(options.etrecord_path).edge_dialect_program)
    if program is None:
        parser.error(
            f"{options.etrecord_path}: expected a record with an edge program of one method, or of forward"
        )
    sizes = generate_model_size_information(program)
    options.output_path.write_text(json.dumps(sizes, indent=2, default=str))


if __name__ == "__main__":
    main()
