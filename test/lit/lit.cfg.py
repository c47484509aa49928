# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# How lit runs the tests that are text: which files are tests, and the programs that their RUN lines may name.
import glob
import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "tilejit"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "lit", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.dirname(__file__))
# tools/test.sh runs as a user who may not write to the build folder, and names another place.
config.test_exec_root = os.environ.get("TILEJIT_TEST_SCRATCH") or os.path.join(config.tilejit_obj_root, "test", "lit")

# A test never touches the user's cache or settings.
for name in [name for name in os.environ if name.startswith("TILEJIT_")]:
    config.environment.pop(name, None)
config.environment["TILEJIT_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.environment["TILEJIT_CONFIG"] = os.devnull

config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%source_root", config.tilejit_src_root))
# "%exit-code N COMMAND": succeeds where the command ends with exactly this code.
exit_code = os.path.join(config.tilejit_src_root, "tools", "testing", "exit_code.py")
config.substitutions.append(("%exit-code", f"{config.python_executable} {exit_code}"))

programs = os.path.join(config.tilejit_obj_root, "bin")
tools = ["FileCheck", "not", "count", "split-file", "llvm-objdump", "llvm-readelf"]
for program in ["tile-opt", "tile-interpret", "tilec"]:
    # A test says "REQUIRES: tilec" where a build may lack the program.
    if os.path.exists(os.path.join(programs, program)):
        config.available_features.add(program)
    tools.append(ToolSubst(program, unresolved="ignore"))
if glob.glob(os.path.join(config.tilejit_obj_root, "lib", "tilejit-simulator", "*", "libtilejit-simulator.so")):
    config.available_features.add("simulator")
# Libraries that stand in for the vendors' drivers, in folders nvidia and amd.
standins = os.path.join(config.tilejit_obj_root, "standins")
if os.path.exists(os.path.join(standins, "nvidia", "libcuda.so.1")):
    config.available_features.add("standins")
config.substitutions.append(("%standins", standins))
# The runner for real chips, and what makes its folder.
runner = os.path.join(programs, "e2e", "gpu-runner")
if os.path.exists(runner):
    config.available_features.add("gpu-runner")
make_gpu_folder = os.path.join(config.tilejit_src_root, "test", "e2e", "gpu", "make_folder.py")
config.substitutions.append(("%make-gpu-folder", f"{config.python_executable} {make_gpu_folder} --build {config.tilejit_obj_root}"))
config.substitutions.append(("%gpu-runner", runner))
llvm_config.add_tool_substitutions(tools, [programs, config.llvm_tools_dir])
