# SPDX-License-Identifier: BSD-3-Clause
"""Programs with test cases: inputs, and the outputs that are expected of them."""
