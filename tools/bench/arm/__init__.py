# SPDX-License-Identifier: BSD-3-Clause
"""What programs cost on 64-bit Arm processors, counted in instructions under an emulator."""
