# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest: which requirement rows a test proves goes into its result file (--junitxml)."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        rows = dict.fromkeys(row for mark in item.iter_markers("req") for row in mark.args)
        if rows:
            item.user_properties.append(("req", " ".join(rows)))
            if item.get_closest_marker("full"):
                item.user_properties.append(("full", "yes"))
