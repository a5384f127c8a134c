# SPDX-License-Identifier: BSD-3-Clause
"""Which copies between host and device a method makes at its borders."""

from dataclasses import dataclass


@dataclass
class PropagateDeviceConfig:
    """A bool for all inputs (outputs), or one per method name; True: the caller hands over device memory."""

    skip_h2d_for_method_inputs: bool | dict[str, bool] = False
    skip_d2h_for_method_outputs: bool | dict[str, bool] = False
