# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance: stand-ins of the SDK's modules keep graphs, which the evaluator runs."""

from executorch.backends.samsung.quantizer import EnnQuantizer
from executorch.backends.samsung.test.stand_in import backend

BACKENDS = [backend(), backend(EnnQuantizer)]
