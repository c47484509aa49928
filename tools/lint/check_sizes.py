#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Files stay small enough to hold one idea: lines by suffix, and nothing binary or large is committed."""

from common import main, tracked

LINES = {".cpp": 800, ".c": 800, ".h": 400, ".td": 600, ".mlir": 600, ".py": 600, ".md": 600}
CMAKE_LINES = 100
BYTES = 200_000


def check(root, build):
    """Problems, one a line."""
    problems = []
    for path in tracked(root):
        size = (root / path).stat().st_size
        if size > BYTES:
            problems.append(f"{path}: {size} bytes, at most {BYTES}")
        limit = CMAKE_LINES if path.name == "CMakeLists.txt" else LINES.get(path.suffix)
        if limit is None:
            continue
        lines = (root / path).read_bytes().count(b"\n")
        if lines > limit:
            problems.append(f"{path}: {lines} lines, at most {limit}")
    return problems


if __name__ == "__main__":
    main(check)
