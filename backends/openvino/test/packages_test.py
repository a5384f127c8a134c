# SPDX-License-Identifier: BSD-3-Clause
"""Without OpenVINO's and NNCF's packages: what imports, and what errors say."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest
import torch

from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.lowering.external.compiler import MissingCompiler

WITHOUT = """
import sys
for name in ("openvino", "nncf"):
    sys.modules[name] = None  # importing it is an ImportError
import executorch.backends.openvino as backend
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.preprocess import OpenvinoBackend
from executorch.backends.openvino.quantizer import OpenVINOQuantizer, QuantizationMode
assert backend.OpenvinoPartitioner is OpenvinoPartitioner
assert len(QuantizationMode) == 7
OpenvinoPartitioner([], {"aten.relu.default"})
"""


def test_importing_needs_neither() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name in ("openvino", "nncf"):
            raise metadata.PackageNotFoundError(name)
        return found(name)

    found = metadata.version
    monkeypatch.setattr(metadata, "version", version)


def test_an_export_names_the_extra(without_packages: None) -> None:
    from executorch.backends.openvino import OpenvinoPartitioner

    exported = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    with pytest.raises(
        MissingCompiler,
        match=r"openvino .*found none; pip install 'openvino>=2025.4,<2027' \(the extra openvino\)",
    ):
        to_edge_transform_and_lower(exported, partitioner=[OpenvinoPartitioner([])])


def test_the_quantizer_names_its_extra(without_packages: None) -> None:
    from executorch.backends.openvino import OpenVINOQuantizer

    message = r"nncf .*pip install 'nncf>=3.1,<4' \(the extra openvino-nncf\)"
    with pytest.raises(ImportError, match=message):
        OpenVINOQuantizer()
