#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Each source file begins with the licence banner, and C++ files follow it with a paragraph that says what they are."""

from common import main, tracked

BANNER = "Part of tilejit, under the Apache License v2.0. See LICENSE for details."


def check(root, build):
    """Problems, one a line."""
    problems = []
    for path in tracked(root, ".h", ".cpp", ".c", ".td", ".py", ".cmake", ".mlir", ".test"):
        head = (root / path).read_text(errors="replace").splitlines()[:8]
        place = next((i for i, line in enumerate(head) if BANNER in line), None)
        if place is None:
            if path.suffix not in (".mlir", ".test"):
                problems.append(f"{path}: no licence banner in the first lines")
            continue
        if path.suffix in (".h", ".cpp", ".c", ".td"):
            rest = head[place + 1 : place + 3]
            if len(rest) < 2 or rest[0].strip() not in ("//", "") or not rest[1].startswith("//"):
                problems.append(f"{path}: no paragraph after the banner that says what the file is")
    return problems


if __name__ == "__main__":
    main(check)
