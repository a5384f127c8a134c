# SPDX-License-Identifier: BSD-3-Clause
"""Every operator of every kernel library against eager PyTorch."""
