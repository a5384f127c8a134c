# SPDX-License-Identifier: BSD-3-Clause
"""Small models as files, for the tests of readers."""
