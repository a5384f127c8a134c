# SPDX-License-Identifier: BSD-3-Clause
"""Which values are quantized."""
