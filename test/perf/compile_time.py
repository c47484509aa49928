#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""How long a compile for a GPU takes, beside Triton.

For each operator and target: milliseconds of the worker's stages, of Triton's stages, and their ratio. ptxas is left out
of both, because it is the same program; so is the start of either process. The first column is the first compile of a new
worker, the second one its second; Triton's is warm: one compile of each kernel runs before the clock does. Both run in
turns, and medians are printed.

Needs a Python with Triton (`pip install triton`), for example `venv/bin/python test/perf/compile_time.py`. The kernels
below are the same operators in Triton's language, with the tile sizes that ours has. Nothing here is a test: machines
differ.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@triton.jit
def softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * columns + at, e / tl.sum(e, 0), mask=at < columns)


@triton.jit
def swiglu(gate_ptr, up_ptr, y_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(gate_ptr + at, mask=at < count).to(tl.float32)
    up = tl.load(up_ptr + at, mask=at < count).to(tl.float32)
    tl.store(y_ptr + at, gate / (1 + tl.exp(-gate)) * up, mask=at < count)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    sums = tl.zeros((M, N), tl.float32)
    for first in range(0, k, K):
        depth = first + tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * k + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0)
        b = tl.load(b_ptr + depth[:, None] * n + columns[None, :], mask=(depth[:, None] < k) & (columns[None, :] < n),
                    other=0)
        sums = tl.dot(a, b, sums, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


def tensors(count, element):
    return [f"*{element}"] * count


# Name: the description, then the Triton kernel with its signature, constants and warps. The sizes of a product are known
# when ours is compiled, and one kernel is compiled for each; Triton gets one.
OPERATORS = {
    "softmax": (softmax, [*tensors(2, "fp32"), "i32"], {"BLOCK": 2048}, 8),
    "elementwise_swiglu": (swiglu, [*tensors(3, "bf16"), "i32"], {"BLOCK": 1024}, 4),
    "matmul": (matmul, [*tensors(3, "fp32"), "i32", "i32", "i32"], {"M": 32, "N": 32, "K": 32}, 4),
}
TARGETS = {"sm_80": GPUTarget("cuda", 80, 32), "gfx942": GPUTarget("hip", "gfx942", 64)}


def triton_ms(operator, target):
    """One compile, without ptxas."""
    kernel, types, constants, warps = OPERATORS[operator]
    signature = dict(zip(kernel.arg_names, types))
    signature.update({name: "constexpr" for name in constants})
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": warps})
    source = ASTSource(kernel, signature, constants)
    begin = time.perf_counter()
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(),
                            context)
    metadata = {"target": target, **options.__dict__}
    for name, stage in stages.items():
        if name != "cubin":
            module = stage(module, metadata)
    return 1000 * (time.perf_counter() - begin)


def our_ms(tilec, operator, target, folder):
    """The first and the second compile of a new worker, without its start and ptxas."""
    source = str(ROOT / f"examples/{operator}.json")
    command = [tilec, "compile", source, source, "--target", target, "--no-cache", "--json", "-o",
               str(folder / "kernel.tjk")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compile_time.py: {' '.join(command)}\n{done.stderr}")
    left_out = ("worker", "worker_start", "ptxas")
    return [sum(ms for name, ms in result["stages_ms"].items() if name not in left_out)
            for result in json.loads(done.stdout)["results"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default=str(ROOT / "build/bin/tilec"))
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    print(f"Triton {triton.__version__}; medians of {options.repeat} in turns, ms")
    print(f"{'operator':20} {'target':8} {'first':>7} {'second':>7} {'Triton':>7} {'ratio':>6} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for operator in OPERATORS:
            for name, target in TARGETS.items():
                triton_ms(operator, target)
                rows = [(*our_ms(options.tilec, operator, name, pathlib.Path(folder)), triton_ms(operator, target))
                        for _ in range(options.repeat)]
                first, second, peer = (statistics.median(column) for column in zip(*rows))
                print(f"{operator:20} {name:8} {first:7.1f} {second:7.1f} {peer:7.1f} {first / peer:6.2f} "
                      f"{second / peer:6.2f}")


if __name__ == "__main__":
    main()
