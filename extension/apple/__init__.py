# SPDX-License-Identifier: BSD-3-Clause
"""Swift and Objective-C over the C interface, and their tests."""
