# SPDX-License-Identifier: BSD-3-Clause
"""What the backend is, for all who ask: commands, recipes, tests, pages."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="cortex_m",
        runs_on="Arm Cortex-M CPUs",
        tried_with="QEMU: Cortex-M3, M33 and M55",
        passes="passes.cortex_m_pass_manager:edge_passes",
        edge_config="passes.edge_config:edge_config",
        quantizer="quantizer.quantizer:CortexMQuantizer",
        operators=OperatorPage(table="passes.table:TABLE", dtypes="int8"),
    ),
)
