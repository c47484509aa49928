# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""The sanitized builds of the runtime (presets asan and tsan) and what their tests run with.

They have no compiler in them: MLIR and LLVM are not instrumented, and what a host process loads has neither. They are
not optimised: an optimiser hides faults, and building takes less than half as long.
"""

BUILDS = {
    "asan": {
        # Containers that pass between instrumented code and libstdc++.so are annotated on one side only.
        "ASAN_OPTIONS": "detect_container_overflow=0:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    "tsan": {
        # Tests fork while threads run, as hosts do.
        "TSAN_OPTIONS": "die_after_fork=0:second_deadlock_stack=1",
    },
}
