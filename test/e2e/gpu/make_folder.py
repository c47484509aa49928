#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Makes a folder that shows on a machine with GPUs whether kernels compute what they should.

For each description: a package for all targets, random inputs, expected outputs in double precision and how far each may
be off; beside them the program that runs them and libtilejit.so. On the other machine, which needs nothing else but
libsodium and the GPU's driver: FOLDER/gpu-runner FOLDER
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGETS = "sm_75,sm_80,sm_86,sm_89,sm_90a,sm_100a,sm_120a,gfx906,gfx90a,gfx942,gfx950,gfx1030,gfx1100,gfx1201"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("descriptions", nargs="*", type=pathlib.Path, help="default: examples/*.json")
    parser.add_argument("--targets", default=TARGETS, help=f"default: {TARGETS}")
    parser.add_argument("--with-bitcode", action="store_true", help="add what simulated devices run")
    parser.add_argument("--limit", default="128", help="dimensions without a size get at most this")
    parser.add_argument("--set", action="append", default=[], help="size of a dimension: m=17")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options = parser.parse_intermixed_args()
    build = options.build.resolve()
    sizes = [word for text in options.set for word in ("--set", text)]
    for description in options.descriptions or sorted((ROOT / "examples").glob("*.json")):
        case = options.folder / description.stem
        make = [build / "bin/e2e/gpu-make-case", description, case, "--limit", options.limit, *sizes]
        compile_it = [build / "bin/tilec", "compile", description, "--target", options.targets, "-o", case / "kernel.tjk"]
        for command in (make, compile_it + ["--with-bitcode"] * options.with_bitcode):
            code = subprocess.run(command).returncode
            if code:
                sys.exit(code)
    for path in (build / "bin/e2e/gpu-runner", build / "lib/libtilejit.so.0"):
        shutil.copy(path, options.folder)


if __name__ == "__main__":
    main()
