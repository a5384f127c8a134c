# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of data: what they show is what the data says."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import torch

from executorch.examples.models import make_example
from executorch.exir import to_edge
from executorch.tools import drawings
from executorch.tools.drawings import Block, Span

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def titles(picture: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}title")]


def test_a_plan_is_read_and_its_blocks_do_not_overlap() -> None:
    """Of small_image: at a step, two tensors share no byte."""
    program = to_edge(make_example("small_image").forward.export()).to_executorch()
    blocks = drawings.blocks_of(program.exported_program().graph)
    assert len(blocks) > 3 and torch.tensor([each.size for each in blocks]).min() > 0
    for one, other in itertools.combinations(blocks, 2):
        together = one.start <= other.end and other.start <= one.end
        apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
        assert not together or apart, (one, other)


def test_the_picture_of_a_plan() -> None:
    picture = drawings.memory([Block(0, 1, 0, 16), Block(1, 2, 16, 32), Block(2, 3, 0, 16)])
    assert texts(picture)[0] == "3 tensors of 64 bytes in an arena of 48 bytes"
    assert "32 bytes at 16, steps 1 to 2" in titles(picture)


def test_events_are_below_those_that_they_are_inside_of() -> None:
    events = [
        ("call", 11.0, 14.0),
        ("whole", 10.0, 20.0),
        ("kernel", 12.0, 13.0),
        ("next", 14.0, 19.0),
    ]
    spans = drawings.nested(events)
    assert spans == [
        Span("whole", 0, 10),
        Span("call", 1, 4, 1),
        Span("kernel", 2, 3, 2),
        Span("next", 4, 9, 1),
    ]
    assert "one run of 10 microseconds, 4 events" in texts(drawings.timeline(spans))


def test_calls_are_squares_in_their_order() -> None:
    picture = drawings.delegation([("a", True), ("b", False), ("c", True)], "XNNPACK")
    assert titles(picture) == ["a", "b", "c"]
    assert texts(picture) == ["2 calls of XNNPACK", "1 call of the kernels"]


def test_steps_are_joined_by_arrows() -> None:
    picture = drawings.steps([("A", "one", "a()"), ("B", "two & more", "b()")])
    assert texts(picture) == ["A", "one", "a()", "B", "two & more", "b()"]
    assert len(re.findall("<path", picture)) == 1
