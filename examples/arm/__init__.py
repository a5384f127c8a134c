# SPDX-License-Identifier: BSD-3-Clause
"""Models on Arm's NPUs and microcontrollers."""
