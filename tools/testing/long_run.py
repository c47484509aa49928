#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""The long run behind tools/long.sh: random descriptions against the reference, and damage to a cache entry; all
kernels for CPUs on ragged sizes between guards; the simulator on every target and level of its kernels, faults and
mutants; random tile programs on the CPU and on simulated GPUs; and the runtime's tests under sanitizers.

Every round makes descriptions by a seed that is printed, and verifies them in one call. A failing round prints the seed
and the descriptions that failed, so that `--seed` with `--minutes 0` repeats it.
"""

import argparse
import itertools
import json
import pathlib
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

SIZES = (1, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 256, 300, 513)
FLOATS = ("f32", "f16", "bf16", "f64", "f8e4m3fn", "f8e5m2")
FUNCTIONS = ("exp", "tanh", "erf", "gelu", "silu", "sigmoid", "sqrt(abs", "log1p(abs", "softplus", "sin", "round", "relu")


def tensor(dtype, *shape):
    return {"dtype": dtype, "shape": list(shape)}


def make_matmul(choose):
    dtype = choose.choice((*FLOATS, "i8", "u8"))
    m, n, k = (choose.choice(SIZES) for _ in range(3))
    ta, tb = choose.random() < 0.3, choose.random() < 0.3
    out = {"i8": "i32", "u8": "i32"}.get(dtype, dtype if not dtype.startswith("f8") else "f32")
    batch = [choose.choice((1, 2, 3))] if choose.random() < 0.2 else []
    return {
        "op": "matmul",
        "inputs": {"a": tensor(dtype, *batch, *((k, m) if ta else (m, k))),
                   "b": tensor("i8" if dtype == "u8" else dtype, *((n, k) if tb else (k, n)))},
        "outputs": {"c": tensor(out, *batch, m, n)},
        "attributes": {"transpose_a": ta, "transpose_b": tb},
    }


def make_elementwise(choose):
    dtype = choose.choice(FLOATS[:4])
    shape = [choose.choice(SIZES) for _ in range(choose.randrange(1, 4))]
    other = [size if choose.random() < 0.6 else 1 for size in shape]
    function = choose.choice(FUNCTIONS)
    text = f"{function}(a + b)" + (")" if "(" in function else "") + " * 0.5 - b"
    return {"op": "elementwise", "inputs": {"a": tensor(dtype, *shape), "b": tensor(dtype, *other)},
            "outputs": {"y": tensor(dtype, *shape)}, "attributes": {"expression": {"y": text}}}


def make_rows(choose):
    op = choose.choice(("softmax", "log_softmax", "layernorm", "rmsnorm"))
    dtype = choose.choice(FLOATS[:4])
    shape = [choose.choice(SIZES) for _ in range(choose.randrange(1, 4))]
    return {"op": op, "inputs": {"x": tensor(dtype, *shape)}, "outputs": {"y": tensor(dtype, *shape)},
            "attributes": {"axis": choose.randrange(len(shape)) if "softmax" in op else -1}}


def make_reduce(choose):
    shape = [choose.choice(SIZES) for _ in range(choose.randrange(1, 5))]
    axes = sorted(choose.sample(range(len(shape)), choose.randrange(1, len(shape) + 1)))
    kind = choose.choice(("sum", "mean", "max", "min", "argmax", "argmin"))
    dtype = choose.choice(FLOATS[:4])
    out = [size for i, size in enumerate(shape) if i not in axes]
    return {"op": "reduce", "inputs": {"x": tensor(dtype, *shape)},
            "outputs": {"y": tensor("i64" if kind.startswith("arg") else dtype, *out)}, "attributes": {"kind": kind, "axes": axes}}


def make_transpose(choose):
    shape = [choose.choice(SIZES[:14]) for _ in range(choose.randrange(1, 5))]
    order = choose.sample(range(len(shape)), len(shape))
    dtype = choose.choice((*FLOATS, "i8", "i64", "bool"))
    return {"op": "transpose", "inputs": {"x": tensor(dtype, *shape)}, "outputs": {"y": tensor(dtype, *(shape[i] for i in order))},
            "attributes": {"permutation": order}}


def make_attention(choose):
    batch, key_heads, group = (choose.randrange(1, 4) for _ in range(3))
    queries, keys = (choose.choice(SIZES[:14]) for _ in range(2))
    depth, dtype = choose.choice((1, 32, 64, 80, 96, 128)), choose.choice(FLOATS[:4])
    q, k = (batch, key_heads * group, queries, depth), (batch, key_heads, keys, depth)
    inputs = {"q": tensor(dtype, *q), "k": tensor(dtype, *k), "v": tensor(dtype, *k)}
    if choose.random() < 0.5:
        inputs["bias"] = tensor(dtype, *(size if choose.random() < 0.6 else 1 for size in (*q[:3], keys)))
    outputs = {"o": tensor(choose.choice(FLOATS[:4]), *q), "lse": tensor("f32", *q[:3])}
    attributes = {"causal": choose.random() < 0.6}
    if attributes["causal"] and choose.random() < 0.5:
        attributes["window"] = choose.randrange(1, 40)
    if choose.random() < 0.3:
        attributes["softcap"] = choose.choice((0.5, 20))
    steps = []
    if choose.random() < 0.3:
        inputs["residual"] = tensor(dtype, *(size if choose.random() < 0.7 else 1 for size in q))
        steps = [{"op": "scale", "value": 0.75}, {"op": "add", "input": "residual"}]
    if batch == 1 and "bias" not in inputs:
        count = choose.randrange(2, 7)
        inputs.update({name: tensor("i32", count) for name in ("cu_seqlens_q", "cu_seqlens_k")})
    return {"op": "attention", "inputs": inputs, "outputs": outputs, "attributes": attributes, "epilogue": steps}


def make_decode(choose):
    batch, key_heads, group = (choose.randrange(1, 4) for _ in range(3))
    queries = choose.choice((1, 1, 1, 2, 4, 7, 17))
    page, pages = choose.choice((1, 2, 5, 16, 17, 32, 37, 64, 130)), choose.choice((1, 3, 7, 20))
    depth, dtype = choose.choice((1, 32, 64, 80, 96, 128)), choose.choice(FLOATS[:4])
    q, cache = (batch, key_heads * group, queries, depth), (choose.randrange(1, 70), page, key_heads, depth)
    attributes = {"causal": choose.random() < 0.6}
    if attributes["causal"] and choose.random() < 0.5:
        attributes["window"] = choose.randrange(1, 40)
    return {"op": "attention_decode",
            "inputs": {"q": tensor(dtype, *q), "k_cache": tensor(dtype, *cache), "v_cache": tensor(dtype, *cache),
                       "block_table": tensor("i32", batch, pages), "seq_lens": tensor("i32", batch)},
            "outputs": {"o": tensor(choose.choice(FLOATS[:4]), *q), "lse": tensor("f32", *q[:3])},
            "attributes": attributes}


MAKERS = (make_matmul, make_matmul, make_elementwise, make_rows, make_reduce, make_transpose, make_attention, make_decode)


def sweep_round(tilec, folder, seed, count=40):
    """None where all descriptions of a seed are right, else what tilec says."""
    choose = random.Random(seed)
    paths = []
    for number in range(count):
        path = folder / f"{number}.json"
        path.write_text(json.dumps({"tilejit": "1.0", **choose.choice(MAKERS)(choose)}))
        paths.append(str(path))
    done = subprocess.run(
        [tilec, "verify", *paths, "--random-seed", str(seed), "--cache-dir", str(folder / "cache")], capture_output=True, text=True,
    )
    if done.returncode == 0:
        return None
    bad = [line for line in done.stdout.splitlines() if not line.startswith("ok")]
    texts = [pathlib.Path(p).read_text() for p in paths if any(f" {pathlib.Path(p).stem} " in line for line in bad)]
    return "\n".join([*bad, done.stderr, *texts])


def damage_round(tilec, folder, seed):
    """Flips one byte at every place of an entry of its own: each time a miss with a right result."""
    cache, path = folder / f"damage-{seed}", folder / "damage.json"
    path.write_text(json.dumps({"tilejit": "1.0", "op": "cast", "inputs": {"x": tensor("f32", 5)}, "outputs": {"y": tensor("f16", 5)}}))
    command = [tilec, "run", str(path), "--verify", "--json", "--cache-dir", str(cache)]
    subprocess.run(command, check=True, capture_output=True)
    entry = next(p for p in cache.rglob("*.tjk") if "quarantine" not in p.parts)
    good, choose = entry.read_bytes(), random.Random(seed)
    for place in choose.sample(range(len(good)), 64):
        entry.write_bytes(good[:place] + bytes([good[place] ^ (1 << choose.randrange(8))]) + good[place + 1 :])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or json.loads(done.stdout)["cache"] != "miss":
            return f"byte {place}: exit {done.returncode} {done.stdout[:200]}"
    return None


def simulator_problems(tilec, schedules):
    """One item for each file of the simulator's tests, and one for the mutants: None, or what is wrong."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "test" / "Simulator"
    clang = shutil.which("clang-22")
    if not clang:
        print("SKIP: simulator: no clang-22")
        return
    tools = ["--tilec", tilec, "--clang", clang]
    files = sorted([*folder.glob("Kernels/*"), *folder.glob("Faults/*")])
    commands = [[sys.executable, str(folder / "launch.py"), str(path), *tools] for path in files]
    commands.append([sys.executable, str(folder / "mutate.py"), *tools, "--schedules", str(schedules)])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if command is commands[-1]:
            print(done.stdout, flush=True)
        lines = [line for line in done.stdout.splitlines() if not line.startswith("ok")]
        yield None if done.returncode == 0 else "\n".join([*lines, done.stderr])


