# SPDX-License-Identifier: BSD-3-Clause
"""What a user knows of a model that its graph does not say."""

from dataclasses import dataclass


@dataclass
class CustomDelegationOptions:
    """`allow_no_op_partitions`: delegates that compute nothing, such as a reshape alone, are made, too."""

    allow_no_op_partitions: bool = False
