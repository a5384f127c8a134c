# SPDX-License-Identifier: BSD-3-Clause
"""Rows: linear algebra, spectra, complex numbers, control flow, dynamic sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.while_loop import while_loop

from executorch.backends.test.corpus.row import Row, integers, numbers, row, varying

X, B = numbers(4, 6), numbers(2, 3, 3)
SQUARE = numbers(4, 4) + 4 * torch.eye(4)
SPD = SQUARE @ SQUARE.T + torch.eye(4)
LINE = numbers(2, 16)
Z = torch.complex(numbers(3, 4), numbers(3, 4) + 1)

PRODUCTS: list[Row] = [
    row("matmul", lambda x: (x @ x.t(), x[0] @ x[1], x @ x[0], torch.mm(x.t(), x)), X),
    row(
        "bmm baddbmm",
        lambda x: (torch.bmm(x, x), torch.baddbmm(x, x, x), torch.addbmm(x[0], x, x)),
        B,
    ),
    row(
        "mv addmv outer",
        lambda x: (torch.mv(x, x[0]), torch.outer(x[0], x[1]), torch.dot(x[0], x[1])),
        X,
    ),
    row(
        "einsum",
        lambda x, y: (torch.einsum("ij,kj->ik", x, x), torch.einsum("bij,bjk->bik", y, y)),
        X,
        B,
    ),
    row("einsum attention", lambda q: torch.einsum("bqhd,bkhd->bhqk", q, q), numbers(2, 3, 2, 4)),
    row(
        "tensordot kron inner",
        lambda x: (torch.tensordot(x, x, ([1], [1])), torch.kron(x, x), torch.inner(x, x)),
        X,
    ),
    row("chain_matmul", lambda x: torch.linalg.multi_dot([x, x.t(), x]), X),
    row("matrix_power", lambda x: torch.matrix_power(x, 3), SQUARE),
    row(
        "matrix_exp", lambda x: torch.matrix_exp(x), SQUARE / 8, refused=r"aten::linalg_matrix_exp"
    ),
    row("cross", lambda x: torch.linalg.cross(x, x.flip(1)), B),
    row(
        "vecdot norms",
        lambda x: (
            torch.linalg.vecdot(x, x),
            torch.linalg.norm(x),
            torch.linalg.vector_norm(x, 3, 1),
        ),
        X,
    ),
    row("matrix norms", lambda x: (torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 1)), X),
]

DECOMPOSITIONS: list[Row] = [
    row("inverse", lambda x: torch.linalg.inv(x), SQUARE),
    row("inverse batch", lambda x: torch.inverse(x), B + 3 * torch.eye(3)),
    row("det", lambda x: torch.det(x), SQUARE),
    row("slogdet", lambda x: torch.linalg.slogdet(x), SQUARE),
    row("solve", lambda x, y: torch.linalg.solve(x, y), SQUARE, numbers(4, 2)),
    row("solve vector", lambda x, y: torch.linalg.solve(x, y), SQUARE, numbers(4)),
    row("cholesky", lambda x: torch.linalg.cholesky(x), SPD),
    row(
        "cholesky_solve",
        lambda x, y: torch.cholesky_solve(y, torch.linalg.cholesky(x)),
        SPD,
        numbers(4, 2),
    ),
    row(
        "solve_triangular",
        lambda x, y: torch.linalg.solve_triangular(x.triu(), y, upper=True),
        SQUARE,
        numbers(4, 2),
    ),
    row("qr", lambda x: torch.linalg.qr(x)[1].abs(), SQUARE, refused=r"aten::linalg_qr"),
    row("svd", lambda x: torch.linalg.svd(x)[1], SQUARE, refused=r"aten::_linalg_svd"),
    row("svdvals", lambda x: torch.linalg.svdvals(x), SQUARE, refused=r"aten::_linalg_svd"),
    row("eigh", lambda x: torch.linalg.eigh(x)[0], SPD, refused=r"aten::_linalg_eigh"),
    row("eigvals", lambda x: torch.linalg.eigvals(x), SQUARE, refused=r"aten::linalg_eig"),
    row("pinv", lambda x: torch.linalg.pinv(x), X, refused=r"aten::linalg_pinv"),
    row(
        "lstsq", lambda x, y: torch.linalg.lstsq(x, y)[0], SQUARE, numbers(4, 2), is_exported=False
    ),
    row("matrix_rank", lambda x: torch.linalg.matrix_rank(x), SQUARE, refused=r"aten::_linalg_svd"),
    row("lu", lambda x: torch.linalg.lu_factor(x)[0], SQUARE, refused=r"aten::linalg_lu"),
]

SPECTRA: list[Row] = [
    row("fft", lambda x: torch.view_as_real(torch.fft.fft(x)), LINE),
    row("rfft irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)), LINE),
    row("rfft magnitude", lambda x: torch.fft.rfft(x).abs(), LINE),
    row("fft2 ifft2", lambda x: torch.fft.ifft2(torch.fft.fft2(x)).real, LINE),
    row("fftshift fftfreq", lambda x: torch.fft.fftshift(x) * torch.fft.fftfreq(16), LINE),
    row(
        "stft",
        lambda x: torch.view_as_real(
            torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True)
        ),
        LINE,
    ),
    row(
        "stft power",
        lambda x: torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True).abs() ** 2,
        LINE,
    ),
    row(
        "istft",
        lambda x: torch.istft(
            torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True),
            8,
            4,
            window=torch.hann_window(8),
        ),
        LINE,
    ),
]

COMPLEX: list[Row] = [
    row("complex of parts", lambda x, y: torch.view_as_real(torch.complex(x, y)), X, X + 1),
    row("polar", lambda x: torch.view_as_real(torch.polar(x.abs(), x)), X),
    row("real imag", lambda z: (z.real, z.imag), Z),
    row("abs angle", lambda z: (z.abs(), z.angle()), Z),
    row("complex arithmetic", lambda z: (z + z, z * z, z - 1, z / 2, z * 2.0), Z),
    row("complex division", lambda z: z / (z + 1), Z),
    row("conj", lambda z: (z.conj() * z).real, Z),
    row("complex matmul", lambda z: z @ z.t(), Z),
    row("complex exp", lambda z: torch.view_as_real(torch.exp(z)), Z),
    row("complex of view", lambda x: torch.view_as_complex(x.reshape(4, 3, 2)), X),
    row("complex sum", lambda z: (z.sum(), z.mean(0)), Z),
    row(
        "complex moves",
        lambda z: (z.t(), z[1:], torch.cat([z, z]), z.reshape(-1), z.unsqueeze(0)),
        Z,
    ),
]


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


class Loop(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (torch.tensor(0), x))


class Map(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch_map(lambda one, y: one + y, x, x[0] + 1)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x + self.count


CONTROL: list[Row] = [
    row("cond", Branch(), X),
    row("while_loop", Loop(), X),
    row("map", Map(), X),
    row("buffer that counts", Counter(), X),
    row("python loop", lambda x: sum(x[i] * i for i in range(4)), X),
    row("item as size", lambda n: torch.zeros(_bounded(n)), torch.tensor(3)),
]


def _bounded(n: torch.Tensor) -> int:
    size = n.item()
    torch._check(size >= 1)
    torch._check(size <= 10)
    return size


VARYING: list[Row] = [
    varying("varying linear", nn.Linear(6, 3), X),
    varying("varying sort", lambda x: (x.sort(0), x.argsort(0)), X),
    varying("varying median", lambda x: (x.median(), x.median(0)), X),
    varying("varying cumprod", lambda x: x.cumprod(0), X),
    varying("varying bucketize", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), X),
    varying("varying topk", lambda x: x.topk(2, 0), X),
    varying("varying adaptive max", nn.AdaptiveMaxPool1d(3), numbers(4, 2, 12)),
    varying(
        "varying adaptive max over rows", lambda x: nn.functional.adaptive_max_pool1d(x.t(), 2), X
    ),
    varying("varying arange", lambda x: x + torch.arange(x.shape[0]).unsqueeze(1), X),
    varying("varying unique", lambda x: torch.unique(x), integers(6, 4, 3)),
    varying("varying multinomial", lambda x: torch.multinomial(x.abs(), 2), X, is_random=True),
    varying(
        "varying attention",
        lambda x: nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
        X,
    ),
    varying("varying one_hot", lambda x: nn.functional.one_hot(x, 10), integers(6, 4, 3)),
    varying("varying nonzero", lambda x: torch.nonzero(x > 0), X),
    varying("varying embedding bag", nn.EmbeddingBag(10, 4), integers(10, 4, 3)),
]

FAMILIES = {
    "products": PRODUCTS,
    "decompositions": DECOMPOSITIONS,
    "spectra": SPECTRA,
    "complex numbers": COMPLEX,
    "control flow": CONTROL,
    "dynamic sizes": VARYING,
}
