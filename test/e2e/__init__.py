# SPDX-License-Identifier: BSD-3-Clause
"""Example programs from PyTorch to both runtimes, compared with eager."""
