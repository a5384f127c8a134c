# SPDX-License-Identifier: BSD-3-Clause
"""The inputs of a program: which sizes it takes, and the values that a command runs it on."""
