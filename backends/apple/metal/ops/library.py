# SPDX-License-Identifier: BSD-3-Clause
"""The library `metal`."""

import torch

LIBRARY = torch.library.Library("metal", "FRAGMENT")
