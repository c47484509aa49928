#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""A file includes only headers that its layer may see.

LAYERS is the whole rule: the longest matching folder wins, and its list names the include prefixes of ours, MLIR's and
LLVM's that files below it may use. A source file that no folder covers is an error, so that a new folder is added here
on purpose. Back ends do not see each other, nor do devices.
"""

import re

from common import main, tracked

BASE = ["tilejit/Base/"]
SHARED = BASE + ["tilejit/ABI/", "tilejit/Description/", "tilejit/Target/"]
RUNTIME = SHARED + ["tilejit/Reference/", "tilejit/Cache/", "tilejit/Device/", "tilejit/Runtime/", "tilejit/Simulator/",
                    "tilejit-c/"]
LLVM = ["mlir/", "llvm/", "lld/"]
DIALECT = ["tilejit/Dialect/"]
PASSES = ["tilejit/Transforms/", "tilejit/Conversion/"]
COMPILER = SHARED + DIALECT + PASSES + ["tilejit/OpLib/", "tilejit/Interpreter/", "tilejit/Driver/"]

LAYERS = {
    "runtime/include/tilejit/Base": BASE,
    "runtime/lib/Base": BASE,
    "runtime/include/tilejit/ABI": BASE + ["tilejit/ABI/", "tilejit/Target/"],
    "runtime/lib/ABI": BASE + ["tilejit/ABI/", "tilejit/Target/"],
    "runtime/include/tilejit/Target": BASE + ["tilejit/Target/"],
    "runtime/lib/Target": BASE + ["tilejit/Target/"],
    "runtime/include/tilejit/Description": BASE + ["tilejit/Description/"],
    "runtime/lib/Description": BASE + ["tilejit/Description/"],
    "runtime/include/tilejit/Reference": BASE + ["tilejit/Description/", "tilejit/Reference/"],
    "runtime/reference": BASE + ["tilejit/Description/", "tilejit/Reference/"],
    "runtime/include/tilejit/Cache": SHARED + ["tilejit/Cache/"],
    "runtime/lib/Cache": SHARED + ["tilejit/Cache/"],
    "runtime/include/tilejit/Device": BASE + ["tilejit/ABI/", "tilejit/Target/", "tilejit/Device/"],
    "runtime/lib/Device": BASE + ["tilejit/ABI/", "tilejit/Target/", "tilejit/Device/"],
    "runtime/devices": BASE + ["tilejit/ABI/", "tilejit/Target/", "tilejit/Device/"],
    "runtime/devices/sim": BASE + ["tilejit/ABI/", "tilejit/Target/", "tilejit/Device/", "tilejit/Simulator/"],
    "runtime/include/tilejit/Simulator": BASE + ["tilejit/Simulator/"],
    "runtime/lib/Simulator": BASE + ["tilejit/Simulator/"],
    "runtime/simulator": BASE + ["tilejit/Simulator/", "llvm/"],
    "runtime/include/tilejit-c": ["tilejit-c/"],
    "runtime": RUNTIME,
    "dialects": DIALECT + LLVM,
    "compiler/lib/Interpreter": BASE + DIALECT + LLVM + ["tilejit/Interpreter/"],
    "compiler/lib/OpLib": SHARED + DIALECT + LLVM + ["tilejit/OpLib/"],
    "compiler/lib/Transforms": BASE + DIALECT + LLVM + ["tilejit/Transforms/"],
    "compiler/lib/Conversion": SHARED + DIALECT + LLVM + PASSES,
    "compiler/backends": SHARED + DIALECT + LLVM + PASSES + ["tilejit/Driver/"],
    "compiler": COMPILER + LLVM,
    "tools": RUNTIME + COMPILER + LLVM,
    "test": RUNTIME + COMPILER + LLVM,
    "examples": ["tilejit-c/"],
}
INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]((?:tilejit|tilejit-c|mlir|mlir-c|llvm|llvm-c|lld)/[^">]+)[">]', re.M)
SIBLING = re.compile(r"^(compiler/backends|runtime/devices)/([^/]+)/")
ANY_QUOTED = re.compile(r'include\s*"(?:backends|devices)/([^/"]+)/')


def check(root, build):
    """Problems, one a line."""
    problems = []
    for path in tracked(root, ".h", ".cpp", ".c", ".td"):
        name = path.as_posix()
        keys = [key for key in LAYERS if name.startswith(key + "/")]
        if not keys:
            problems.append(f"{name}: no layer covers this file")
            continue
        allowed = tuple(LAYERS[max(keys, key=len)])
        text = (root / path).read_text(errors="replace")
        problems += [f"{name}: may not include {inc}" for inc in INCLUDE.findall(text) if not inc.startswith(allowed)]
        here = SIBLING.match(name)
        if here:
            others = {other for other in ANY_QUOTED.findall(text) if other not in (here.group(2), "common")}
            problems += [f"{name}: {here.group(2)} may not include its sibling {other}" for other in sorted(others)]
    return problems


if __name__ == "__main__":
    main(check)
