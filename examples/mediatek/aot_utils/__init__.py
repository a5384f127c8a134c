# SPDX-License-Identifier: BSD-3-Clause
"""Programs for MediaTek's NPUs."""
