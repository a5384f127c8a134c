# SPDX-License-Identifier: BSD-3-Clause
"""Norms, whose channels are last, and softmax."""

from __future__ import annotations

import torch

from executorch.backends.qualcomm.test.reference.row import Row, enum, f32, flag, u32, u32s


def _fit(x, axes, gamma, beta):
    """Both along `axes` of x, in their order."""
    shape = [size if axis in axes else 1 for axis, size in enumerate(x.shape)]
    wanted = tuple(x.shape[axis] for axis in axes)
    for name, each in (("gamma", gamma), ("beta", beta)):
        if each is not None and tuple(each.shape) != wanted:
            raise ValueError(f"{name} of {wanted}, found {tuple(each.shape)}")
    return [None if each is None else each.reshape(shape) for each in (gamma, beta)]


def _affine(x, axes, gamma, beta):
    gamma, beta = _fit(x, axes, gamma, beta)
    scaled = x if gamma is None else x * gamma
    return scaled if beta is None else scaled + beta


def _normal(x, axes, epsilon):
    variance, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(variance + epsilon)


def _batch_norm(x, weight, bias):
    return _affine(x, [x.ndim - 1], weight, bias)


def _layer_norm(x, gamma=None, beta=None, *, epsilon, axes):
    return _affine(_normal(x, axes, epsilon), axes, gamma, beta)


def _rms_norm(x, gamma, beta=None, *, epsilon, axes):
    root = torch.sqrt((x * x).mean(axes, keepdim=True) + epsilon)
    return _affine(x / root, axes, gamma, beta)


def _group_norm(x, gamma=None, beta=None, *, epsilon, group):
    grouped = x.unflatten(-1, (group, -1))
    axes = [*range(1, x.ndim - 1), x.ndim]
    normal = _normal(grouped, axes, epsilon).flatten(-2)
    return _affine(normal, [x.ndim - 1], gamma, beta)


def _instance_norm(x, gamma, beta, *, epsilon, mode, normalize_variance, region):
    if (mode, normalize_variance, region) != (0, True, 0):
        raise ValueError("only mean and variance across space are evaluated")
    normal = _normal(x, list(range(1, x.ndim - 1)), epsilon)
    return _affine(normal, [x.ndim - 1], gamma, beta)


def _softmax(x, *, axis, beta):
    return torch.softmax(x * beta, -1 if axis is None else axis)


def _log_softmax(x, *, axis, beta):
    return torch.log_softmax(x * beta, -1 if axis is None else axis)


_ALONG = {"epsilon": f32(1e-6), "axes": u32s(-1)}
_SOFTMAX = {"axis": u32(None), "beta": f32(1.0)}

ROWS = {
    "Batchnorm": Row(_batch_norm, (3, 3)),
    "LayerNorm": Row(_layer_norm, (1, 3), _ALONG),
    "RmsNorm": Row(_rms_norm, (2, 3), _ALONG),
    "GroupNorm": Row(_group_norm, (1, 3), {"epsilon": f32(1e-5), "group": u32()}),
    "InstanceNorm": Row(
        _instance_norm,
        (3, 3),
        {
            "epsilon": f32(1e-12),
            "mode": enum(2, 0),
            "normalize_variance": flag(True),
            "region": enum(2, 0),
        },
    ),
    "Softmax": Row(_softmax, parameters=_SOFTMAX),
    "LogSoftmax": Row(_log_softmax, parameters=_SOFTMAX),
}
