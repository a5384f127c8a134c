# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks that compare with eager PyTorch and with the upstream wheel in the same run."""
