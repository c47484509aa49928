#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""How fast the simulator is, beside a peer if one is given.

Compiles product-128.cu and softmax-rows.cu with clang, simulates them several times and prints the medians: time of one
128x128x64 tile step with all checks and with none, the 512x512x512 product with all checks on all cores, thread
instructions a second of softmax with both, and the time that decoding takes. `--peer` is a command that
prints the microseconds of one tile step with and without checks; it runs in turns with ours, and the ratio is printed.
Times are those of the launch alone (`time_ms`), one host thread unless said. Nothing here is a test: machines differ.
"""

import argparse
import json
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INPUTS = ROOT / "test/Simulator/Inputs"


def write_npy(path, shape, dtype, values):
    """A NumPy file: dtype is "f2" or "f4"."""
    header = f"{{'descr': '<{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    code = {"f2": "e", "f4": "f"}[dtype]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
                     struct.pack(f"<{len(values)}{code}", *values))


def compile_cuda(clang, source, target, output):
    """IR of a CUDA source."""
    subprocess.run([clang, "-x", "cuda", f"--cuda-gpu-arch={target}", "-nocudainc", "-nocudalib", "-std=c++20",
                    "-fdeclspec", "--cuda-device-only", "-Wno-unknown-cuda-version", "-O3", "-S", "-emit-llvm",
                    f"-I{INPUTS}", str(source), "-o", str(output)], check=True)


def simulate(options, module, kernel, grid, block, arguments, *more):
    """The JSON answer of one run."""
    command = [options.tilec, "simulate", str(module), "--target", "sm_80", "--kernel", kernel, "--grid", grid,
               "--block", block, "--json", *more]
    for argument in arguments:
        command += ["--arg", argument]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"simulator.py: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default=str(ROOT / "build/bin/tilec"))
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peer", help="prints two numbers: microseconds of a tile step with and without checks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        compile_cuda(options.clang, HERE / "product-128.cu", "sm_80", folder / "product.ll")
        compile_cuda(options.clang, ROOT / "test/Simulator/Kernels/softmax-rows.cu", "sm_80", folder / "softmax.ll")
        rng = random.Random(1)
        depth = 4096
        for name, rows in (("a", 256), ("b", 256)):
            write_npy(folder / f"{name}.npy", (rows, depth), "f2", [rng.randint(-2, 2) for _ in range(rows * depth)])
            write_npy(folder / f"{name}5.npy", (512, 512), "f2", [rng.randint(-2, 2) for _ in range(512 * 512)])
        steps = 4 * depth / 64
        product = [f"in:{folder}/a.npy", f"in:{folder}/b.npy", f"out:{folder}/c.npy:f32[256,256]", "i32:256",
                   f"i32:{depth}"]
        small = [f"in:{folder}/a5.npy", f"in:{folder}/b5.npy", f"out:{folder}/c.npy:f32[512,512]", "i32:512", "i32:512"]
        write_npy(folder / "x.npy", (256, 4096), "f4", [rng.uniform(-4, 4) for _ in range(256 * 4096)])
        softmax = [f"in:{folder}/x.npy", f"out:{folder}/y.npy:f32[256,4096]", "i32:256", "i32:4096"]
        rows = {"softmax": [], "softmax checked": [], "checked": [], "unchecked": [], "whole": [], "decode": [], "peer checked": [], "peer unchecked": []}
        for _ in range(options.repeat):
            run = simulate(options, folder / "product.ll", "product", "2,2", "256", product, "--threads", "1")
            rows["checked"].append(run["time_ms"] / steps * 1e3)
            rows["decode"].append(run["decode_ms"])
            run = simulate(options, folder / "product.ll", "product", "2,2", "256", product, "--threads", "1",
                           "--no-check", "all")
            rows["unchecked"].append(run["time_ms"] / steps * 1e3)
            rows["whole"].append(simulate(options, folder / "product.ll", "product", "4,4", "256", small)["time_ms"])
            for name, more in (("softmax", ["--no-check", "all"]), ("softmax checked", [])):
                run = simulate(options, folder / "softmax.ll", "softmax", "256", "64", softmax, "--threads", "1", *more)
                rows[name].append(run["thread_instructions_per_s"] / 1e9)
            if options.peer:
                answer = subprocess.run(options.peer, shell=True, capture_output=True, text=True, check=True).stdout
                for name, value in zip(("peer checked", "peer unchecked"), answer.split()):
                    rows[name].append(float(value))
        median = {name: statistics.median(values) for name, values in rows.items() if values}
        print("| figure | median | least |\n|---|---|---|")
        labels = {"checked": "tile step, all checks, one core, us", "unchecked": "tile step, no checks, us",
                  "whole": "512x512x512 product, all checks, all cores, ms", "decode": "decoding, ms",
                  "softmax": "softmax, no checks, one core, G thread instructions/s",
                  "softmax checked": "softmax, all checks, one core, G thread instructions/s",
                  "peer checked": "peer: tile step, its checks, us", "peer unchecked": "peer: tile step, no checks, us"}
        for name, value in median.items():
            print(f"| {labels[name]} | {value:.3g} | {min(rows[name]):.3g} |")
        for name in ("checked", "unchecked"):
            if f"peer {name}" in median:
                ratios = [p / o for p, o in zip(rows[f"peer {name}"], rows[name])]
                print(f"| peer / ours, {name} | {statistics.median(ratios):.2f} | {min(ratios):.2f} |")


if __name__ == "__main__":
    main()
