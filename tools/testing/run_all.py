#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Runs lint, unit tests, lit and the pages' commands, and closes with "N passed, N failed[, N skipped]".

Unit tests are the Catch2 executables in build/bin/tests; each test case counts. A test that can't run prints a line
"SKIP: name: reason" and counts as skipped. lit tests count one each; an unsupported one is skipped with its reason.
The group "sanitizers" is for those who ask for it: its two builds take longer than an ordinary run should.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import doc_blocks
import sanitizers

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tally:
    """Counts, with a line for whatever is not a pass."""

    def __init__(self):
        self.passed, self.failures, self.skips = 0, [], []

    def fail(self, name, text=""):
        self.failures.append(name)
        print(f"FAIL {name}" + (f"\n{text.rstrip()}" if text else ""), flush=True)

    def skip(self, name, reason):
        self.skips.append(name)
        print(f"SKIP {name}: {reason}", flush=True)

    def summary(self):
        line = f"{self.passed} passed, {len(self.failures)} failed"
        return line + (f", {len(self.skips)} skipped" if self.skips else "")


def run_lint(tally, options):
    """Each check of tools/lint is one test."""
    for check in sorted((ROOT / "tools/lint").glob("check_*.py")):
        done = subprocess.run([sys.executable, str(check), str(ROOT), str(options.build)], capture_output=True, text=True)
        if done.returncode == 0:
            tally.passed += 1
        else:
            tally.fail(f"lint/{check.stem}", done.stdout[-4000:] + done.stderr[-4000:])


def run_unit(tally, options):
    """Catch2 executables; each test case is one test."""
    run_programs(tally, options, options.build)


def run_programs(tally, options, build, prefix="", environment=None):
    """The Catch2 executables of a build; `prefix` begins the names of its tests."""
    programs = sorted(p for p in (build / "bin/tests").glob("*") if os.access(p, os.X_OK) and p.is_file())
    if not programs:
        tally.fail(f"{prefix}unit", f"no test program in {build}/bin/tests")
    for program in programs:
        report = options.scratch / f"{program.name}.xml"
        report.unlink(missing_ok=True)
        try:
            done = subprocess.run(
                [str(program), "-r", "junit", "-o", str(report)], cwd=options.scratch, capture_output=True, text=True, errors="replace",
                timeout=options.timeout, env={**os.environ, **(environment or {})},
            )
            code, output = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            code, output = "no end in time", ""
        for line in output.splitlines():
            if line.startswith("SKIP: "):
                name, _, reason = line[6:].partition(": ")
                tally.skip(f"{prefix}{program.name}/{name}", reason)
        read_junit(tally, prefix + program.name, report, code, output)


def read_junit(tally, program, report, code, output):
    """Test cases of one Catch2 run; a run without a readable report is one failure."""
    try:
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        tally.fail(program, f"exit {code}, no report\n{output[-4000:]}")
        return
    bad = {}
    names = set()
    for case in cases:
        name = case.get("name", "?").split("/", 1)[0] if case.get("classname") else case.get("name", "?")
        names.add(name)
        texts = [e.text or e.get("message") or "" for e in case if e.tag in ("failure", "error")]
        if texts:
            bad.setdefault(name, []).extend(texts)
    tally.passed += len(names) - len(bad)
    for name, texts in bad.items():
        tally.fail(f"{program}/{name}", "\n".join(texts)[-4000:])
    if code != 0 and not bad:
        tally.fail(program, f"exit {code}\n{output[-4000:]}")


def move_scratch(word, build, scratch):
    """A word of a command with folders of the build tree that tests write to replaced by the scratch folder."""
    for folder in ("test", "docs"):
        word = word.replace(f"{build}/{folder}/", f"{scratch}/{folder}/")
    return word


def run_ctest(tally, options):
    """What CTest knows beside the unit tests and lit: programs in C, installed trees. Each is one test."""
    run_other_tests(tally, options, options.build)


def run_other_tests(tally, options, build, prefix="ctest/", environment=None):
    """CTest's tests of a build that are neither unit tests nor lit."""
    listing = subprocess.run(
        ["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True,
    ).stdout
    for test in json.loads(listing)["tests"]:
        command = test.get("command") or [""]
        if "/bin/tests/" in command[0] or command[0].endswith("/lit"):
            continue
        # Their working folders are below the build folder, which the caller may not write to.
        command = [move_scratch(word, build, options.scratch) for word in command]
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        own = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        try:
            done = subprocess.run(
                command, cwd=options.scratch, capture_output=True, text=True, errors="replace", timeout=options.timeout,
                env={**os.environ, **(environment or {}), **own},
            )
            code, output = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            code, output = "no end in time", ""
        if code == 0:
            tally.passed += 1
        else:
            tally.fail(f"{prefix}{test['name']}", f"exit {code}\n{output[-4000:]}")


def run_lit(tally, options):
    """The lit suite, by its JSON report."""
    report = options.scratch / "lit.json"
    lit = options.lit or "/usr/lib/llvm-22/bin/lit"
    done = subprocess.run(
        [lit, "-q", "-j2", "-o", str(report), str(options.build / "test/lit")],
        capture_output=True, text=True, errors="replace", timeout=2 * options.timeout, env={**os.environ, "TILEJIT_TEST_SCRATCH": str(options.scratch)},
    )
    try:
        tests = json.loads(report.read_text())["tests"]
    except (OSError, ValueError, KeyError):
        tally.fail("lit", f"exit {done.returncode}, no report\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return
    for test in tests:
        name, code = test["name"], test["code"]
        if code in ("PASS", "XFAIL", "FLAKYPASS"):
            tally.passed += 1
        elif code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            tally.skip(name, (test.get("output") or code).strip().splitlines()[-1][:200])
        else:
            tally.fail(f"{name} ({code})", (test.get("output") or "")[-4000:])


def run_docs(tally, options):
    """Each page whose command blocks run is one test."""
    for page in doc_blocks.pages():
        text = doc_blocks.problem(page, options.build)
        name = f"docs/{page.relative_to(ROOT)}"
        if text:
            tally.fail(name, text)
        else:
            tally.passed += 1


def run_sanitizers(tally, options):
    """Unit tests and C programs of the runtime under each sanitizer, in builds of their own."""
    for name, environment in sanitizers.BUILDS.items():
        build, prefix = ROOT / f"build-{name}", f"{name}/"
        run_programs(tally, options, build, prefix, environment)
        run_other_tests(tally, options, build, prefix, environment)


ORDINARY = {"lint": run_lint, "unit": run_unit, "ctest": run_ctest, "lit": run_lit, "docs": run_docs}
GROUPS = {**ORDINARY, "sanitizers": run_sanitizers}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=",".join(ORDINARY), help="groups, by commas: " + ", ".join(GROUPS))
    parser.add_argument("--lit", help="the lit program")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one test program")
    parser.add_argument("--note-root", help="a reason to count as skipped")
    options = parser.parse_args()
    options.build = options.build.resolve()
    tally = Tally()
    if options.note_root:
        tally.skip("unprivileged", options.note_root)
    for group in options.only.split(","):
        if group not in GROUPS:
            parser.error(f"unknown group '{group}'; there are {', '.join(GROUPS)}")
        print(f"== {group}", flush=True)
        GROUPS[group](tally, options)
    print(tally.summary())
    return 1 if tally.failures or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
