# SPDX-License-Identifier: BSD-3-Clause
"""--model_name of the scripts: one of the example models, or an error that names the nearest ones."""

from __future__ import annotations

import argparse
import difflib

from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL, make_example
from executorch.examples.models.example import Example, single
from executorch.examples.models.model_factory import EagerModelFactory


def add_model_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--model_name", required=True, help="one of examples/models")


def chosen_example(parser: argparse.ArgumentParser, name: str) -> Example:
    """The model called `name`, of those here or else of torchvision; ends the program when there is none."""
    if name in MODEL_NAME_TO_MODEL and name not in EXAMPLES:
        return _of_other_package(parser, name)
    if name not in EXAMPLES:
        near = difflib.get_close_matches(name, EXAMPLES, 3)
        parser.error(
            f"no model {name!r}; "
            + (f"did you mean {' or '.join(near)}? " if near else "")
            + f"known: {', '.join(sorted(EXAMPLES))}"
        )
    return make_example(name)


def _of_other_package(parser: argparse.ArgumentParser, name: str) -> Example:
    try:
        model, inputs, _, shapes = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL[name])
    except ImportError as error:
        parser.error(f"model {name!r}: {error}")
    return single(model.eval(), inputs, dynamic_shapes=shapes)
