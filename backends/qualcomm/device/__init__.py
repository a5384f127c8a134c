# SPDX-License-Identifier: BSD-3-Clause
"""From models to runs on a phone, or on this computer: configuration, binaries, adb."""
