# SPDX-License-Identifier: BSD-3-Clause
"""The C++ runtime in Python."""
