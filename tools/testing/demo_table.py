#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Runs the examples through tilec and compiles them for GPUs: the two tables that tools/demo.sh shows."""

import json
import pathlib
import subprocess
import sys
import tempfile

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
    ("attention", {"tokens": 256}),
    ("attention_causal_gqa", {"tokens": 64, "keys": 512}),
    ("attention_sequences", {"tokens": 256}),
    ("attention_decode", {}),
    ("attention_decode_layer", {"sequences": 1, "queries": 1, "pages": 256}),
    ("transpose", {"tokens": 512}),
    ("cast_bf16", {"tokens": 1024}),
)
HEAD = ("operator", "sizes", "time", "GFLOP/s", "GB/s", "% of peak", "largest error", "verified", "compile", "cache")

GPUS = ("sm_80", "sm_90a", "gfx906", "gfx942", "gfx1100")
GPU_HEAD = ("operator", "target", "payload", "size", "registers", "spills", "on-chip", "compile", "cache")


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


def gpu_row_of(tilec, path, target, folder):
    """The cells of one example compiled for one chip, and where the kernel came from."""
    result = call(tilec, "compile", str(path), "--target", target, "-o", str(folder / "kernel.tjk"))["results"][0]
    resources = result["resources"]

    def number(key, unit=""):
        return f"{resources[key]}{unit}" if key in resources else "-"

    return (
        path.stem,
        target,
        result["payload"]["kind"],
        f"{result['payload']['bytes'] / 1024:.1f} KiB",
        number("registers"),
        number("spill_bytes", " B"),
        number("shared_bytes", " B"),
        time_text(result["compile_ms"]) if result["cache"] != "hit" else "-",
        result["cache"],
    ), result["cache"]


def progress(text):
    """What is at work, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def print_table(rows, left_columns):
    """Rows under their head; the first columns stand left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = (cell.ljust(w) if i < left_columns else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
        print("  ".join(cells))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def main():
    tilec, examples = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    rows, gpu_rows, caches = [HEAD], [GPU_HEAD], []
    for name, sizes in ROWS:
        path = examples / f"{name}.json"
        progress(path)
        cells, cache = row_of(tilec, path, sizes)
        rows.append(cells)
        caches.append(cache)
    progress("")
    print_table(rows, 2)
    with tempfile.TemporaryDirectory() as folder:
        for name, _ in ROWS:
            for target in GPUS:
                progress(f"{name} for {target}")
                cells, cache = gpu_row_of(tilec, examples / f"{name}.json", target, pathlib.Path(folder))
                gpu_rows.append(cells)
                caches.append(cache)
    progress("")
    print("\nThe same for GPUs (compiled; `tilec verify --target sim:sm_80` runs them on the simulator):\n")
    print_table(gpu_rows, 3)
    if all(cache == "hit" for cache in caches):
        print("Every kernel came from the cache.")
    else:
        print(f"{caches.count('miss')} kernels were compiled; a second run finds them in the cache.")


if __name__ == "__main__":
    main()
