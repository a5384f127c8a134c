# SPDX-License-Identifier: BSD-3-Clause
"""A program for NVIDIA's GPUs."""
