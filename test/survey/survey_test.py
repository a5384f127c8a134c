# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch users write works, or exporting says why not: no program fails when it is loaded or run."""

from __future__ import annotations

import re

import pytest

from executorch.test.survey.row import Row
from executorch.test.survey.survey import BACKENDS, ORDERS, ROWS, in_order, outcome

# Rows that exporting refuses, and what it names.
REFUSED = {
    "FractionalMaxPool2d() [2, 4, 8, 10]": r"aten::fractional_max_pool2d",
    "mode": r"aten::mode\.values",
    "histc": r"aten::histc",
    "bincount": r"sizes without an upper bound: aten_bincount",
    "special": r"aten::digamma[^$]*aten::lgamma",
    "erfinv": r"aten::erfinv",
    "special bessel": r"aten::i0",
    "gcd lcm": r"aten::gcd[^$]*aten::lcm",
    "nextafter": r"aten::nextafter",
    "matrix_exp": r"aten::linalg_matrix_exp",
    "qr": r"aten::linalg_qr",
    "svd": r"aten::_linalg_svd",
    "svdvals": r"aten::_linalg_svd",
    "eigh": r"aten::_linalg_eigh",
    "eigvals": r"aten::linalg_eig",
    "pinv": r"aten::linalg_pinv",
    "matrix_rank": r"aten::_linalg_svd",
    "lu": r"aten::linalg_lu",
}
# torch.export itself takes these not.
NOT_EXPORTED = {
    "GaussianNLLLoss() of 3",
    "CTCLoss() of 4",
    "cov corrcoef",
    "cartesian_prod combinations",
    "lstsq",
}
OTHER_ORDERS = [order for order in ORDERS if order != "plain"]
SAMPLE = 6  # every sixth row in the usual tests, all in test-full


def check(row: Row, backend: str) -> None:
    found = outcome(row, backend)
    if row.name in REFUSED:
        assert found.kind == "speaks", found
        assert re.search(REFUSED[row.name], found.text), found.text
        assert 'File "' in found.text, "no line of the user's"
    elif row.name in NOT_EXPORTED:
        assert found.kind == "torch", found
    else:
        assert found.kind == "works", found


@pytest.mark.parametrize("row", ROWS[::SAMPLE], ids=lambda row: row.name)
def test_a_sample_works_or_is_refused(row: Row) -> None:
    check(row, "portable")


@pytest.mark.parametrize("row", ROWS[3 :: 4 * SAMPLE], ids=lambda row: row.name)
def test_a_sample_works_delegated(row: Row) -> None:
    check(row, "xnnpack")


def check_order(row: Row, backend: str, order: str) -> None:
    """Some views of another order torch.export itself refuses."""
    found = outcome(in_order(row, order), backend)
    assert found.kind in ("works", "speaks", "torch"), found


@pytest.mark.parametrize("order", OTHER_ORDERS)
@pytest.mark.parametrize("row", ROWS[5 :: 6 * SAMPLE], ids=lambda row: row.name)
def test_a_sample_works_whatever_the_order_in_memory(row: Row, order: str) -> None:
    for backend in BACKENDS:
        check_order(row, backend, order)


@pytest.mark.full
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", OTHER_ORDERS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_works_whatever_the_order_in_memory(row: Row, order: str, backend: str) -> None:
    check_order(row, backend, order)


@pytest.mark.full
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_works_or_is_refused(row: Row, backend: str) -> None:
    check(row, backend)


def test_the_exceptions_are_rows() -> None:
    names = {row.name for row in ROWS}
    assert len(names) == len(ROWS), "two rows of one name"
    assert REFUSED.keys() | NOT_EXPORTED <= names
