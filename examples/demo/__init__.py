# SPDX-License-Identifier: BSD-3-Clause
"""What `make demo` runs."""
