# SPDX-License-Identifier: BSD-3-Clause
"""Arm's backends: Ethos-U and VGF, ahead of time."""

from executorch.exir.backend.lowering.manifest import BackendManifest

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="ethosu",
        id="EthosUBackend",
        partitioner="ethosu.partitioner:EthosUPartitioner",
        flows="test.flows:FLOWS",
    ),
    BackendManifest(
        package=__package__,
        name="vgf",
        id="VgfBackend",
        partitioner="vgf.partitioner:VgfPartitioner",
        flows="test.flows:FLOWS",
    ),
)
