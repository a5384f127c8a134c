# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA's GPUs by AOTInductor: the ahead-of-time half."""
