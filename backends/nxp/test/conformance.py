# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance. A stand-in for NXP's converter keeps TFLite models, which LiteRT runs."""

from executorch.backends.nxp.test.stand_in import backend, use_stand_in

use_stand_in()
BACKENDS = [backend()]
