# SPDX-License-Identifier: BSD-3-Clause
"""What is called when programs are loaded and first run lies together in the library that Python loads."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower
from executorch.test.e2e.build_tree import binary
from tools.bench.start_order import LIST, called, functions, start_section, update

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the order is for Linux")


def test_the_list_takes_what_lies_apart_and_drops_what_is_not_there() -> None:
    known = {"xnn_kept", "xnn_new", "_Z3newv", "PyThing", "_ZN8pybind116handleE"}
    assert update({"xnn_kept", "xnn_gone"}, known - {"xnn_kept"}, known) == [
        "_Z3newv",
        "xnn_kept",
        "xnn_new",
    ]


@needs_runtime
@on_linux
def test_listed_functions_lie_together() -> None:
    from executorch.extension.pybindings import _portable_lib

    # an installed one has no names of its functions
    library = binary(f"extension/pybindings/{Path(_portable_lib.__file__).name}")
    start = start_section(library)
    listed = set(LIST.read_text().split())
    places = [address for address, name in functions(library).items() if name in listed]
    together = sum(place in start for place in places)
    # The compiler may put one of them in line, and keeps those apart that end in an abort.
    assert together > 0.95 * len(places) > 0.8 * len(listed)


@needs_runtime
@on_linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="its breakpoints are of x86-64")
def test_functions_called_are_seen(tmp_path: Path) -> None:
    exported = torch.export.export(torch.nn.Linear(8, 8), (torch.ones(2, 8),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    program = tmp_path / "linear.pte"
    manager.to_executorch().save(str(program))
    found = called([program])
    hit, known = found.names(), set(found.functions.values())
    assert {"xnn_create_fully_connected_nc_f32", "xnn_create_runtime_v4"} <= hit <= known
    assert "xnn_create_convolution2d_nhwc_f32" in known - hit
    assert found.apart() < hit
