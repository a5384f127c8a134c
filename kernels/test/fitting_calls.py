# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that fit together, one drawer a family: what a drawer leaves out is drawn from the schema alone."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from executorch.codegen.schema import Schema
from kernels.test.call_generator import Drawer, starts
from kernels.test.fitter import COMPLEX, REAL, Arguments, Family, Fitter


def _on_meta(found: Arguments, names: str) -> list[Any]:
    """The named arguments without data, from which eager tells the shape of a result."""
    values = [found[name] for name in names.split()]
    return [torch.empty(v.shape, device="meta") if isinstance(v, Tensor) else v for v in values]


def _matrices(d: Fitter) -> Arguments:
    n, k, m = d.sizes(3, 0, 9)
    added = d.choose((n, m), (m,), (1, m), (n, 1), ())
    return {"self": d.like(n, k), "mat1": d.like(n, k), "mat2": d.like(k, m)} | (
        {"self": d.like(*added), "beta": d.integer(-1, 2), "alpha": d.integer(-1, 2)}
        if d.op == "addmm"
        else {}
    )


def _byte_matrices(d: Fitter) -> Arguments:
    n, k, m = d.sizes(3, 1, 9)
    return {"self": d.like(n, k, dtype=torch.int8), "mat2": d.like(k, m, dtype=torch.int8)}


def _batches(d: Fitter) -> Arguments:
    batch, n, k, m = d.sizes(4, 0, 6)
    return {"self": d.like(batch, n, k), "mat2": d.like(batch, k, m)}


def _linear(d: Fitter) -> Arguments:
    k, m = d.sizes(2, 1, 9)
    leading = d.sizes(d.choose(0, 1, 2, 3), 0, 4)
    return {
        "input": d.like(*leading, k),
        "weight": d.choose(d.like(m, k), d.like(m, k), d.like(k)),
        "bias": None,
    } | ({"weight": d.like(m, k), "bias": d.like(m)} if d.chance(0.5) else {})


def _attention(d: Fitter) -> Arguments:
    length, source, size, value = d.sizes(4, 1, 6)
    leading = d.sizes(d.choose(1, 2), 1, 3)
    mask = d.choose(None, d.like(length, source), d.like(length, source, dtype=torch.bool))
    return {
        "query": d.like(*leading, length, size), "key": d.like(*leading, source, size),
        "value": d.like(*leading, source, value), "attn_mask": mask, "dropout_p": 0.0,
        "is_causal": mask is None and d.chance(0.5), "scale": d.choose(None, 0.5), "enable_gqa": False,
    }  # fmt: skip


