#!/usr/bin/env bash
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Installs what is missing, builds, runs and checks one example of each family on this machine's CPU, compiles them for
# five GPUs, and prints two tables. A second run finds every kernel in the cache.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"
if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  echo "usage: tools/demo.sh [--no-build]"
  echo "Builds tilejit and prints, for one example of each operator family, time, speed, share of peak and error on the"
  echo "CPU, and what it becomes for GPUs: payload, registers, spills, on-chip memory, compile time."
  exit 0
fi
if [[ "${1:-}" != --no-build ]]; then
  tools/setup
  tools/build dev
fi
exec /usr/bin/python3 tools/testing/demo_table.py build/bin/tilec examples
