#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""How fast operators are on this machine's processor, beside the libraries and frameworks that it has.

Measures each operator of CASES by tilejit and by every peer that can be opened: OpenBLAS, BLIS and oneDNN from the
system's libraries (Debian: libopenblas0-pthread, libblis4-pthread, libdnnl2), PyTorch, ONNX Runtime and IREE from the
Python that runs this, which needs NumPy:

    venv/bin/python test/perf/peers.py --threads 1,2 --markdown peers.md --picture peers.svg

All contestants of a case work on the same arrays, in one process, in turns: so many rounds of enough calls each, and
the median of the rounds counts. The process is bound to as many processors as there are threads. tilejit takes part
twice, which shows the noise. Every contestant's result is checked. What the machine can do at most (multiply-adds of
the type, reading memory) is measured in between. Variables that hold a peer back are removed from the environment.
"plain" is with all operands as they lie at the time of the call; "pre" is with weights that were packed before.

Nothing here is a test: machines differ. Set TILEJIT_LIBRARY to measure another libtilejit.so than that of build/.
"""

import argparse
import ctypes
import dataclasses
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy

import contestants
import frameworks
import iree_contestant
import report

HERE = pathlib.Path(__file__).resolve().parent
HOLDING_BACK = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA",
                "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "ATEN_CPU_CAPABILITY", "MKL_CBWR")


# --- cases -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """An operator at one size, and the ratio to the best peer that is aimed at with one thread and with two."""

    name: str
    kind: str
    dtype: str
    goals: tuple
    description: dict
    operations: float
    constant: str = ""
    gelu: bool = False
    causal: bool = False
    arrays: dict = dataclasses.field(default_factory=dict)


def operands(shapes, dtype):
    return {name: {"dtype": dtype, "shape": list(shape)} for name, shape in shapes.items()}


def matmul(m, k, n, dtype, goals, gelu=False, signed=False):
    types = {"int8": ("i8" if signed else "u8", "i8", "i32")}.get(dtype, (dtype,) * 3)
    inputs = {name: {"dtype": of, "shape": shape} for name, of, shape in zip("ab", types, ([m, k], [k, n]))}
    description = {"tilejit": "1.0", "op": "matmul", "inputs": inputs,
                   "outputs": {"c": {"dtype": types[2], "shape": [m, n]}}}
    if gelu:
        inputs["bias"] = {"dtype": dtype, "shape": [n]}
        description["epilogue"] = [{"op": "add", "input": "bias"}, {"op": "gelu", "approximate": "tanh"}]
    name = f"GEMM {m}×{k}×{n} {dtype}" + (" s8×s8" if signed else "") + (" + bias + GELU" if gelu else "")
    return Case(name, "matmul", dtype, goals, description, 2 * m * k * n, "b", gelu)


def rows(kind, count, columns, goals, *parameters):
    shapes = {"x": (count, columns), **{name: (columns,) for name in parameters}}
    description = {"tilejit": "1.0", "op": kind, "inputs": operands(shapes, "f32"),
                   "outputs": operands({"y": (count, columns)}, "f32")}
    name = f"{kind} {count}×{columns} f32"
    if kind == "elementwise":
        description["attributes"] = {"expression": {"y": "gelu_tanh(x + bias)"}}
        name = f"bias + GELU {count}×{columns} f32"
    return Case(name, kind, "f32", goals, description, 0)


def attention(heads, queries, keys, depth, goals, causal=False):
    shapes = {"q": (1, heads, queries, depth), "k": (1, heads, keys, depth), "v": (1, heads, keys, depth)}
    description = {"tilejit": "1.0", "op": "attention", "inputs": operands(shapes, "f32"),
                   "outputs": operands({"o": shapes["q"]}, "f32"), "attributes": {"causal": causal}}
    name = f"attention {heads} heads, {queries} × {keys} × {depth} f32" + (" causal" if causal else "")
    return Case(name, "attention", "f32", goals, description, 4 * heads * queries * keys * depth / (1 + causal),
                causal=causal)


def cases():
    for dtype in ("f32", "bf16", "int8"):
        for size in (128, 256, 512, 1024, 2048):
            yield matmul(size, size, size, dtype, (0.98, 0.98))
    yield matmul(1024, 1024, 1024, "int8", (0.98, 0.98), signed=True)
    yield matmul(127, 255, 513, "f32", (1.15, 1.25))
    yield matmul(1000, 999, 1001, "f32", (1.15, 1.25))
    yield matmul(64, 768, 3072, "f32", (1.05, 1.05))
    for m in (8, 16, 32):
        for n in (4096, 11008):
            yield matmul(m, 4096, n, "f32", (1.6 if m <= 16 else 1.25, 1.3))
    yield matmul(16, 4096, 4096, "bf16", (1.6, 1.3))
    yield matmul(16, 4096, 4096, "int8", (1.6, 1.3))
    for dtype in ("f32", "bf16", "int8"):
        yield matmul(1, 4096, 4096, dtype, (1.15, 1.3))
    yield matmul(512, 768, 3072, "f32", (1.08, 1.05), gelu=True)
    yield matmul(1024, 1024, 4096, "f32", (1.08, 1.05), gelu=True)
    yield rows("softmax", 4096, 1024, (1.4, 1.2))
    yield rows("softmax", 64, 32768, (1.4, 1.2))
    yield rows("layernorm", 4096, 1024, (2.0, 1.5), "weight", "bias")
    yield rows("rmsnorm", 4096, 1024, (1.5, 1.3), "weight")
    yield rows("elementwise", 4096, 4096, (3.0, 2.5), "bias")
    yield attention(8, 1024, 1024, 64, (1.15, 1.2))
    yield attention(8, 1024, 1024, 64, (2.2, 2.3), causal=True)
    yield attention(32, 1, 4096, 128, (1.4, 1.5))


# --- arrays ----------------------------------------------------------------------------------------------------------


def narrow(values):
    """f32 to bf16, held as u16; to nearest even."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def fill(case, generator):
    for name, facts in case.description["inputs"].items():
        shape, dtype = facts["shape"], facts["dtype"]
        if dtype in ("i8", "u8"):
            low = -128 if dtype == "i8" else 0
            array = generator.integers(low, low + 256, shape).astype(numpy.int8 if dtype == "i8" else numpy.uint8)
        else:
            array = generator.standard_normal(shape, dtype=numpy.float32)
            array = narrow(array) if dtype == "bf16" else array
        case.arrays[name] = array
    kinds = {"f32": numpy.float32, "bf16": numpy.uint16, "i32": numpy.int32}
    for name, facts in case.description["outputs"].items():
        case.arrays[name] = numpy.zeros(facts["shape"], kinds[facts["dtype"]])


