#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Turns every ```mlir example of a dialect's .td files into IR that tile-opt can parse, one split for each, or with
--one as one module with a nested module for each.

Examples are written for readers, so most use values from nowhere. OPERANDS declares those values; an example whose
operation is missing there fails to parse, which is the point: whoever writes an example adds a line. An operation
without any example is an error, too.
"""
import pathlib
import re
import sys

TILE_OPERANDS = {
    "view": "%p: !tile.ptr<f32>, %m: index, %n: index, %s: index",
    "subview": "%v: !tile.view<?x?xf32>, %i: index, %j: index, %n: index",
    "dim": "%v: !tile.view<?x64xf32>",
    "stride": "%v: !tile.view<?x64xf32>",
    "base": "%v: !tile.view<?x64xf32>",
    "load": "%v: !tile.view<?x?xf32>, %i: index, %k: index",
    "store": "%v: !tile.view<?x?xf32>, %i: index, %j: index, %t: tensor<32x64xf32>",
    "atomic": "%v: !tile.view<?xf32>, %i: index, %t: tensor<64xf32>",
    "prefetch": "%v: !tile.view<?x?xf32>, %i: index, %k: index",
    "addptr": "%p: tensor<64x!tile.ptr<f32>>, %o: tensor<64xi32>",
    "gather": "%p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>",
    "scatter": "%p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>, %x: tensor<64xf32>",
    "atomic_rmw": "%p: tensor<64x!tile.ptr<i32>>, %m: tensor<64xi1>, %x: tensor<64xi32>",
    "atomic_cas": "%p: tensor<64x!tile.ptr<i32>>, %e: tensor<64xi32>, %d: tensor<64xi32>",
    "dot": "%a: tensor<32x64xf16>, %b: tensor<64x48xf16>, %c: tensor<32x48xf32>, "
           "%u: tensor<32x64xi8>, %v: tensor<64x48xi8>, %w: tensor<32x48xi32>",
    "reduce": "%x: tensor<32x64xf32>",
    "scan": "%x: tensor<64xf32>",
    "splat": "%x: f32",
    "iota": "",
    "broadcast": "%x: tensor<1x64xf32>",
    "expand": "%x: tensor<64xf32>",
    "reshape": "%x: tensor<32x64xf32>",
    "transpose": "%x: tensor<32x64xf32>",
    "cat": "%x: tensor<32x64xf32>, %y: tensor<16x64xf32>",
    "join": "%x: tensor<32xf32>, %y: tensor<32xf32>",
    "split": "%t: tensor<32x2xf32>",
    "extract": "%x: tensor<32x64xf32>, %i: index, %j: index",
    "gather_in_tile": "%x: tensor<64x8xf32>, %i: tensor<32x8xi32>",
    "fp_to_fp": "%x: tensor<64xf32>",
    "fp_to_int": "%x: tensor<64xf32>",
    "pack": "%x: tensor<32x64xi4>",
    "unpack": "%x: tensor<32x32xi8>",
    "assert": "%c: i1",
    "print": "%t: tensor<32xf32>",
    "program_id": "",
    "num_programs": "",
    "assume": "%m: index, %p: !tile.ptr<f32>",
    "hint": "",
}
SHARED = "!tilegpu.shared<2x4xf32, #tilegpu.memory<[2, 4], offsets = [1, 2, 4]>>"
TILEGPU_OPERANDS = {
    "convert_layout": "%x: tensor<64xf32, #tilegpu.layout<[64], registers = [1], lanes = [2, 4, 8, 16, 32]>>",
    "reduce_in_warps": "%x: tensor<64xf32, #tilegpu.layout<[64], lanes = [1, 2, 4, 8, 16], warps = [32]>>",
    "shared_alloc": "",
    "shared_store": f"%x: tensor<2x4xf32, #tilegpu.layout<[2, 4], lanes = [1, 2, 4, 0, 0]>>, %s: {SHARED}",
    "shared_load": f"%s: {SHARED}, %i: index, %k: index",
    "shared_gather": "%s: !tilegpu.shared<4xf32, #tilegpu.memory<[4], offsets = [1, 2]>>, "
                     "%i: tensor<2xi32, #tilegpu.layout<[2], lanes = [1, 0, 0, 0, 0]>>",
    "barrier": "",
}
# By the name of the dialect's folder.
OPERANDS = {"Tile": TILE_OPERANDS, "TileGPU": TILEGPU_OPERANDS}
# The example is a whole file, or shown within that of another operation.
WHOLE = {"kernel"}
SHOWN_ELSEWHERE = {"Tile": {"yield": "reduce"}, "TileGPU": {"yield": "reduce_in_warps"}}


def wrap(dialect: str, mnemonic: str, example: str) -> str:
    """IR that holds the example."""
    if mnemonic in WHOLE:
        return example
    if example.startswith("!"):
        return "\n".join(f"func.func private @type{i}({t})" for i, t in enumerate(example.splitlines()))
    if example.startswith("#"):
        parts = re.split(r"\n(?=#)", example)
        aliases = [part for part in parts if re.match(r"#\w+ = ", part)]
        uses = [f"module attributes {{example.a = {part}}} {{}}" for part in parts if part not in aliases]
        return "\n".join(aliases + uses)
    if mnemonic == "return":
        return f"tile.kernel @example() {{\n{example}\n}}"
    if mnemonic not in OPERANDS[dialect]:
        sys.exit(f"{dialect.lower()}.{mnemonic} has an example but no operands in {__file__}")
    return f"func.func @example({OPERANDS[dialect][mnemonic]}) {{\n{example}\nreturn\n}}"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    dialect = folder.parent.name
    pieces, with_example, operations = [], set(), set()
    for path in sorted(folder.glob("*.td")):
        text = path.read_text()
        for record in re.split(r"^(?=def )", text, flags=re.M)[1:]:
            mnemonic = re.search(r'<"(\w+)"', record.split("{")[0])
            mnemonic = mnemonic.group(1) if mnemonic else ""
            head = record.splitlines()[0]
            if re.match(rf"def {dialect}_\w+Op\b", head):
                operations.add(mnemonic)
            body = record.replace("\\n", "\n")
            for example in re.findall(r"```mlir\n(.*?)```", body, flags=re.S):
                lines = example.rstrip().splitlines()
                example = "\n".join(lines).strip()
                example = re.sub(r"^ {4}", "", example, flags=re.M)
                with_example.add(mnemonic)
                pieces.append(f"// {path.name}: {head.split()[1]}\n{wrap(dialect, mnemonic, example)}")
    missing = operations - with_example - {op for op, host in SHOWN_ELSEWHERE[dialect].items() if host in with_example}
    if missing or not operations:
        sys.exit(f"operations without an example: {', '.join(sorted(missing)) or 'all'}")
    if "--one" in sys.argv:
        lines = "\n".join(f"module {{\n{piece}\n}}" for piece in pieces).splitlines()
        aliases = [line for line in lines if re.match(r"#\w+ = ", line)]
        print("\n".join(aliases + [line for line in lines if line not in aliases]))
    else:
        print("\n// -----\n".join(pieces))
    print(f"{len(pieces)} examples of {len(operations)} operations", file=sys.stderr)


main()
