# SPDX-License-Identifier: BSD-3-Clause
"""The C interface, and bindings over it."""
