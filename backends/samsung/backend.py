# SPDX-License-Identifier: BSD-3-Clause
"""What Samsung's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="samsung",
        runs_on="NPUs of Exynos 2500 and 2600; the SDK is the maker's",
        tried_with="stand-ins of the SDK's modules and library, which record what they are asked",
        id="EnnBackend",
        partitioner="partition.enn_partitioner:EnnPartitioner",
        quantizer="quantizer.quantizer:EnnQuantizer",
        operators=OperatorPage(
            table="aot.ops:TABLE",
            dtypes="fp32, fp16; int8",
            path="samsung-op-support-table.csv",
        ),
        needs=("executorch.backends.samsung.python.PyEnnWrapperAdaptor",),
        get_sdk="the modules are built with Samsung's Exynos AI LiteCore",
        is_installed=False,
    ),
)
