# SPDX-License-Identifier: BSD-3-Clause
"""Program files of earlier releases, frozen."""
