# SPDX-License-Identifier: BSD-3-Clause
"""Inverses, determinants, systems of equations, for small matrices: elimination, written out step by step."""

from __future__ import annotations

import torch

from executorch.exir.decompositions.sizes import CannotDecompose, static

aten = torch.ops.aten
Tensor = torch.Tensor
_MAX = 16  # rows; each is a dozen instructions


def _rows_of(matrix: Tensor) -> int:
    if not matrix.dtype.is_floating_point:
        raise CannotDecompose(f"linear algebra of {matrix.dtype}")
    return static(matrix.shape[-1], _MAX)


def _eliminated(matrix: Tensor, right: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gauss and Jordan with partial pivoting: the inverse of `matrix` times `right`; the pivots, [..., n]; and the sign
    of the rows' permutation."""
    n = _rows_of(matrix)
    work = torch.cat([matrix, right], -1)
    rows = torch.arange(n)
    pivots = []
    sign = torch.ones_like(matrix.select(-1, 0).select(-1, 0))
    for k in range(n):
        column = work.select(-1, k).abs()
        best = torch.where(rows >= k, column, -1.0).argmax(-1, True)  # [..., 1]
        order = torch.where(rows == k, best, torch.where(rows == best, k, rows))
        work = work.gather(-2, order.unsqueeze(-1).expand(work.shape))
        sign = torch.where(best.squeeze(-1) == k, sign, -sign)
        pivot = work.select(-1, k).select(-1, k)
        pivots.append(pivot)
        row = work.select(-2, k) / pivot.unsqueeze(-1)
        rest = work - work.select(-1, k).unsqueeze(-1) * row.unsqueeze(-2)
        work = torch.where((rows == k).unsqueeze(-1), row.unsqueeze(-2), rest)
    return aten.slice(work, -1, n), torch.stack(pivots, -1), sign


def _no_error(matrix: Tensor) -> Tensor:
    return torch.zeros(matrix.shape[:-2], dtype=torch.int32)


def _inv_ex(A: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    ones = torch.eye(_rows_of(A), dtype=A.dtype).expand(A.shape)
    return _eliminated(A, ones)[0], _no_error(A)


def _solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    is_vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    if not left:
        raise CannotDecompose("solve with left=False")
    right = B.unsqueeze(-1) if is_vector else B
    batch = torch.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    found = _eliminated(
        A.expand([*batch, *A.shape[-2:]]), right.expand([*batch, *right.shape[-2:]])
    )[0]
    found = found.squeeze(-1) if is_vector else found
    # The factors are for gradients.
    return found, A, _no_error(A), _no_error(A)


def _det(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    _, pivots, sign = _eliminated(A, aten.slice(A, -1, 0, 1))
    return _product(pivots, A) * sign, A, _no_error(A)


def _product(pivots: Tensor, matrix: Tensor) -> Tensor:
    """0 where a column has no pivot: what comes after it is NaN."""
    is_singular = (pivots == 0).any(-1)
    return torch.where(is_singular, 0.0, pivots.prod(-1))


def _slogdet(A: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    _, pivots, sign = _eliminated(A, aten.slice(A, -1, 0, 1))
    is_singular = (pivots == 0).any(-1)
    size = pivots.abs().log().sum(-1)
    signs = torch.where(is_singular, 0.0, pivots.sign().prod(-1) * sign)
    return signs, torch.where(is_singular, float("-inf"), size), A, _no_error(A)


def _cholesky_ex(
    self: Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    """Column by column: what the columns before leave over, divided by the root of its diagonal element."""
    n = _rows_of(self)
    rows = torch.arange(n)
    columns: list[Tensor] = []
    left = self
    for k in range(n):
        column = left.select(-1, k)
        column = column / column.select(-1, k).sqrt().unsqueeze(-1)
        column = torch.where(rows >= k, column, 0.0)
        columns.append(column)
        left = left - column.unsqueeze(-1) * column.unsqueeze(-2)
    return torch.stack(columns, -2 if upper else -1), _no_error(self)


def _solve_triangular(
    self: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Row by row, from the one with a single unknown."""
    if not left:
        turned = _solve_triangular(
            self.mT, B.mT, upper=not upper, left=True, unitriangular=unitriangular
        )
        return turned.mT
    n = _rows_of(self)
    found: dict[int, Tensor] = {}
    for k in reversed(range(n)) if upper else range(n):
        row = B.select(-2, k)
        coefficients = self.select(-2, k)
        for other, value in found.items():
            row = row - coefficients.select(-1, other).unsqueeze(-1) * value
        if not unitriangular:
            row = row / coefficients.select(-1, k).unsqueeze(-1)
        found[k] = row
    return torch.stack([found[k] for k in range(n)], -2)


def _cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    lower = input2.mT if upper else input2
    half = _solve_triangular(lower, self, upper=False)
    return _solve_triangular(lower.mT, half, upper=True)


LINEAR_ALGEBRA = {
    aten.linalg_inv_ex.default: _inv_ex,
    aten._linalg_solve_ex.default: _solve_ex,
    aten._linalg_det.default: _det,
    aten._linalg_slogdet.default: _slogdet,
    aten.linalg_cholesky_ex.default: _cholesky_ex,
    aten.linalg_solve_triangular.default: _solve_triangular,
    aten.cholesky_solve.default: _cholesky_solve,
}
