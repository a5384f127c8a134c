# SPDX-License-Identifier: BSD-3-Clause
"""Arm: TOSA, Ethos-U and VGF."""
