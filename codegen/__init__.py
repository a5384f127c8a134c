# SPDX-License-Identifier: BSD-3-Clause
"""Turns the op tables of kernel libraries into registration code and declarations.

Imports inside are relative: build files run it as `codegen` from the tree, before `executorch` can be imported.
"""
