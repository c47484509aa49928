#!/usr/bin/env bash
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# What is too long for every run, on an existing build: sweeps of ragged products and rows over all types, a soak of
# compiles and hits, damage to every byte of an entry; all kernels for CPUs on sizes from 0 to 70, between guards (with
# progress); the simulator's kernels, faults and mutants on every target; 3,000 random tile programs on the CPU and a
# simulated GPU; and the runtime's tests under sanitizers, which are built for it. Closes with "N passed, N failed".
# Four hours by default.
#   tools/long.sh [--minutes N] [--seed S] [--only random|sweep|simulator|programs|sanitizers]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec /usr/bin/python3 "$here/tools/testing/long_run.py" "$here/build/bin/tilec" "$@"
