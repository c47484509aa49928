#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""What the built libraries and programs need and export.

libtilejit.so, tilec, the worker and the runner for real chips need no LLVM. libtilejit.so exports the symbols of
runtime/lib/Runtime/exports.txt, all under one symbol version, and libtilejit-compiler.so exports its one entry point
beside the identities of types and traits that it must share with libMLIR (compiler/lib/Driver/tilejit-compiler.map).
"""

import re
import subprocess

from common import main

NO_LLVM = ("lib/libtilejit.so", "bin/tilec", "bin/tilejit-worker", "bin/e2e/gpu-runner")
COMPILER = "lib/libtilejit-compiler.so"
IDENTITY = re.compile(r"_Z(GVZ|Z)?N4mlir6(TypeID3get|detail14TypeIDResolver)")


def needed(path):
    """Names of the shared libraries a file asks for."""
    text = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[([^\]]+)\]", text)


def exported(path):
    """Names of the dynamic symbols that a library defines, without versions."""
    text = subprocess.run(["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[-1].split("@")[0] for row in rows if len(row) == 3 and row[1] != "A"}


def check(root, build):
    """Problems, one a line."""
    problems = []
    for name in NO_LLVM:
        path = build / name
        if not path.exists():
            problems.append(f"{name}: not built")
            continue
        problems += [f"{name}: needs {lib}" for lib in needed(path) if re.search(r"LLVM|MLIR|lld", lib)]
    library = build / NO_LLVM[0]
    if library.exists():
        listed = set((root / "runtime/lib/Runtime/exports.txt").read_text().split())
        found = exported(library)
        problems += [f"{NO_LLVM[0]}: exports {name}, which is not listed" for name in sorted(found - listed)]
        problems += [f"{NO_LLVM[0]}: does not export {name}, which is listed" for name in sorted(listed - found)]
    compiler = build / COMPILER
    if compiler.exists():
        found = {name for name in exported(compiler) if not IDENTITY.match(name)}
        if found != {"tilejit_compiler_compile"}:
            problems.append(f"{COMPILER}: exports {sorted(found)[:5]}")
    return problems


if __name__ == "__main__":
    main(check)
