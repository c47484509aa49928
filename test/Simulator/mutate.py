#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Removes or weakens one synchronisation of a right kernel at a time, in its optimised IR, and demands of the simulator
that a mutant whose results differ from those of the right kernel is reported. A trap or an assertion of a kernel's own
check is a difference, not a report. Prints a table by what was mutated; "silent" are mutants whose results are right
and that are not reported, mostly because a neighbour orders the same accesses. Exit code 1: a mutant whose results
differ went unreported, or could not be run."""

import argparse
import collections
import concurrent.futures
import hashlib
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import launch

ATOMIC = "load atomic|store atomic|atomicrmw|cmpxchg"
STATEMENT = r'(call .* asm sideeffect ")([^"]*{0}[^"]*)(".*)'


def without_text(match):
    """A PTX statement whose text is gone; its operands stay, so that values still pass through."""
    return match[1] + match[3]


def one_more(match):
    """The count of a wait, in the text or as the first operand, is one larger."""
    if re.search(r" \d+;$", match[2]):
        return match[1] + re.sub(r"(\d+);$", lambda number: f"{int(number[1]) + 1};", match[2]) + match[3]
    return match[1] + match[2] + re.sub(r"\(i32 (\d+)", lambda number: f"(i32 {int(number[1]) + 1}", match[3], count=1)


def nothing(match):
    return ""


def weaker(match):
    return match[1] + "monotonic" + match[3]


# What is mutated, where it stands, and how.
MUTATIONS = [
    ("barrier", r"^ .*call void @llvm\.(nvvm\.barrier|amdgcn\.s\.barrier).*", nothing),
    ("barrier", STATEMENT.format(r"bar\.(?:sync|arrive) "), without_text),
    ("cluster barrier", STATEMENT.format(r"barrier\.cluster\."), without_text),
    ("warp barrier", r"^ .*call void @llvm\.nvvm\.bar\.warp\.sync.*", nothing),
    ("fence", r"^ +fence .*", nothing),
    ("fence", r"^ .*call void @llvm\.nvvm\.membar.*", nothing),
    ("proxy fence", STATEMENT.format(r"fence\.(?:proxy|mbarrier_init)"), without_text),
    ("wgmma fence", STATEMENT.format(r"wgmma\.fence"), without_text),
    ("commit", STATEMENT.format(r"commit_group"), without_text),
    ("wait", STATEMENT.format(r"wait_group"), one_more),
    ("wait", STATEMENT.format(r"cp\.async\.wait_all"), without_text),
    ("wait", r"^ .*call void @llvm\.amdgcn\.s\.wait.*", nothing),
    ("mbarrier wait", STATEMENT.format(r"mbarrier\.try_wait"), without_text),
    ("ordering", rf"(^ .*(?:{ATOMIC}) .* )(acquire|release|acq_rel|seq_cst)(.*)", weaker),
]

Kernel = collections.namedtuple("Kernel", "source target module launches")
Mutant = collections.namedtuple("Mutant", "kernel what line text")
Result = collections.namedtuple("Result", "kinds digests broken")
OWN_CHECKS = {"trap", "assert"}


def kernels(options):
    """(source, what it states, target and level) of every right kernel: one target of each vendor and the last one."""
    for source in sorted([*launch.FOLDER.glob("Kernels/*"), *launch.FOLDER.glob("Faults/*.twin.*")]):
        found = launch.directives(source)
        clean = found.get("EXPECT", ["clean"])[0].startswith("clean")
        if source.suffix == ".ll" or options.only not in source.name or not clean:
            continue
        levels = found.get("OPT", ["2"])[0].split()
        for pair in launch.combinations(found["TARGETS"][0].split(), levels[-1:], sample=True):
            yield source, found, pair


def mutants(kernel):
    """One for each synchronisation in a function that is a kernel or called."""
    text, live = kernel.module.read_text(), False
    for number, line in enumerate(text.splitlines()):
        if begins := re.match(r"define .*?(@\w+)\(", line):
            live = "_kernel " in line or text.count(begins[1] + "(") > 1
        for what, pattern, change in MUTATIONS:
            match = re.search(pattern, line)
            if match and live:
                yield Mutant(kernel, what, number, line[: match.start()] + change(match) + line[match.end() :])
                break


def chosen(options, folder):
    """All mutants of all kernels, with all cases of each; of a sample, one of each of so many kernels."""
    choose, every, found = random.Random(options.seed), list(kernels(options)), []
    if options.sample:
        choose.shuffle(every)
    for source, stated, pair in every:
        if options.sample and len(found) >= options.sample:
            break
        cases = [dict(word.split("=", 1) for word in line.split()) for line in stated.get("CASE", [""])]
        launches = [(template, case) for case in cases for template in stated["LAUNCH"]]
        for target, _, module in launch.compiled(options, source, [pair], folder):
            made = list(mutants(Kernel(source, target, module, launches)))
            found += [choose.choice(made)] if options.sample and made else made
    return found


def run(options, kernel, module, seed):
    """All launches of a module: kinds of reports, digests of the arrays, and what kept it from running."""
    extra = ["--schedule-seed", str(seed), "--budget", "500000"]
    kinds, digests = set(), {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for position, (template, case) in enumerate(kernel.launches):
            asked = argparse.Namespace(tilec=options.tilec, extra=extra)
            code, result, output = launch.launch(asked, module, kernel.target, template, case, folder)
            if code not in (0, 1) or not result:
                return Result(kinds, digests, output[-400:])
            kinds |= {report["kind"] for report in result["reports"]}
            for path in sorted(folder.glob("*.npy")):
                digests[position, path.name] = hashlib.sha256(path.read_bytes()).digest()
    return Result(kinds, digests, "")


def run_right(options, kernel, seed):
    """What the right kernel gives. Arrays that differ from run to run hold addresses: they are not compared."""
    once, again = (run(options, kernel, kernel.module, seed) for _ in range(2))
    same = {key: value for key, value in once.digests.items() if again.digests.get(key) == value}
    return Result(once.kinds, same, once.broken)


def judge(options, mutant, seed, right):
    """What becomes of a mutant: (word for the table, text where that is wrong)."""
    lines = mutant.kernel.module.read_text().splitlines()
    place = f"{mutant.kernel.module.name}:{mutant.line + 1} ({mutant.what}, seed {seed})"
    text = f"{lines[mutant.line].strip()[:160]}"
    lines[mutant.line] = mutant.text
    with tempfile.NamedTemporaryFile("w", suffix=".ll") as module:
        module.write("\n".join(lines) + "\n")
        module.flush()
        result = run(options, mutant.kernel, pathlib.Path(module.name), seed)
    if result.broken:
        return "broken", f"{place}: {result.broken}\n  {text}"
    differs = any(result.digests.get(key) != value for key, value in right.digests.items())
    changed = differs or bool(result.kinds & OWN_CHECKS)
    if result.kinds - OWN_CHECKS:
        return ("reported" if changed else "reported, right numbers"), ""
    if changed:
        return "UNREPORTED", f"{place}: not reported\n  {text}"
    return "silent", f"{place}: silent\n  {text}" if options.silent else ""


def print_table(counts):
    columns = ["mutants", "changed", "reported", "reported, right numbers", "silent", "UNREPORTED", "broken"]
    print(f"{'':16}" + "".join(f"{column:>{len(column) + 2}}" for column in columns))
    for what in [*dict.fromkeys(row[0] for row in MUTATIONS), "all"]:
        row = counts[what]
        row["mutants"], row["changed"] = sum(row.values()), row["reported"] + row["UNREPORTED"]
        print(f"{what:16}" + "".join(f"{row[column]:>{len(column) + 2}}" for column in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilec", default="tilec")
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--only", default="", help="kernels whose file name holds this")
    parser.add_argument("--sample", type=int, help="so many mutants of as many kernels, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--schedules", type=int, default=1, help="so many orders of the warps")
    parser.add_argument("--silent", action="store_true", help="list the silent ones, and fail for them too")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        right = {}
        tasks = [(m, seed) for m in chosen(options, pathlib.Path(name)) for seed in range(options.schedules)]
        keys = list({(id(m.kernel), seed): (m.kernel, seed) for m, seed in tasks}.values())
        for (kernel, seed), result in zip(keys, pool.map(lambda key: run_right(options, *key), keys)):
            right[id(kernel), seed] = result
            if result.kinds or result.broken:
                sys.exit(f"{kernel.module.name} itself is not clean: {result.kinds} {result.broken}")
        counts, wrong = collections.defaultdict(collections.Counter), []
        judged = pool.map(lambda task: judge(options, *task, right[id(task[0].kernel), task[1]]), tasks)
        for (mutant, _), (word, problem) in zip(tasks, judged):
            counts[mutant.what][word] += 1
            counts["all"][word] += 1
            wrong += [problem] if problem else []
    print_table(counts)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
