# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of the developer tools' examples."""
