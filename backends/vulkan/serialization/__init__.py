# SPDX-License-Identifier: BSD-3-Clause
"""The payload's format under the names that users import."""
