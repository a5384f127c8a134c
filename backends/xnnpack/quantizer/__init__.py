# SPDX-License-Identifier: BSD-3-Clause
"""Quantizers of the XNNPACK backend."""
