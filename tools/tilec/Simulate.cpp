// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec simulate: runs a kernel of an LLVM IR module for NVIDIA or AMD chips on the CPU and says what is wrong with it.

#include "Commands.h"
#include "SimulateArguments.h"
#include "SimulateResult.h"
#include "Sources.h"

#include "tilejit/Base/File.h"
#include "tilejit/Reference/Npy.h"
#include "tilejit/Simulator/PluginLoader.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <unistd.h>

namespace tilejit::tilec {
namespace {

struct Options {
  std::string file, target, kernel, grid, block, cluster, html;
  std::string shared = "0", threads, budget;
  std::vector<std::string> arguments;
  SimulationWords words;
  bool sites = false;
};

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

Expected<std::string> readModule(const std::string &path) {
  constexpr int64_t limit = int64_t{1} << 30;
  if (path != "-")
    return readFile(realSystem(), path, limit);
  std::string bytes;
  if (int error = readAll(realSystem(), STDIN_FILENO, limit, bytes); error < 0)
    return fileError("can't read", "standard input", -error);
  return bytes;
}

Status parseSizes(const std::string &text, const std::string &option, uint32_t (&sizes)[3]) {
  TILEJIT_ASSIGN_OR_RETURN(auto parsed, parseGrid(text, option));
  for (int i = 0; i < 3; ++i)
    sizes[i] = static_cast<uint32_t>(parsed[static_cast<size_t>(i)]);
  return Status::ok();
}

Expected<sim::Options> launchOptions(const Options &options) {
  TILEJIT_ASSIGN_OR_RETURN(sim::Options result, options.words.parse());
  result.siteCounters = options.sites || !options.html.empty();
  if (!options.threads.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(int64_t threads, parseInteger(options.threads, "--threads", 1, 4096));
    result.threads = static_cast<int>(threads);
  }
  if (!options.budget.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(int64_t budget, parseInteger(options.budget, "--budget", 1, int64_t{1} << 62));
    result.instructionBudget = static_cast<uint64_t>(budget);
  }
  return result;
}

std::string kernelNames(const sim::Module &module) {
  std::string names;
  for (const sim::KernelInfo &kernel : module.kernels())
    names += (names.empty() ? "" : ", ") + kernel.name;
  return names;
}

/// The kernel that was asked for; without a name, the only one.
Expected<const sim::KernelInfo *> chooseKernel(const sim::Module &module, const Options &options) {
  std::span<const sim::KernelInfo> kernels = module.kernels();
  if (kernels.empty())
    return refuse(options.file + ": the module has no kernel");
  if (options.kernel.empty() && kernels.size() == 1)
    return &kernels.front();
  for (const sim::KernelInfo &kernel : kernels)
    if (kernel.name == options.kernel)
      return &kernel;
  if (options.kernel.empty())
    return refuse("--kernel: the module has several; expected one of " + kernelNames(module));
  return refuse("--kernel: no kernel '" + options.kernel + "' in " + options.file + "; expected one of " +
                kernelNames(module));
}

/// Cluster sizes as given, or as the kernel demands them; the launch compares the two.
Status chooseCluster(const Options &options, const sim::KernelInfo &kernel, uint32_t (&cluster)[3]) {
  for (int i = 0; i < 3; ++i)
    cluster[i] = std::max(kernel.requiredCluster[i], 1u);
  return options.cluster.empty() ? Status::ok() : parseSizes(options.cluster, "--cluster", cluster);
}

/// Block sizes as given, or as the kernel demands them.
Status chooseBlock(const Options &options, const sim::KernelInfo &kernel, uint32_t (&block)[3]) {
  const uint32_t *required = kernel.requiredBlock;
  if (options.block.empty() && !required[0])
    return refuse("--block is missing: kernel '" + kernel.name + "' runs with any number of threads");
  for (int i = 0; i < 3; ++i)
    block[i] = std::max(required[i], 1u);
  if (options.block.empty())
    return Status::ok();
  uint32_t given[3];
  TILEJIT_RETURN_IF_ERROR(parseSizes(options.block, "--block", given));
  if (required[0] && !std::equal(given, given + 3, block))
    return refuse("--block: kernel '" + kernel.name + "' is made for blocks of " + sizesText(block) + ", found " +
                  sizesText(given));
  std::copy(given, given + 3, block);
  return Status::ok();
}

Status fillRequest(const Options &options, const sim::KernelInfo &kernel, sim::LaunchRequest &request) {
  request.kernel = kernel.name;
  TILEJIT_RETURN_IF_ERROR(parseSizes(options.grid, "--grid", request.grid));
  TILEJIT_RETURN_IF_ERROR(chooseCluster(options, kernel, request.cluster));
  TILEJIT_RETURN_IF_ERROR(chooseBlock(options, kernel, request.block));
  TILEJIT_ASSIGN_OR_RETURN(int64_t shared, parseInteger(options.shared, "--shared", 0, int64_t{1} << 30));
  request.dynamicSharedBytes = static_cast<uint32_t>(shared);
  return Status::ok();
}

Expected<SimulateResult> simulate(const Program &program, const Options &options) {
  SimulateResult result;
  result.file = options.file;
  result.target = options.target;
  result.wantsSites = options.sites;
  TILEJIT_ASSIGN_OR_RETURN(Settings settings, program.settings());
  TILEJIT_ASSIGN_OR_RETURN(result.options, launchOptions(options));
  TILEJIT_ASSIGN_OR_RETURN(SimulateArguments arguments, SimulateArguments::parse(options.arguments));
  if (!options.html.empty()) {
    TILEJIT_RETURN_IF_ERROR(checkWritable(options.html));
  }
  TILEJIT_ASSIGN_OR_RETURN(std::string bytes, readModule(options.file));
  TILEJIT_ASSIGN_OR_RETURN(const sim::Plugin *plugin, sim::openSimulator(settings.text(SettingId::Home)));
  TILEJIT_ASSIGN_OR_RETURN(std::unique_ptr<sim::Simulator> simulator, plugin->create(options.target));
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<sim::Module> module,
                           simulator->load(bytes, options.file == "-" ? "<stdin>" : options.file));
  TILEJIT_ASSIGN_OR_RETURN(const sim::KernelInfo *kernel, chooseKernel(*module, options));
  TILEJIT_RETURN_IF_ERROR(fillRequest(options, *kernel, result.request));
  TILEJIT_RETURN_IF_ERROR(arguments.check(*kernel));
  TILEJIT_ASSIGN_OR_RETURN(result.request.arguments, arguments.place(*simulator, *kernel));
  TILEJIT_ASSIGN_OR_RETURN(result.outcome, simulator->launch(*module, result.request, result.options));
  TILEJIT_RETURN_IF_ERROR(arguments.writeOutputs());
  if (!options.html.empty()) {
    TILEJIT_RETURN_IF_ERROR(writeFileAtomically(realSystem(), options.html, simulatePage(result), 0644));
  }
  return result;
}

int run(const Program &program, const Options &options) {
  Expected<SimulateResult> result = simulate(program, options);
  if (!result)
    return program.fail(result.status());
  if (program.json) {
    Program::print(simulateJson(*result));
  } else {
    std::fwrite(result->outcome.printed.data(), 1, result->outcome.printed.size(), stdout);
    std::fputs(simulateText(*result).c_str(), stdout);
  }
  return result->outcome.reports.empty() ? Done : CheckFailed;
}

} // namespace

