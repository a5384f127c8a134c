# SPDX-License-Identifier: BSD-3-Clause
"""What users install: the wheel and the CMake package."""
