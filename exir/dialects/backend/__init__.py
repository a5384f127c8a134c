# SPDX-License-Identifier: BSD-3-Clause
"""Backend dialect: operators that exist for one backend or one fusion."""
