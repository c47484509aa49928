#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Compiles a kernel of these folders with clang for each target it names, at -O0 and -O2, simulates its launches and
judges what the simulator says; a sample of targets and levels for the everyday tests. The source states everything in
comments:

    TARGETS: sm_80 gfx942            what to compile for (.cu: NVIDIA and AMD, .hip: AMD, .ll: one target as is)
    OPT: 2                           only at these levels
    CASE: n=1000 grid=4              values for the launches; each case is a run of all of them
    LAUNCH: --kernel k --grid {grid} --arg out:%t.npy:f32[{n}]     launches in order; %t is a file name of its own
    PRINTS: text                     the output of the last launch holds the text
    EXPECT: clean                    of the last launch; all others must be clean
            race or async            a report of one of these kinds
            wrong numbers            the kernel's own check traps
            wavefronts, sectors      the counter is above its ideal; in the twin of such a file it is at its ideal

X.fault.cu that includes X.twin.cu takes what it does not state from there. Exit code 0: all as stated.
Further options of tilec simulate follow after " -- "."""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
DIRECTIVE = re.compile(r"^\s*(?://|;)\s*(TARGETS|OPT|CASE|LAUNCH|PRINTS|EXPECT):\s*(.*?)\s*$")
COUNTERS = {"wavefronts": "shared_wavefronts", "sectors": "sectors"}


def directives(path):
    """What the comments of a file say: a list of values for each word."""
    found = {}
    text = path.read_text()
    for line in text.splitlines():
        match = DIRECTIVE.match(line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    base = re.search(r'#include "(\w[\w.-]*\.twin\.\w+)"', text)
    if base:
        found = {**directives(path.parent / base[1]), **found}
    return found


def compile_command(clang, source, target, level, output, emit="-emit-llvm"):
    """clang's command for one source, target and level."""
    if target.startswith("sm_"):
        kind = ["-x", "cuda", f"--cuda-gpu-arch={target}", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"]
    else:
        kind = ["-x", "hip", f"--offload-arch={target}", "-nogpulib", "-nogpuinc"]
    common = ["-std=c++20", "-fdeclspec", "--cuda-device-only", f"-O{level}", "-gline-tables-only", "-Wall", "-Werror"]
    emit = [emit] if emit else []
    return [clang, *kind, *common, "-S", *emit, f"-I{FOLDER / 'Inputs'}", str(source), "-o", str(output)]


def combinations(targets, levels, sample):
    """(target, level) of each run. A sample: the first target of each vendor at all levels, the last at the highest."""
    pairs = [(target, level) for target in targets for level in levels]
    if not sample:
        return pairs
    first = [next((t for t in targets if t.startswith(vendor)), None) for vendor in ("sm_", "gfx")]
    return [(t, l) for t, l in pairs if t in first or (t, l) == (targets[-1], levels[-1])]


def compiled(options, source, pairs, folder):
    """(target, level, module) of each combination."""
    for target, level in pairs:
        if source.suffix == ".ll":
            yield target, level, source
            continue
        module = folder / f"{source.stem}.{target}.O{level}.ll"
        subprocess.run(compile_command(options.clang, source, target, level, module), check=True)
        yield target, level, module


def launch(options, module, target, template, case, folder):
    """One run of the simulator: (exit code, object on stdout, all output)."""
    line = template.format(**case).replace("%t", str(folder / "t"))
    command = [options.tilec, "simulate", str(module), "--target", target, "--json", *shlex.split(line), *options.extra]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return done.returncode, json.loads(done.stdout), done.stdout + done.stderr
    except ValueError:
        return done.returncode, {}, done.stdout + done.stderr


def above_ideal(result, word):
    """Whether a counter is above its ideal, which must be there to be compared with."""
    counters = result["counters"]
    return counters[COUNTERS[word]] > counters[COUNTERS[word] + "_ideal"]


def judge(expected, code, result, output):
    """What is wrong with the last launch; empty where all is as stated."""
    kinds = {report["kind"] for report in result.get("reports", [])}
    words = expected.split(" or ")
    if code not in (0, 1) or not result:
        return f"exit code {code}: {output[-800:]}"
    if words[0] in COUNTERS:
        return "" if code == 0 and above_ideal(result, words[0]) else f"{words[0]} are at the ideal, or reports {kinds}"
    if expected.startswith("clean"):
        bad = [word for word in COUNTERS if f"{word} ideal" in expected and above_ideal(result, word)]
        return "" if code == 0 and not kinds and not bad else f"not clean: {kinds} {bad} {output[-800:]}"
    if "wrong numbers" in words:
        words += ["trap", "assert"]
    return "" if code == 1 and kinds & set(words) else f"exit code {code}, kinds {kinds}, expected {words}"


def run_case(options, found, target, module, case):
    """All launches of one case; what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for position, template in enumerate(found["LAUNCH"]):
            last = position + 1 == len(found["LAUNCH"])
            code, result, output = launch(options, module, target, template, case, folder)
            expected = found.get("EXPECT", ["clean"])[0]
            # Numbers that are wrong show in the check; whatever else is wrong may show in any launch.
            if not last and not expected.startswith(("clean", "wrong numbers")) and code == 1:
                return judge(expected, code, result, output)
            wrong = judge(expected if last else "clean", code, result, output)
            if wrong:
                return f"{template}: {wrong}"
        missing = [text for text in found.get("PRINTS", []) if text not in output]
        return f"does not print {missing}: {output[-800:]}" if missing else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--tilec", default="tilec")
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--targets", help="only these of the file's targets, with commas")
    parser.add_argument("--levels", default="0,2")
    parser.add_argument("--sample", action="store_true", help="only some of the targets and levels")
    parser.add_argument("--compile-only", action="store_true")
    own, _, extra = " ".join(map(shlex.quote, sys.argv[1:])).partition(" -- ")
    options = parser.parse_args(shlex.split(own))
    options.extra = shlex.split(extra)
    found = directives(options.source)
    targets = [t for t in found["TARGETS"][0].split() if not options.targets or t in options.targets.split(",")]
    levels = found["OPT"][0].split() if "OPT" in found else options.levels.split(",")
    pairs = combinations(targets, ["none"] if options.source.suffix == ".ll" else levels, options.sample)
    cases = [dict(word.split("=", 1) for word in line.split()) for line in found.get("CASE", [""])]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        for target, level, module in compiled(options, options.source, pairs, pathlib.Path(name)):
            for case in [] if options.compile_only else cases:
                wrong = run_case(options, found, target, module, case)
                failed += bool(wrong)
                print(f"{'FAIL' if wrong else 'ok'}: {options.source.name} {target} -O{level} {case} {wrong}".rstrip())
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
