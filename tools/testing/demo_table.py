#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Runs the examples through tilec and prints one table: what tools/demo.sh shows."""

import json
import pathlib
import subprocess
import sys

# Example, sizes of its dimensions.
ROWS = (
    ("matmul", {"m": 512}),
    ("ffn_up", {"tokens": 16}),
    ("ffn_down", {"tokens": 1}),
    ("qkv", {"tokens": 64}),
    ("batched_matmul", {}),
    ("matmul_int8", {"m": 512}),
    ("matmul_f64", {}),
    ("bias_gelu", {"tokens": 512}),
    ("elementwise_swiglu", {"tokens": 256}),
    ("reduce_sum", {"tokens": 1024}),
    ("argmax", {}),
    ("softmax", {"rows": 4096}),
    ("log_softmax", {}),
    ("layernorm", {"tokens": 1024}),
    ("rmsnorm", {"tokens": 1024}),
    ("transpose", {"tokens": 512}),
    ("cast_bf16", {"tokens": 1024}),
)
HEAD = ("operator", "sizes", "time", "GFLOP/s", "GB/s", "% of peak", "largest error", "verified", "compile", "cache")


def call(tilec, *arguments):
    """The JSON object that a tilec call prints; the program ends with its error where it fails."""
    done = subprocess.run([tilec, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tilec {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}{done.stdout[-2000:]}")
    return json.loads(done.stdout)


def dims_of(path):
    """Names of the dimensions of a description."""
    return list(json.loads(path.read_text()).get("dims", {}))


def time_text(milliseconds):
    """Milliseconds with three significant digits."""
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.3g} s"


def row_of(tilec, path, sizes):
    """The cells of one example."""
    known = dims_of(path)
    settings = [w for name, size in sizes.items() if name in known for w in ("--set", f"{name}={size}")]
    first = call(tilec, "run", str(path), *settings, "--verify")
    timed = call(tilec, "bench", str(path), *settings)
    shape = " ".join(f"{k}={v}" for k, v in timed.get("dims", {}).items()) or "-"
    return (
        f"{first['op']} ({path.stem})",
        shape,
        time_text(timed["time_ms"]),
        f"{timed['gflops']:.4g}",
        f"{timed['gbytes_per_s']:.3g}",
        f"{timed['percent_of_peak']:.0f} ({timed['bound']})",
        f"{first['max_abs_error']:.2g}",
        "yes" if first["verified"] else "no",
        time_text(first["compile_ms"]) if first["cache"] != "hit" else "-",
        first["cache"],
    ), first["cache"]


def main():
    tilec, examples = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    rows, caches = [HEAD], []
    for name, sizes in ROWS:
        path = examples / f"{name}.json"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{path}", end="", file=sys.stderr, flush=True)
        cells, cache = row_of(tilec, path, sizes)
        rows.append(cells)
        caches.append(cache)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))
        if number == 0:
            print("  ".join("-" * width for width in widths))
    if all(cache == "hit" for cache in caches):
        print("Every kernel came from the cache.")
    else:
        print(f"{caches.count('miss')} kernels were compiled; a second run finds them in the cache.")


if __name__ == "__main__":
    main()
