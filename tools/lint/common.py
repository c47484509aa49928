# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""What the checks share: the files of the tree and how a check reports."""

import pathlib
import subprocess
import sys


def tracked(root, *suffixes):
    """Files that git tracks or would track, relative to the root, by suffix; all of them without one."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    paths = [pathlib.PurePosixPath(line) for line in sorted(set(listing))]
    return [p for p in paths if (root / p).is_file() and (not suffixes or p.suffix in suffixes)]


def main(check):
    """Runs check(root, build) -> list of problems, prints them, exits with 1 where there are any."""
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else root / "build").resolve()
    problems = check(root, build)
    print("\n".join(problems) if problems else f"{pathlib.Path(sys.argv[0]).stem}: ok")
    sys.exit(1 if problems else 0)
