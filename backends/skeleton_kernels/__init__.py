# SPDX-License-Identifier: BSD-3-Clause
"""The smallest whole backend that is kernels, to be copied."""
