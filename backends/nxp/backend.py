# SPDX-License-Identifier: BSD-3-Clause
"""What NXP's backend is. Documents name modules of a package `backend`: this is it, too."""

from pathlib import Path

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

__path__ = [str(Path(__file__).with_suffix(""))]

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="nxp",
        runs_on="eIQ Neutron NPUs of i.MX RT700; the converter is the maker's",
        tried_with="TFLite models run in LiteRT; no converter, no NPU",
        id="NeutronBackend",
        partitioner="neutron_partitioner:NeutronPartitioner",
        quantizer="quantizer.neutron_quantizer:NeutronQuantizer",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="int8"),
        needs=("eiq_neutron_sdk",),
        get_sdk="pip install --index-url $EIQ_PYPI_URL 'eiq-neutron-sdk>=3.1,<4', from NXP's index of packages",
        is_installed=False,
    ),
)
