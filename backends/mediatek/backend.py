# SPDX-License-Identifier: BSD-3-Clause
"""What MediaTek's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="mediatek",
        runs_on="NPUs of Dimensity 9300, 9400 and 9500; converter and compiler are the maker's",
        tried_with="stand-ins of the maker's modules and library, which record what they are asked",
        id="NeuropilotBackend",
        partitioner="partitioner:default_partitioner",
        quantizer="quantizer:NeuropilotQuantizer",
        needs=("mtk_converter", "mtk_neuron"),
        get_sdk="the wheels mtk_converter and mtk_neuron are in MediaTek's NeuroPilot Express SDK",
        is_installed=False,
    ),
)
