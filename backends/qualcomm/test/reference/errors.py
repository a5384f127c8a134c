# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a graph: where, what was expected there and what was found."""


class InvalidGraph(ValueError):
    def __init__(self, where: str, expected: object, found: object) -> None:
        super().__init__(f"{where}: expected {expected}, found {found}")
