# SPDX-License-Identifier: BSD-3-Clause
"""The Triton kernels beside eager PyTorch, run by Triton's interpreter on the processor.

usage: TRITON_INTERPRET=1 python triton_numbers.py     (prints {case: largest difference}; inf where places differ)
"""

import argparse
import itertools
import json

import torch

# batch, heads, heads of key and value, queries, keys, size
SHAPES = {
    "few": (1, 2, 2, 5, 7, 16),
    "many": (2, 4, 2, 70, 130, 24),
    "decode": (1, 3, 1, 1, 300, 64),
}


def masks(queries: int, keys: int, dtype: torch.dtype) -> dict:
    """Kinds of masks; of several queries the first keeps no key of a boolean one."""
    kept = torch.rand(queries, keys) > 0.3
    kept[0] &= queries == 1
    added = torch.randn(1, 1, queries, keys, dtype=dtype)
    added[..., ::5] = -torch.inf
    given = {"no mask": None, "kept": kept, "added": added}
    return {name: (mask, False) for name, mask in given.items()} | {"causal": (None, True)}


def attention(found: dict, name: str, dtype: torch.dtype) -> None:
    batch, heads, shared, queries, keys, size = SHAPES[name]
    query = torch.randn(batch, heads, queries, size, dtype=dtype)
    key = torch.randn(batch, keys, shared, size, dtype=dtype).transpose(1, 2)
    value = torch.randn(batch, shared, keys, size, dtype=dtype)
    for kind, (mask, is_causal) in masks(queries, keys, dtype).items():
        wide = mask if mask is None or mask.dtype == torch.bool else mask.float()
        expected = torch.nn.functional.scaled_dot_product_attention(
            query.float(), key.float(), value.float(), wide, 0.0, is_causal, enable_gqa=True
        )
        names = ["sdpa"] + ["sdpa_decode_splitk"] * (queries == 1 and not is_causal)
        for kernel in names:
            # Triton's interpreter has no matrix products of bfloat16.
            if dtype == torch.bfloat16 and kernel == "sdpa":
                continue
            out = getattr(torch.ops.triton, kernel)(
                query, key, value, mask, 0.0, is_causal, None, True
            )
            assert out.dtype == dtype
            difference = (out.float() - expected).abs().max().item()
            found[f"{kernel} {name} {kind} {dtype}"] = difference


def topk(found: dict, dtype: torch.dtype) -> None:
    rows = (torch.randn(3, 37) * 2).round() / 2  # many equal ones
    rows[0, 5], rows[1, 3], rows[2, 1], rows[2, 4] = torch.nan, torch.inf, -0.0, -torch.inf
    rows = rows.to(dtype)
    for largest, (dim, k) in itertools.product((True, False), ((-1, 9), (0, 1))):
        x = rows if dim == -1 else rows[:, 1:6]
        values, places = torch.ops.triton.topk(x, k, dim, largest)
        ordered = torch.sort(x, dim=dim, descending=largest, stable=True)
        wanted = [each.narrow(dim, 0, k) for each in ordered]
        is_equal = torch.equal(places, wanted[1]) and torch.equal(
            values.nan_to_num(99.0, 98.0, -98.0), wanted[0].nan_to_num(99.0, 98.0, -98.0)
        )
        found[f"topk {k} in {dim} {largest} {dtype}"] = 0.0 if is_equal else float("inf")


def refused() -> list[str]:
    from executorch.backends.cuda.triton import kernels

    x = torch.ones(1, 2, 3, 16)
    calls = (
        lambda: kernels.sdpa(x, x[:, :1], x),
        lambda: kernels.sdpa(x, x, x, None, 0.5),
        lambda: kernels.sdpa_decode_splitk(x, x, x),
        lambda: kernels.topk(torch.ones(2, 5000), 3),
    )
    texts = []
    for call in calls:
        try:
            call()
        except ValueError as error:
            texts.append(str(error))
    return texts


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    import executorch.backends.cuda.triton.kernels  # noqa: F401  registers them

    torch.manual_seed(0)
    found: dict = {}
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for name in SHAPES:
            attention(found, name, dtype)
        topk(found, dtype)
    print(json.dumps({"differences": found, "refused": refused()}))


if __name__ == "__main__":
    main()
