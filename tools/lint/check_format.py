#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""C and C++ are formatted as clang-format-22 does with the .clang-format of the root."""

import shutil
import subprocess

from common import main, tracked


def check(root, build):
    """Problems, one a line."""
    tool = shutil.which("clang-format-22") or "/usr/lib/llvm-22/bin/clang-format"
    files = [str(p) for p in tracked(root, ".h", ".cpp", ".c")]
    done = subprocess.run([tool, "--dry-run", "-Werror", *files], cwd=root, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    names = sorted({line.split(":", 1)[0] for line in done.stderr.splitlines() if ": error:" in line})
    return [f"{name}: not formatted (clang-format-22 -i)" for name in names] or [done.stderr[-2000:]]


if __name__ == "__main__":
    main(check)
