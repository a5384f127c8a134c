# SPDX-License-Identifier: BSD-3-Clause
"""Turns the op tables of kernel libraries into registration code and declarations."""