def _window(d: Fitter, dims: int) -> Arguments:
    """Kernel, stride and padding of a pool; one number may stand for all dimensions."""
    kernel = d.sizes(dims, 1, 3)
    one = d.chance(0.2)
    kernel = kernel[:1] if one else kernel
    return {
        "kernel_size": kernel,
        "stride": d.choose([], d.sizes(len(kernel), 1, 3)),
        "padding": [d.integer(0, k // 2) for k in kernel],
    }


def _image(d: Fitter, dims: int, least: int = 3, most: int = 8) -> Tensor:
    channels = d.sizes(1, 1, 4)
    return d.like(*d.choose([], d.sizes(1, 0, 2)), *channels, *d.sizes(dims, least, most))


def _pool(dims: int) -> Family:
    def draw(d: Fitter) -> Arguments:
        divisor = d.choose(None, 1, 3)
        dilation = d.choose([1], d.sizes(dims, 1, 2))
        return {
            "self": _image(d, dims), **_window(d, dims), "dilation": dilation, "divisor_override": divisor,
        }  # fmt: skip

    return draw


def _avg_pool_backward(d: Fitter) -> Arguments:
    found = {**_pool(2)(d), "ceil_mode": d.chance(0.5), "count_include_pad": d.chance(0.5)}
    del found["dilation"]
    like = torch.ops.aten.avg_pool2d.default(
        *_on_meta(found, "self kernel_size stride padding ceil_mode")
    )
    return {**found, "grad_output": d.like(*like.shape)}


def _max_pool_backward(d: Fitter) -> Arguments:
    found = {**_pool(2)(d), "ceil_mode": d.chance(0.5), "dilation": [1]}
    names = "self kernel_size stride padding dilation ceil_mode"
    pool = torch.ops.aten.max_pool2d_with_indices.default
    shape = pool(*_on_meta(found, names))[0].shape
    plain = {**found, "self": found["self"].float()}
    indices = pool(*(plain[name] for name in names.split()))[1]
    return {**found, "indices": indices, "grad_output": d.like(*shape)}


def _adaptive_pool(dims: int) -> Family:
    return lambda d: {"self": _image(d, dims), "output_size": d.sizes(dims, 0, 9)}


def _adaptive_pool_backward(d: Fitter) -> Arguments:
    image = _image(d, 2)
    return {"self": image, "grad_output": d.like(*image.shape[:-2], *d.sizes(2, 1, 5))}


def _convolution(d: Fitter) -> Arguments:
    dims, groups = d.choose(1, 2, 2, 3), d.choose(1, 1, 2, 3)
    each, filters = d.sizes(2, 1, 3)
    transposed = d.chance(0.4)
    kernel, stride, dilation = d.sizes(dims, 1, 3), d.sizes(dims, 1, 3), d.sizes(dims, 1, 2)
    spare = [d.integer(0, max(s, k) - 1) for s, k in zip(stride, dilation, strict=True)]
    weight = (groups * each, filters) if transposed else (groups * filters, each)
    image = (d.integer(1, 2), groups * each, *d.sizes(dims, 5, 8))
    return {
        "input": d.like(*image), "weight": d.like(*weight, *kernel),
        "bias": d.choose(None, d.like(groups * filters)), "stride": stride, "dilation": dilation,
        "padding": d.sizes(dims, 0, 2), "transposed": transposed, "groups": groups,
        "output_padding": spare if transposed else [0] * dims,
    }  # fmt: skip


def _convolution_backward(d: Fitter) -> Arguments:
    found = _convolution(d)
    names = "input weight bias stride padding dilation transposed output_padding groups"
    shape = torch.ops.aten.convolution.default(*_on_meta(found, names)).shape
    return {**found, "grad_output": d.like(*shape), "bias_sizes": [shape[1]]}


def _layer_norm(d: Fitter) -> Arguments:
    leading, normal = d.sizes(d.choose(0, 1, 2), 0, 4), d.sizes(d.choose(1, 1, 2), 1, 6)
    rows = (*leading, *[1] * len(normal))
    return {
        "input": d.like(*leading, *normal), "normalized_shape": normal, "grad_out": d.like(*leading, *normal),
        "weight": d.unset_or(*normal), "bias": d.unset_or(*normal),
        "mean": d.like(*rows), "rstd": d.positive(*rows),
    }  # fmt: skip


def _group_norm(d: Fitter) -> Arguments:
    batch, group, each = d.sizes(3, 1, 3)
    sizes = d.sizes(d.choose(0, 1, 2), 1, 4)
    channels, shape = group * each, (batch, group * each, *sizes)
    return {
        "input": d.like(*shape), "grad_out": d.like(*shape), "N": batch, "C": channels,
        "HxW": math.prod(sizes), "group": group,
        "weight": d.unset_or(channels), "bias": d.choose(None, d.like(channels)),
        "mean": d.like(batch, group), "rstd": d.positive(batch, group),
    }  # fmt: skip


def _batch_norm(d: Fitter) -> Arguments:
    channels, *sizes = d.sizes(d.choose(1, 2, 3, 4), 1, 5)
    batch = d.integer(1, 4)
    return {
        "input": d.like(batch, channels, *sizes),
        "weight": d.choose(None, d.like(channels)), "bias": d.choose(None, d.like(channels)),
        "running_mean": d.like(channels), "running_var": d.positive(channels),
        "training": d.overload == "no_stats_out" or d.chance(0.5),
    }  # fmt: skip


def _pad(dims: int) -> Family:
    """Negative padding crops."""
    return lambda d: {
        "self": _image(d, dims, 2, 5),
        "padding": [d.choose(-2, -1, 0, 1, 1, 2, 4) for _ in range(2 * dims)],
    }


def _indices(d: Fitter) -> Arguments:
    """Integers of one shape, masks of one or more dimensions and gaps, for some of the dimensions."""
    shape = d.sizes(d.choose(1, 2, 3, 4), 1, 4)
    x, found, dim = d.like(*shape), [], 0
    common = d.sizes(d.choose(0, 1, 1, 2), 1, 3)
    masked = d.chance(0.4)
    while dim < len(shape) and (not found or d.chance(0.7)):
        width = d.integer(1, len(shape) - dim)
        if masked:
            mask = d.like(
                *shape[dim : dim + width], dtype=d.choose(torch.bool, torch.bool, torch.uint8)
            )
            found.append(mask)
            masked, common, dim = False, [1], dim + width
            continue
        some = [d.choose(size, 1) for size in common]
        integers = d.index(
            some, shape[dim], d.choose(torch.int64, torch.int64, torch.int32), -shape[dim]
        )
        found.append(None if d.chance(0.25) else integers)
        dim += 1
    if all(index is None for index in found):
        found[-1] = d.index(common, shape[len(found) - 1])
    return {"self": x, "indices": found}


def _put(d: Fitter) -> Arguments:
    found = _indices(d)
    taken = torch.ops.aten.index.Tensor(found["self"], found["indices"])
    shape = d.choose(taken.shape, taken.shape[1:], [d.choose(1, s) for s in taken.shape], ())
    return {**found, "values": d.like(*shape), "accumulate": d.chance(0.4)}


def _along(d: Fitter) -> tuple[list[int], int, int]:
    """A shape, one of its dimensions, and its size."""
    shape = d.sizes(d.choose(0, 1, 2, 3), 1, 5)
    rank = max(len(shape), 1)
    dim = d.integer(-rank, rank - 1)
    return shape, dim, shape[dim] if shape else 1


def _select(d: Fitter) -> Arguments:
    shape, dim, size = _along(d)
    index = d.index(d.sizes(1, 0, 4), size, d.choose(torch.int64, torch.int32))
    return {"self": d.like(*shape), "dim": dim, "index": index}


def _copy_to_index(d: Fitter) -> Arguments:
    shape, dim, size = _along(d)
    count = d.integer(1, size)
    source = [count if shape and i == dim % len(shape) else s for i, s in enumerate(shape)]
    index = torch.tensor(d.sample(range(size), count))
    return {"self": d.like(*shape), "dim": dim, "index": index, "source": d.like(*source)}


def _scatter(d: Fitter) -> Arguments:
    shape, dim, size = _along(d)
    some = [d.integer(1, s) for s in shape]
    from_shape = [s + d.choose(0, 0, 1) for s in some]
    return {
        "self": d.like(*shape), "dim": dim, "index": d.index(some, size), "src": d.like(*from_shape),
    }  # fmt: skip


def _embedding(d: Fitter) -> Arguments:
    rows, width = d.sizes(2, 1, 6)
    shape = d.sizes(d.choose(0, 1, 2), 0, 5)
    indices = d.index(shape, rows, d.choose(torch.int64, torch.int32))
    return {
        "weight": d.like(rows, width), "indices": indices, "num_weights": rows,
        "grad_output": d.like(*shape, width), "padding_idx": d.integer(-1, rows - 1),
    }  # fmt: skip


def _bags(d: Fitter) -> Arguments:
    rows, width, count = d.sizes(3, 1, 6)
    mode = d.choose(0, 1, 2)
    inner = sorted(d.integer(0, count) for _ in range(d.integer(0, 3)))
    last = d.chance(0.5)
    has_weights = mode == 0 and d.chance(0.5)
    return {
        "weight": d.like(rows, width), "indices": d.index([count], rows), "mode": mode,
        "offsets": torch.tensor([0, *inner, *([count] if last else [])]), "sparse": False,
        "per_sample_weights": d.like(count) if has_weights else None, "include_last_offset": last,
        "padding_idx": d.choose(-1, -1, rows - 1),
    }  # fmt: skip


def _part(d: Fitter) -> Arguments:
    """A part of a tensor that `src` has the shape of: one index of a dimension, or a slice of it."""
    shape, dim, size = _along(d)
    start, end, step = (
        d.choose(None, d.integer(-size, size)),
        d.choose(None, d.integer(0, size)),
        d.integer(1, 3),
    )
    found = {"self": d.like(*shape), "dim": dim, "index": d.integer(-size, size - 1)}
    if d.op == "slice_scatter":
        found |= {"start": start, "end": end, "step": step}
        part = (
            torch.ops.aten.slice.Tensor(found["self"], dim, start, end, step)
            if shape
            else found["self"]
        )
    else:
        part = found["self"].select(dim, 0) if shape else found["self"]
    return {**found, "src": d.like(*part.shape)}


def _masked(d: Fitter) -> Arguments:
    shape = d.sizes(d.choose(0, 1, 2, 3), 1, 5)
    some = [d.choose(1, s) for s in shape]
    mask = d.like(*d.choose(some, shape), dtype=torch.bool)
    source = d.like(math.prod(shape) + d.choose(0, 2))
    return {"self": d.like(*shape), "mask": mask, "source": source}


def _repeats(d: Fitter) -> Arguments:
    repeats = d.index(d.sizes(1, 0, 6), 4, d.choose(torch.int64, torch.int32))
    return {"repeats": repeats, "output_size": d.choose(None, int(repeats.sum()))}


def _resized(d: Fitter) -> Arguments:
    x = d.like(*d.sizes(2, 1, 3), *d.sizes(2, 1, 7))
    sizes = d.sizes(2, 1, 12)
    factors = [size / of for size, of in zip(sizes, x.shape[-2:], strict=True)]
    by_size = d.op.endswith("_aa") or d.chance(0.5)
    given = d.chance(0.3)
    return {
        "self": x, "input": x, "output_size": sizes if by_size else None,
        "scale_factors": None if by_size else factors,
        "scales_h": factors[0] if given else None, "scales_w": factors[1] if given else None,
    }  # fmt: skip


def _grid(d: Fitter) -> Arguments:
    batch, channels = d.sizes(2, 1, 2)
    x = d.like(batch, channels, *d.sizes(2, 1, 6))
    grid = (d.like(batch, *d.sizes(2, 1, 5), 2) / 2).nan_to_num(0.0, 1.0, -1.0)
    modes = {"interpolation_mode": d.integer(0, 2), "padding_mode": d.integer(0, 2)}
    return {"input": x, "grid": grid.to(x.dtype), **modes}


def _columns(d: Fitter) -> Arguments:
    kernel, dilation, padding, stride = (
        d.sizes(2, 1, 3),
        d.sizes(2, 1, 2),
        d.sizes(2, 0, 1),
        d.sizes(2, 1, 2),
    )
    size = d.sizes(2, 5, 8)
    rules = zip(size, kernel, dilation, padding, stride, strict=True)
    blocks = math.prod((s + 2 * p - w * (k - 1) - 1) // step + 1 for s, k, w, p, step in rules)
    x = d.like(*d.choose([], [2]), d.integer(1, 3) * math.prod(kernel), blocks)
    return {
        "self": x, "output_size": size, "kernel_size": kernel, "dilation": dilation, "padding": padding,
        "stride": stride,
    }  # fmt: skip


def _shuffled(d: Fitter) -> Arguments:
    r, (channels, h, w) = d.integer(1, 3), d.sizes(3, 1, 3)
    leading = d.sizes(d.choose(0, 1, 2), 1, 2)
    if d.op == "pixel_shuffle":
        return {"self": d.like(*leading, channels * r * r, h, w), "upscale_factor": r}
    return {"self": d.like(*leading, channels, h * r, w * r), "downscale_factor": r}


def _expanded(d: Fitter) -> Arguments:
    shape = [d.choose(1, size) for size in d.sizes(d.choose(0, 1, 2, 3), 0, 4)]
    wide = [d.choose(-1, size) if size != 1 else d.choose(-1, 1, 3) for size in shape]
    return {"self": d.like(*shape), "size": [*d.sizes(d.choose(0, 1, 2), 1, 3), *wide]}


def _strided(d: Fitter) -> Arguments:
    size, stride = d.sizes(2, 0, 3), d.sizes(2, 0, 3)
    least = sum(max(s - 1, 0) * step for s, step in zip(size, stride, strict=True))
    offset = d.choose(None, 0, 2)
    return {
        "self": d.like(least + 1 + (offset or 0)), "size": size, "stride": stride, "storage_offset": offset,
    }  # fmt: skip


def _split(d: Fitter) -> Arguments:
    parts = d.sizes(d.choose(1, 2, 3), 0, 3)
    shape, dim, _ = _along(d)
    shape = shape or [1]
    shape[dim] = sum(parts)
    return {"self": d.like(*shape), "split_sizes": parts, "dim": dim}


def _halves(d: Fitter) -> Arguments:
    shape, dim, _ = _along(d)
    shape = shape or [1]
    shape[dim] = 2 * d.integer(0, 3)
    return {"self": d.like(*shape), "dim": dim}


def _softmax(d: Fitter) -> Arguments:
    shape, dim, _ = _along(d)
    return {"self": d.like(*shape), "dim": dim, "half_to_float": False}


def _where(d: Fitter) -> Arguments:
    shape = d.sizes(d.choose(0, 1, 2, 3), 0, 4)
    shapes = [[d.choose(1, s, s) for s in shape] for _ in range(3)]
    condition = d.like(*shapes[0], dtype=d.choose(torch.bool, torch.bool, torch.uint8))
    return {"condition": condition, "self": d.like(*shapes[1]), "other": d.like(*shapes[2])}


def _distances(d: Fitter) -> Arguments:
    n, m, width = d.sizes(3, 0, 5)
    leading = d.sizes(d.choose(0, 1, 2), 1, 2)
    p = d.choose(0.0, 1.0, 2.0, 1.5, math.inf)
    return {
        "self": d.like(n, width), "x1": d.like(*leading, n, width), "x2": d.like(*leading, m, width), "p": p,
        "compute_mode": d.choose(None, 0, 1, 2),
    }  # fmt: skip


def _fourier(d: Fitter) -> Arguments:
    shape = d.sizes(d.choose(1, 2, 3), 1, 8)
    dims = d.sample(range(len(shape)), d.integer(1, len(shape)))
    kind = d.choose(*(REAL if d.op == "_fft_r2c" else COMPLEX))
    last = 2 * (shape[dims[-1]] - 1) + d.choose(0, 1)
    return {
        "self": d.like(*shape, dtype=kind), "dim": dims, "normalization": d.integer(0, 2),
        "last_dim_size": max(last, 1),
    }  # fmt: skip


def _pairs(d: Fitter) -> Arguments:
    shape = d.sizes(d.choose(0, 1, 2, 3), 0, 4)
    return {"self": d.tensor((*shape, 2), d.choose(*REAL), "rows")}


# Names of operators, and what draws their arguments.
_FAMILIES: list[tuple[str, Family]] = [
    ("mm addmm", _matrices),
    ("_int_mm", _byte_matrices),
    ("bmm", _batches),
    ("linear", _linear),
    ("scaled_dot_product_attention", _attention),
    ("avg_pool1d", _pool(1)),
    ("avg_pool2d max_pool2d_with_indices", _pool(2)),
    ("avg_pool3d max_pool3d_with_indices", _pool(3)),
    ("avg_pool2d_backward", _avg_pool_backward),
    ("max_pool2d_with_indices_backward", _max_pool_backward),
    ("adaptive_avg_pool1d", _adaptive_pool(1)),
    ("_adaptive_avg_pool2d", _adaptive_pool(2)),
    ("_adaptive_avg_pool3d", _adaptive_pool(3)),
    ("_adaptive_avg_pool2d_backward", _adaptive_pool_backward),
    ("convolution", _convolution),
    ("convolution_backward", _convolution_backward),
    ("native_layer_norm native_layer_norm_backward", _layer_norm),
    ("native_group_norm native_group_norm_backward", _group_norm),
    ("_native_batch_norm_legit _native_batch_norm_legit_no_training", _batch_norm),
    ("reflection_pad1d replication_pad1d", _pad(1)),
    ("reflection_pad2d replication_pad2d", _pad(2)),
    ("reflection_pad3d replication_pad3d", _pad(3)),
    ("index", _indices),
    ("index_put index_put_", _put),
    ("index_select", _select),
    ("index_copy", _copy_to_index),
    ("gather scatter scatter_add scatter_reduce", _scatter),
    ("embedding embedding_dense_backward", _embedding),
    ("_embedding_bag", _bags),
    ("select_scatter slice_scatter", _part),
    ("masked_scatter masked_fill masked_select", _masked),
    ("repeat_interleave", _repeats),
    ("upsample_bilinear2d upsample_nearest2d _upsample_bilinear2d_aa", _resized),
    ("grid_sampler_2d", _grid),
    ("col2im", _columns),
    ("pixel_shuffle pixel_unshuffle", _shuffled),
    ("view_as_complex_copy", _pairs),
    ("expand_copy", _expanded),
    ("as_strided_copy", _strided),
    ("split_with_sizes_copy", _split),
    ("glu", _halves),
    ("_softmax _log_softmax", _softmax),
    ("where", _where),
    ("_cdist_forward _pdist_forward", _distances),
    ("_fft_r2c _fft_c2r _fft_c2c", _fourier),
]
_FITTING = {name: draw for names, draw in _FAMILIES for name in names.split()}
# Eager itself ends the process where the arguments of these do not fit together.
_FITTING_ONLY = {
    "_native_batch_norm_legit.no_stats_out", "_fft_r2c.out", "_fft_c2r.out", "_fft_c2c.out",
    "embedding_dense_backward.out", "native_layer_norm_backward.out",
    "native_group_norm_backward.out", "_embedding_bag.out", "_adaptive_avg_pool2d_backward.out",
}  # fmt: skip


def calls_of(schema: Schema, round_number: int) -> Iterator[list[Any]]:
    """The inputs of one round of calls: every start, with arguments drawn one by one and with such as fit."""
    name = schema.qualified_name
    for start in starts():
        seed = zlib.crc32(f"{name}/{start}/{round_number}".encode())
        if f"{schema.name}.{schema.overload}" not in _FITTING_ONLY:
            yield Drawer(seed, start).values(schema)
        if schema.name in _FITTING:
            fitter = Fitter(seed + 1, start, schema)
            yield fitter.values(schema, _FITTING[schema.name](fitter))
