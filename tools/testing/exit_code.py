#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""exit_code.py N COMMAND...: succeeds where the command ends with exactly the code N; its output passes through."""

import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
code = subprocess.run(command).returncode
if code != wanted:
    print(f"exit code {code} instead of {wanted}: {' '.join(command)}", file=sys.stderr)
sys.exit(0 if code == wanted else 1)
