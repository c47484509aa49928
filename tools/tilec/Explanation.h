// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Why a kernel is as fast as it is: what tilec explain finds out. Facts come from the compiler (resources, the texts of
// the stages), from the description (least arithmetic and traffic), from one launch on the simulator (counters of each
// instruction, added up for the lines that it came from), and from a board's or this machine's peak rates.

#ifndef TILEJIT_TOOLS_TILEC_EXPLANATION_H
#define TILEJIT_TOOLS_TILEC_EXPLANATION_H

#include "Execution.h"

#include "tilejit/ABI/StageTexts.h"
#include "tilejit/Target/Board.h"
#include "tilejit/Target/Occupancy.h"

#include <optional>
#include <string>
#include <vector>

namespace tilejit::tilec {

/// A kernel of the launch that was explained, or of the code where nothing was launched.
struct ExplainedKernel {
  std::string symbol;
  int64_t threads = 0, sharedBytes = 0;
  Occupancy occupancy;
};

/// Peak rates, and the work that is held against them.
struct Roofline {
  std::string machine;    ///< "A100 80GB SXM" or "this machine, measured".
  double gflops = 0;      ///< Of the arithmetic that the kernel uses.
  std::string arithmetic; ///< "f32 multiply-adds", "matrix units".
  double gbytesPerS = 0;  ///< Of the memory.
  double flops = 0;       ///< Of one execution.
  int64_t leastBytes = 0; ///< Each operand moved once.
  int64_t movedBytes = 0; ///< As if no cache held anything; 0: not counted.
  const char *bound = ""; ///< "memory" or "arithmetic": what takes longer at its peak.
  double leastMs = 0;     ///< That long.

  double ridge() const { return gflops / gbytesPerS; } ///< Operations for a byte at which both take equally long.
  double intensity() const { return flops / static_cast<double>(leastBytes); }
};

/// Counters by line, from line 1 on.
using LineCounters = std::vector<sim::Counters>;

struct Explanation {
  std::string title, name;
  TargetSpec target;
  std::optional<Execution> execution; ///< None: the target runs neither here nor on the simulator.
  std::string notRun;                 ///< Why there is no execution.
  abi::Manifest manifest;
  CompileReport report;
  abi::StageTexts texts;
  std::vector<ExplainedKernel> kernels;
  std::optional<Roofline> roofline;
  LineCounters tile, tilegpu;  ///< Empty where nothing was simulated.
  int64_t simulatedBlocks = 0; ///< Those that the counters are of: of a large launch not all.

  const sim::Outcome *outcome() const { return execution ? execution->outcome() : nullptr; }
  /// The share of the launch that the counters are of.
  double simulatedShare() const {
    int64_t all = outcome() ? execution->lastLaunch().tasks : 0;
    return all > simulatedBlocks ? static_cast<double>(simulatedBlocks) / static_cast<double>(all) : 1;
  }
  /// What the compiler says of the code. Registers of NVIDIA's kernels are known where their assembler was found.
  std::optional<int64_t> resource(const char *key) const {
    auto found = manifest.resources.find(key);
    return found == manifest.resources.end() ? std::nullopt : std::optional(found->second);
  }
};

/// Compiles, launches once where something can, and collects. `options.isExplained` must be set. Dimensions that
/// nothing binds get at most `defaultSize`.
Expected<Explanation> explain(Context &context, const Source &source, const TargetSpec &target,
                              const ExecutionOptions &options, int64_t defaultSize);

/// The line of the tilegpu text that an instruction came from; 0: none.
size_t tilegpuLineOf(const sim::SiteInfo &site);
/// The lines of a text.
std::vector<std::string> linesOf(const std::string &text);
/// "streaming multiprocessor", "compute unit", "work-group processor".
const char *unitName(const TargetSpec &target);
/// Blocks that the board holds at once; 0: no board.
int64_t residentBlocks(const Explanation &explanation, const ExplainedKernel &kernel);

/// The keys of --json.
Json explanationJson(const Explanation &explanation);
/// A table of facts, and the lines that cost most.
std::string explanationText(const Explanation &explanation);
/// One self-contained page: the forms of the kernel beside each other with their counters as a heat map, the roofline,
/// and the layouts as pictures.
std::string explanationPage(const Explanation &explanation);
/// The roofline as an SVG element.
std::string rooflinePicture(const Roofline &roofline);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_EXPLANATION_H
