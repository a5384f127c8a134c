# SPDX-License-Identifier: BSD-3-Clause
"""What the backend is, for all who ask: commands, recipes, tests, pages."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="cadence",
        runs_on="Cadence DSPs",
        tried_with="generic kernels on the computer; no DSP",
        passes="aot.passes:edge_passes",
        quantizer="aot.quantizer.quantizer:CadenceDefaultQuantizer",
        operators=OperatorPage(table="aot.table:TABLE", dtypes="int8; uint8; int16"),
    ),
)
