# SPDX-License-Identifier: BSD-3-Clause
"""Devices by wire: stand-ins for their programs, and emulators."""
