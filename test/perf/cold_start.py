#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""How long a whole `tilec run` takes, with an empty cache and with a full one, and where the time goes.

Times whole processes in turns, so that a machine that slows down slows all of them: an empty process, mlir-opt on an
empty module (what loading the same libraries costs at least), and for each description the first run (the cache folder is
new) and the second (nothing is compiled). Prints medians in milliseconds, the first run's ratio to mlir-opt, and the
medians of its stages as the worker reports them. Nothing here is a test: machines differ.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DESCRIPTIONS = ("matmul", "bias_gelu", "softmax", "layernorm", "transpose")


def timed(command, **more):
    """Milliseconds and standard output of one process."""
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, **more)
    return (time.perf_counter() - began) * 1e3, done.stdout


def run_pair(tilec, description, caches, first, second, stages):
    """One run with an empty cache and one with what it left."""
    cache = tempfile.mkdtemp(dir=caches)
    command = [tilec, "run", str(description), "--json"]
    environment = dict(os.environ, TILEJIT_CACHE_DIR=cache)
    took, answer = timed(command, env=environment)
    first.append(took)
    for stage, milliseconds in json.loads(answer)["stages_ms"].items():
        stages.setdefault(stage, []).append(milliseconds)
    second.append(timed(command, env=environment)[0])
    shutil.rmtree(cache)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default=str(ROOT / "build/bin/tilec"))
    parser.add_argument("--mlir-opt", default="mlir-opt-22")
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("descriptions", nargs="*", type=pathlib.Path,
                        default=[ROOT / "examples" / f"{name}.json" for name in DESCRIPTIONS])
    options = parser.parse_args()
    empty, mlir_opt = [], []
    first = {path: [] for path in options.descriptions}
    second = {path: [] for path in options.descriptions}
    stages = {path: {} for path in options.descriptions}
    with tempfile.TemporaryDirectory() as caches:
        for _ in range(options.repeat):
            empty.append(timed(["true"])[0])
            mlir_opt.append(timed([options.mlir_opt], input=b"module {}")[0])
            for path in options.descriptions:
                run_pair(options.tilec, path, caches, first[path], second[path], stages[path])
    bare = statistics.median(mlir_opt)
    print(f"empty process {statistics.median(empty):.1f} ms, mlir-opt on an empty module {bare:.1f} ms")
    for path in options.descriptions:
        cold = statistics.median(first[path])
        print(f"{path.stem}: first {cold:.1f} ms ({cold / bare:.2f} of mlir-opt), then {statistics.median(second[path]):.1f} ms")
        print("   " + ", ".join(f"{name} {statistics.median(values):.1f}" for name, values in stages[path].items()))


if __name__ == "__main__":
    main()
