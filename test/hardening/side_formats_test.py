# SPDX-License-Identifier: BSD-3-Clause
"""Corrupted ETDumps, records, bundled programs and payloads of delegates: readers in Python refuse them with an
exception, or read them."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.serialization.graph import deserialize
from executorch.devtools import BundledProgram, Inspector, parse_etrecord
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.runtime import Runtime
from executorch.test.hardening.mutants import mutants

GIVEN = os.environ.get("EXECUTORCH_MUTANTS")
COUNT = int(GIVEN) * 10 if GIVEN else 1000
RECORDS = COUNT if GIVEN else 100  # they take longer


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int) -> torch.Tensor:
        return torch.relu(x) * 2 + count


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("side")
    x = torch.arange(6.0).reshape(2, 3)
    program = to_edge(torch.export.export(Model(), (x, 3)), generate_etrecord=True).to_executorch()
    made = {name: folder / name for name in ("dump", "values", "record", "bundle")}
    program.get_etrecord().save(made["record"])
    case = MethodTestCase([x, 3], [Model()(x, 3)])
    bundle = BundledProgram(program, [MethodTestSuite("forward", [case])])
    made["bundle"].write_bytes(serialize_from_bundled_program_to_flatbuffer(bundle))
    loaded = Runtime.get().load_program(
        program.buffer, enable_etdump=True, debug_buffer_size=1 << 16
    )
    for _ in range(2):
        loaded.load_method("forward").execute((x, 3))
    loaded.write_etdump_result_to_file(made["dump"], made["values"])
    return made


def try_mutants(data: bytes, read: Callable[[bytes], object], count: int) -> Counter[str]:
    verdicts: Counter[str] = Counter()
    for mutant in mutants(data, count, seed=5):
        try:
            read(mutant)
            verdicts["read"] += 1
        except (ValueError, AssertionError):
            verdicts["refused"] += 1
    return verdicts


def test_corrupted_dumps(files: dict[str, Path]) -> None:
    def read(data: bytes) -> None:
        inspector = Inspector(etdump_data=data, debug_buffer_path=str(files["values"]))
        inspector.to_dataframe()

    verdicts = try_mutants(files["dump"].read_bytes(), read, COUNT)
    assert verdicts["refused"] > COUNT // 10 and sum(verdicts.values()) == COUNT


def test_corrupted_bundles(files: dict[str, Path]) -> None:
    data = files["bundle"].read_bytes()
    verdicts = try_mutants(data, deserialize_from_flatbuffer_to_bundled_program, COUNT)
    assert verdicts["refused"] > COUNT // 10 and sum(verdicts.values()) == COUNT


def test_corrupted_records(files: dict[str, Path]) -> None:
    """A record is a zip archive of PyTorch's formats: what is refused there may have any type of exception."""
    refused = 0
    for mutant in mutants(files["record"].read_bytes(), RECORDS, seed=6):
        try:
            parse_etrecord(io.BytesIO(mutant))
        except Exception:
            refused += 1
    assert refused > RECORDS // 10


def test_corrupted_payloads() -> None:
    """A graph of a backend's own schema, behind its header."""
    layers = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(), torch.nn.Softmax(1))
    exported = torch.export.export(layers, (torch.randn(1, 2, 5, 5),))
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (module,) = get_lowered_backend_modules(lowered.exported_program().graph_module)
    payload = module.processed_bytes
    assert deserialize(payload).xnodes
    verdicts = try_mutants(payload, deserialize, COUNT)
    assert verdicts["refused"] > COUNT // 10 and sum(verdicts.values()) == COUNT