def program_problems(tilec, seed, count=3000, together=50):
    """Random tile programs, one item for each run of some of them: None, or what is wrong."""
    program = pathlib.Path(tilec).resolve().parent / "tests" / "TileFuzzTest"
    if not program.exists():
        print("SKIP: programs: no TileFuzzTest")
        return
    for first in range(seed, seed + count, together):
        command = [str(program), "--programs", str(together), "--first-seed", str(first)]
        done = subprocess.run(command, capture_output=True, text=True)
        yield None if done.returncode == 0 else f"{' '.join(command)}:\n{done.stdout[-4000:]}{done.stderr}"


def guarded_problems(tilec, seed, parts=300):
    """All subjects of the sweep between guards, then products over all sizes from 0 to 70: one item for each run."""
    program = pathlib.Path(tilec).resolve().parent / "tests" / "SweepTest"
    if not program.exists():
        print("SKIP: sweep: no SweepTest")
        return
    names = subprocess.run([str(program), "--subject-names"], capture_output=True, text=True, check=True).stdout.split()
    commands = [["--part", str(part), "--parts", str(parts)] for part in range(1, parts + 1)]
    whole = [name for name in names if name.startswith("matmul/") and name.endswith("/any@native")]
    commands += [["--only", name, "--full"] for name in whole]
    for number, words in enumerate(commands, 1):
        print(f"sweep {number}/{len(commands)}: {' '.join(words)}", flush=True)
        command = [str(program), "[sweep]", "--seed", str(seed), *words]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        yield None if done.returncode == 0 else f"{' '.join(command)}:\n{done.stdout[-8000:]}{done.stderr[-2000:]}"


