# SPDX-License-Identifier: BSD-3-Clause
"""What tests of backends share: graphs made by hand, a tester that goes stage by stage, a suite of operators."""
