# SPDX-License-Identifier: BSD-3-Clause
"""The flows of each backend, in a module of its name."""
