# SPDX-License-Identifier: BSD-3-Clause
"""Two sets of payloads of one program beside each other: the nodes in their order, with all fields but the numbers of
values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from executorch.backends.apple.mps.aot.schema import graph_of

_NUMBERS = ("_id", "_ids", "indices_id")


def nodes(payloads: Sequence[bytes]) -> list[str]:
    """A text for each node."""
    found = []
    for payload in payloads:
        for each in graph_of(payload)[0].mps_nodes:
            kind = each.mpsnode_union
            parameters = {
                name: held for name, held in vars(kind).items() if not name.endswith(_NUMBERS)
            }
            if each.min_max is not None:
                parameters |= vars(each.min_max)
            words = " ".join(f"{name}={held}" for name, held in parameters.items())
            found.append(f"{type(kind).__name__} {words}".rstrip())
    return found


def compared(ours: Sequence[bytes], theirs: Sequence[bytes]) -> str:
    """Whether both have the same nodes, and which not, by kind and count."""
    one, other = nodes(ours), nodes(theirs)
    if one == other:
        return f"the same {len(one)} nodes"
    if sorted(one) == sorted(other):
        return f"the same {len(one)} nodes in another order"
    more, less = (
        Counter(text.split()[0] for text in (Counter(a) - Counter(b)).elements())
        for a, b in ((one, other), (other, one))
    )
    return f"{len(one)} and {len(other)} nodes; of ours alone {_words(more)}; of theirs alone {_words(less)}"


def _words(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in counts.items()) or "none"