def doubles(array):
    return (frameworks.widen(array) if array.dtype == numpy.uint16 else array).astype(numpy.float64)


def gelu(x):
    return 0.5 * x * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))


def expected(case):
    """Some rows of the result in double precision, and which."""
    d = {name: doubles(case.arrays[name]) for name in case.description["inputs"]}
    if case.kind == "attention":
        q, k, v = d["q"][0, -1], d["k"][0, -1], d["v"][0, -1]
        at = numpy.unique([0, len(q) // 3, len(q) - 1])
        scores = q[at] @ k.T / numpy.sqrt(q.shape[1])
        if case.causal:
            scores[at[:, None] + len(k) - len(q) < numpy.arange(len(k))] = -numpy.inf
        weights = numpy.exp(scores - scores.max(1, keepdims=True))
        return (0, -1, at), weights @ v / weights.sum(1, keepdims=True)
    x = d["a"] if case.kind == "matmul" else d["x"]
    at = numpy.unique(numpy.linspace(0, len(x) - 1, 9).astype(int))
    x = x[at]
    if case.kind == "matmul":
        y = x @ d["b"]
        return at, gelu(y + d["bias"]) if case.gelu else y
    if case.kind == "softmax":
        y = numpy.exp(x - x.max(1, keepdims=True))
        return at, y / y.sum(1, keepdims=True)
    if case.kind == "elementwise":
        return at, gelu(x + d["bias"])
    if case.kind == "layernorm":
        x = x - x.mean(1, keepdims=True)
        return at, x / numpy.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * d["weight"] + d["bias"]
    return at, x / numpy.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * d["weight"]


def check(case, result, wanted):
    """Nothing, or what is wrong with a result: for peers, a bound that a wrong layout would miss."""
    at, values = wanted
    if hasattr(result, "is_floating_point"):
        result = result.float().numpy() if result.is_floating_point() else result.numpy()
    elif hasattr(result, "to_host"):
        result = numpy.asarray(result.to_host())
        result = result.view(numpy.uint16) if case.dtype == "bf16" else result
    else:
        result = None  # The case's output.
    got = doubles(next(iter(case.arrays[name] for name in case.description["outputs"])) if result is None else result)
    error = numpy.abs(got[at] - values).max() / max(1e-30, numpy.abs(values).max())
    bound = 2e-2 if case.dtype == "bf16" else 0 if case.dtype == "int8" else 1e-4
    return "" if error <= bound else f"wrong by {error:.1e}"


# --- clocks ----------------------------------------------------------------------------------------------------------


class Limits:
    """The machine's peaks, from limits.c."""

    def __init__(self, threads, folder):
        self.threads, self.library = threads, None
        path = pathlib.Path(folder) / "limits.so"
        flags = ["-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC"]
        try:
            subprocess.run(["cc", *flags, "-o", str(path), str(HERE / "limits.c")], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return
        self.library = ctypes.CDLL(str(path))
        self.memory = numpy.ones(1 << 28, numpy.uint8)

    def together(self, name, *arguments):
        """Work in a second by all threads at once."""
        if not self.library:
            return 0.0
        function, done = getattr(self.library, name), []
        function.restype = ctypes.c_double
        start = time.perf_counter()
        others = [threading.Thread(target=lambda: done.append(function(*arguments))) for _ in range(self.threads - 1)]
        for other in others:
            other.start()
        done.append(function(*arguments))
        for other in others:
            other.join()
        return sum(done) / (time.perf_counter() - start)

    def arithmetic(self, dtype):
        name = {"f32": "limitF32", "bf16": "limitBf16", "int8": "limitInt8"}[dtype]
        return max(self.together(name, ctypes.c_int64(500000)) for _ in range(3))

    def bandwidth(self):
        return max(self.together("limitRead", contestants.pointer(self.memory), ctypes.c_size_t(self.memory.nbytes))
                   for _ in range(3)) if self.library else 0.0


def measure(runs, rounds, seconds, threads):
    """Seconds of a call of each, by label: one number for each round. All take turns."""
    counts = {}
    for label, run in runs:
        run()
        start = time.perf_counter()
        run()
        counts[label] = max(1, int(seconds / max(1e-7, time.perf_counter() - start)))
    times = {label: [] for label, _ in runs}
    for _ in range(rounds):
        for label, run in runs:
            if threads > 1:
                time.sleep(0.02)  # Until the threads of whoever ran before have gone to sleep.
            run()
            start = time.perf_counter()
            for _ in range(counts[label]):
                run()
            times[label].append((time.perf_counter() - start) / counts[label])
    return times


def compete(case, players, arguments, limits):
    """One case, measured; what report.py takes."""
    fill(case, numpy.random.default_rng(arguments.seed))
    wanted, runs, notes = expected(case), [], []
    for player in players:
        try:
            for label, run in player.run(case):
                for name in case.description["outputs"]:
                    case.arrays[name].fill(0)
                fault = check(case, run(), wanted)
                if fault:
                    notes.append(f"{label}: {fault}")
                else:
                    runs.append((label, run))
        except Exception as error:  # A peer's refusal is a note, whatever its type.
            notes.append(f"{player.name}: {str(error).splitlines()[0][:100] if str(error) else type(error).__name__}")
    again = [("tilejit again", run) for label, run in runs if label == "tilejit"]
    peak = limits.arithmetic(case.dtype) if case.operations else 0.0
    times = measure(runs + again, arguments.rounds, arguments.seconds, limits.threads)
    if case.operations:
        peak = max(peak, limits.arithmetic(case.dtype))
    moved = sum(array.nbytes for array in case.arrays.values())
    return {"name": case.name, "goals": case.goals, "operations": case.operations, "bytes": moved, "peak": peak,
            "bandwidth": limits.bandwidth(), "notes": notes,
            "times": {label: statistics.median(values) for label, values in times.items()}}


# --- processes -------------------------------------------------------------------------------------------------------


def child(arguments):
    """Measures with the given number of threads and prints JSON."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.child])
    players = []
    for kind in (contestants.Tilejit, contestants.OpenBlas, contestants.Blis, contestants.OneDnn, frameworks.Torch,
                 frameworks.OnnxRuntime, iree_contestant.Iree):
        try:
            if not arguments.peers or kind.name in arguments.peers or kind is contestants.Tilejit:
                players.append(kind(arguments.child))
        except contestants.Missing as error:
            print(f"{kind.name} is not here: {error}", file=sys.stderr)
    for player in players:
        player.compiles = not arguments.no_compiled
    results = []
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(arguments.child, folder)
        for case in cases():
            if all(word in case.name for word in arguments.only):
                results.append(compete(case, players, arguments, limits))
                print(report.line(results[-1], arguments.child), file=sys.stderr)
    json.dump({"threads": arguments.child, "players": {p.name: p.about for p in players}, "results": results}, sys.stdout)


def environment(threads):
    kept = {key: value for key, value in os.environ.items() if key not in HOLDING_BACK}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
        kept[name] = str(threads)
    # BLIS 0.9 does not know newer processors; its first kernels are those for AVX-512.
    if "avx512f" in machine():
        kept["BLIS_ARCH_TYPE"] = "0"
    # Memory that was freed is used again, so that nobody pays for new pages in each call.
    kept.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 40), MALLOC_TOP_PAD_=str(1 << 28))
    return kept


def machine():
    model = platform.processor() or platform.machine()
    facts = pathlib.Path("/proc/cpuinfo").read_text()
    for line in facts.splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    extensions = [name for name in ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "avx512_fp16", "amx_tile")
                  if f" {name}" in facts]
    return f"{model}, {os.cpu_count()} processors, {' '.join(extensions)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one run each (1,2)")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="cases with these words in their names")
    parser.add_argument("--peers", nargs="*", default=[], metavar="NAME", help="these peers only")
    parser.add_argument("--no-compiled", action="store_true", help="without what PyTorch compiles, which takes minutes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.03, help="of each contestant in a round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here instead of to standard output")
    parser.add_argument("--picture", type=pathlib.Path, help="write an SVG picture of the ratios")
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers")
    parser.add_argument("--child", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    runs = []
    for threads in map(int, arguments.threads.split(",")):
        command = [sys.executable, __file__, *sys.argv[1:], "--child", str(threads)]
        done = subprocess.run(command, env=environment(threads), stdout=subprocess.PIPE, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    if arguments.json:
        arguments.json.write_text(json.dumps(runs, indent=1) + "\n")
    table = report.markdown(runs, machine())
    if arguments.markdown:
        arguments.markdown.write_text(table)
    else:
        print(table)
    if arguments.picture:
        arguments.picture.write_text(report.picture(runs, machine()))


if __name__ == "__main__":
    main()
