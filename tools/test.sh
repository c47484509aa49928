#!/usr/bin/env bash
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Installs what is missing, builds, and runs every test. The last line is "N passed, N failed[, N skipped]"; the exit
# code is 0 only where nothing failed. Started as root, the tests themselves run as an unprivileged user.
# The sanitizers' group runs only where it is asked for: its two builds take longer than an ordinary run should.
#   tools/test.sh [--no-build] [--only lint|unit|ctest|lit|docs|sanitizers[,...]]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"

build=yes
presets=(ci)
arguments=()
while [[ $# -gt 0 ]]; do
  case "$1" in
  --no-build) build=no ;;
  -h | --help)
    sed -n 's/^# \{0,1\}//; 3,8p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *)
    arguments+=("$1")
    [[ $1 != *sanitizers* ]] || presets=(ci asan tsan)
    [[ $1 != sanitizers ]] || presets=(asan tsan)
    ;;
  esac
  shift
done

if [[ $build == yes ]]; then
  tools/setup
  for preset in "${presets[@]}"; do
    tools/build "$preset"
  done
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tilejit-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
run=(env -u TILEJIT_CACHE_DIR -u TILEJIT_TARGET -u TILEJIT_CONFIG -u XDG_CACHE_HOME -u XDG_CONFIG_HOME
  HOME="$scratch/home" TMPDIR="$scratch/tmp" PYTHONDONTWRITEBYTECODE=1
  /usr/bin/python3 tools/testing/run_all.py --build build --scratch "$scratch" "${arguments[@]}")
mkdir -p "$scratch/home" "$scratch/tmp"

if [[ $(id -u) -eq 0 ]]; then
  nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if "${nobody[@]}" test -r tools/testing/run_all.py -a -x build/bin 2>/dev/null; then
    chown -R 65534:65534 "$scratch"
    # cmake --install, which tests run, notes what it installed in the build folder.
    for component in runtime compiler tools; do
      install -m 0666 /dev/null "build/install_manifest_$component.txt"
    done
    run=("${nobody[@]}" "${run[@]}")
  else
    run+=(--note-root "the tree is not readable by an unprivileged user, so the suite ran as root")
  fi
fi
status=0
"${run[@]}" || status=$?
exit $status
