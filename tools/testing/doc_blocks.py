#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Runs the ```sh blocks of a page as a user would: in a copy of the examples, with build/bin on the PATH.

Each block is one shell script that must succeed. The commands that set up and test the tree stand for themselves:
tools/test.sh is what runs this, and tools/demo.sh runs without its build.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
REPLACED = (
    ("tools/test.sh", "true"),
    ("tools/demo.sh", f"{ROOT}/tools/demo.sh --no-build"),
    ("test/e2e/gpu/", f"{ROOT}/test/e2e/gpu/"),
    ("build/bin/tilec", "tilec"),
)


def pages():
    """README, CONTRIBUTING and the pages for users."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def problem(page, build):
    """None where every block of the page runs, else what failed."""
    blocks = BLOCK.findall(page.read_text())
    with tempfile.TemporaryDirectory(prefix="tilejit-docs-") as folder:
        here = pathlib.Path(folder)
        for name in ("examples", "runtime"):
            shutil.copytree(ROOT / name, here / name)
        environment = {**os.environ, "PATH": f"{build}/bin:{os.environ['PATH']}", "TILEJIT_CACHE_DIR": f"{folder}/cache"}
        for block in blocks:
            script = block
            for old, new in REPLACED:
                script = script.replace(old, new)
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script], cwd=here, env=environment, capture_output=True, text=True, timeout=600,
            )
            if done.returncode != 0:
                return f"exit {done.returncode} of\n{block}{done.stdout[-1500:]}{done.stderr[-1500:]}"
    return None


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    bad = [(page, text) for page in pages() if (text := problem(page, build))]
    for page, text in bad:
        print(f"{page.relative_to(ROOT)}: {text}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
