# SPDX-License-Identifier: BSD-3-Clause
"""Documented scripts of open models."""
