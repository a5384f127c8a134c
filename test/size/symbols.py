# SPDX-License-Identifier: BSD-3-Clause
"""The core uses no heap, exceptions, threads or strings: what its object files refer to says so.

usage: symbols.py NM ARCHIVE...
"""

from __future__ import annotations

import re
import subprocess
import sys

# The platform layer is where a system may be used; stream operators are linked only by programs that print keys.
EXEMPT_OBJECTS = {"posix.cpp.o", "operator_registry_print.cpp.o"}

FORBIDDEN = {
    "heap": r"(malloc|calloc|realloc|free|posix_memalign|aligned_alloc|strdup|_Zn[wa]\w+)",
    "exceptions": r"(__cxa_(throw|rethrow|allocate_exception|begin_catch)|_ZSt\d+__throw_\w+)",
    "threads": r"(pthread_\w+|__tls_get_addr|_ZNSt6thread\w*|_ZNSt5mutex\w*|__cxa_guard_acquire)",
    "strings": r"(_ZNK?St7__cxx1112basic_string\w+|_ZNK?Ss\w+)",
    "streams": r"(_ZNS[oi]\w+|_ZSt4c(out|err)|printf|fprintf|fwrite|fputs|puts)",
    "dynamic casts": r"(__dynamic_cast|__cxa_bad_cast)",
}


def undefined_symbols(nm: str, archive: str) -> list[tuple[str, str]]:
    """(object file, symbol) for all that an archive needs from elsewhere."""
    text = subprocess.run([nm, "-u", archive], check=True, capture_output=True, text=True).stdout
    found = []
    member = ""
    for line in text.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.strip().startswith("U "):
            found.append((member, line.split()[-1].split("@")[0]))
    return found


def offences(symbols: list[tuple[str, str]]) -> list[str]:
    return [
        f"{member}: {symbol} ({kind})"
        for member, symbol in symbols
        if member not in EXEMPT_OBJECTS
        for kind, pattern in FORBIDDEN.items()
        if re.fullmatch(pattern, symbol)
    ]


def main(nm: str, archives: list[str]) -> int:
    symbols = [pair for archive in archives for pair in undefined_symbols(nm, archive)]
    found = offences(symbols)
    print("\n".join(found) or f"{len(symbols)} references, none of them forbidden")
    return 1 if found or not symbols else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
