# SPDX-License-Identifier: BSD-3-Clause
"""Qualcomm: runners, and scripts of models."""
