# SPDX-License-Identifier: BSD-3-Clause
# compat
"""What reads the converter's results, under its documented name."""

from __future__ import annotations

from pathlib import Path

from executorch.backends.nxp.aot.converted import NeutronNodeArtifacts, artifacts_in

__all__ = ["NeutronNodeArtifacts", "extract_artifacts_from_neutron_node"]


def extract_artifacts_from_neutron_node(tflite_model: bytes | str | Path) -> NeutronNodeArtifacts:
    """Of a model's bytes, or of its file."""
    is_path = isinstance(tflite_model, str | Path)
    return artifacts_in(Path(tflite_model).read_bytes() if is_path else bytes(tflite_model))
