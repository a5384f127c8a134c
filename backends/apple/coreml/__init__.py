# SPDX-License-Identifier: BSD-3-Clause
"""Core ML's backend."""
