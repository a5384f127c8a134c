# SPDX-License-Identifier: BSD-3-Clause
"""Every call that writes or reads a file takes a path as pathlib.Path and as str."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch import exir
from executorch.devtools import generate_etrecord, parse_etrecord
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.extension.pybindings import portable_lib
from executorch.runtime import Runtime

X = torch.randn(2, 3)


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_of_both_kinds(kind: type, tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 4).eval()
    exported = torch.export.export(model, (X,))
    edge = to_edge(exported)
    exir.save(edge.exported_program(), kind(tmp_path / "edge.pt2"))
    loaded = exir.load(kind(tmp_path / "edge.pt2"))
    torch.testing.assert_close(loaded.module()(X), model(X))

    program = to_edge(exported, generate_etrecord=True).to_executorch(
        ExecutorchBackendConfig(external_constants=lambda name: "weights")
    )
    program.save(kind(tmp_path / "model.pte"))
    program.write_tensor_data_to_file(kind(tmp_path))
    paths = kind(tmp_path / "model.pte"), kind(tmp_path / "weights.ptd")
    (output,) = portable_lib._load_for_executorch(*paths).forward([X])
    torch.testing.assert_close(output, model(X))

    program.get_etrecord().save(kind(tmp_path / "kept.bin"))
    generate_etrecord(kind(tmp_path / "made.bin"), edge, edge.to_executorch())
    for name in ("kept.bin", "made.bin"):
        assert parse_etrecord(kind(tmp_path / name)).edge_dialect_program is not None

    edge.to_executorch().save(kind(tmp_path / "whole.pte"))
    method = Runtime.get().load_program(kind(tmp_path / "whole.pte")).load_method("forward")
    torch.testing.assert_close(method.execute([X])[0], model(X))