void addSimulate(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *command = registry.app.add_subcommand(
      "simulate", "Run a GPU kernel given as LLVM IR on the CPU and report races, bounds and more");
  command
      ->add_option("FILE", options->file,
                   "LLVM IR for NVPTX or AMDGPU, text (.ll) or bitcode (.bc); - is standard input")
      ->required();
  command->add_option("--target", options->target, "The chip, such as sm_80 or gfx942")->required()->type_name("CHIP");
  command->add_option("--kernel", options->kernel, "Name of the kernel; may be left out where there is only one")
      ->type_name("NAME");
  command->add_option("--grid", options->grid, "Number of blocks")->required()->type_name("X[,Y[,Z]]");
  command->add_option("--block", options->block, "Threads of a block; may be left out where the kernel states it")
      ->type_name("X[,Y[,Z]]");
  command->add_option("--cluster", options->cluster, "Blocks of a cluster; may be left out where the kernel states it")
      ->type_name("X[,Y[,Z]]");
  command->add_option("--shared", options->shared, "Bytes of dynamic shared memory")->type_name("BYTES");
  command
      ->add_option(
          "--arg", options->arguments,
          "One for each parameter, in order: in:F.npy, inout:F.npy, out:F.npy:f32[128,64], arg:2 (the same array), "
          "map[64,32,swizzle=128]: before an array (a tensor map of it), i32:5, f32:0.5, null; missing "
          "trailing pointers are null")
      ->type_name("ARG")
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Threads of this machine")->type_name("N");
  options->words.addTo(*command, "--schedule-seed,--seed");
  command->add_option("--budget", options->budget, "Instructions of a warp after which the launch is given up")
      ->type_name("N");
  command->add_option("--html", options->html, "Write a page with the IR beside its counters")->type_name("FILE");
  command->add_flag("--sites", options->sites, "Give the counters of each instruction");
  registry.program.addCommonOptions(*command);
  command->footer(
      "Exit code 1 where something is reported.\n\nExample:\n"
      "  tilec simulate examples/simulate/reverse.ll --target sm_80 --kernel reverse --grid 2 --block 64 \\\n"
      "    --arg in:x.npy --arg out:y.npy:f32[128]");
  registry.onRun(*command, [&program = registry.program, options] { return run(program, *options); });
}

} // namespace tilejit::tilec