def sanitizer_problems():
    """The runtime's tests under the sanitizers as one item: None, or what is wrong."""
    command = [str(pathlib.Path(__file__).resolve().parents[1] / "test.sh"), "--only", "sanitizers"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    yield None if done.returncode == 0 else f"{' '.join(command)}:\n{done.stdout[-8000:]}{done.stderr[-2000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tilec")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    parser.add_argument("--only", choices=("random", "sweep", "simulator", "programs", "sanitizers"), help="one of the parts")
    options = parser.parse_args()
    end, passed, failed, number = time.monotonic() + 60 * options.minutes, 0, 0, 0
    parts = {"sweep": lambda: guarded_problems(options.tilec, options.seed),
             "simulator": lambda: simulator_problems(options.tilec, schedules=3),
             "programs": lambda: program_problems(options.tilec, options.seed),
             "sanitizers": sanitizer_problems}
    chosen = [part for name, part in parts.items() if options.only in (None, name)]
    for problem in itertools.chain.from_iterable(part() for part in chosen):
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem:
            print(f"FAIL {problem}", flush=True)
    while options.only in (None, "random"):
        seed = options.seed + number
        with tempfile.TemporaryDirectory(prefix="tilejit-long-") as folder:
            check = damage_round if number % 10 == 9 else sweep_round
            problem = check(options.tilec, pathlib.Path(folder), seed)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem:
            print(f"FAIL seed {seed} ({check.__name__}):\n{problem}", flush=True)
        number += 1
        if time.monotonic() >= end:
            break
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
