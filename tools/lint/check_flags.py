#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Spellings: pass flags are tile-*, convert-*-to-*; each pass flag stands in a RUN line; option flags of tilec are
lower case words joined by hyphens; settings are TILEJIT_*; no stray to-do marks."""

import re

from common import main, tracked

PASS = re.compile(r'def\s+(\w+)\s*:\s*Pass<"([^"]+)"')
FLAG = re.compile(r'"(--[A-Za-z][^",=: ]*)')
MARK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def check(root, build):
    """Problems, one a line."""
    problems = []
    runs = "\n".join(
        line for p in tracked(root, ".mlir", ".test") for line in (root / p).read_text(errors="replace").splitlines() if "RUN:" in line
    )
    for path in tracked(root, ".td"):
        for name, flag in PASS.findall((root / path).read_text()):
            if not re.fullmatch(r"tile-[a-z0-9-]+|convert-[a-z0-9]+-to-[a-z0-9-]+", flag):
                problems.append(f"{path}: the flag {flag} is neither tile-* nor convert-*-to-*")
            if not name.endswith("Pass"):
                problems.append(f"{path}: {name} does not end in Pass")
            if flag not in runs:
                problems.append(f"{path}: no RUN line uses -{flag}")
    for path in tracked(root, ".cpp", ".h"):
        text = (root / path).read_text(errors="replace")
        if path.is_relative_to("tools/tilec"):
            for flag in FLAG.findall(text):
                if not re.fullmatch(r"--[a-z][a-z0-9-]*", flag):
                    problems.append(f"{path}: the option {flag} is not lower case words joined by hyphens")
        for number, line in enumerate(text.splitlines(), 1):
            if MARK.search(line):
                problems.append(f"{path}:{number}: a mark without an issue")
    return problems


if __name__ == "__main__":
    main(check)
