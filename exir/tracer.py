# SPDX-License-Identifier: BSD-3-Clause
"""Options of the historic capture; programs are captured by torch.export."""

from dataclasses import dataclass


@dataclass
class ExirDynamoConfig:
    allow_rnn: bool = True
    verbose: bool = True
    assume_static_by_default: bool = False
