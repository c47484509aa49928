// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// From words on the command line to the simulator's options.

#include "SimulatedOutcome.h"
#include "Sources.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace tilejit::tilec {
namespace {

Status refuse(std::string message) { return Status(StatusCode::InvalidArgument, std::move(message)); }

Expected<uint32_t> disabledChecks(const std::vector<std::string> &texts) {
  uint32_t disabled = 0;
  for (const std::string &text : texts) {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<std::string> words, splitWords(text, "--no-check"));
    for (const std::string &word : words) {
      std::string known;
      bool found = word == "all";
      disabled |= found ? ~0u : 0;
      for (unsigned i = 0; i < sim::numChecks; ++i) {
        std::string_view name = sim::checkName(static_cast<sim::Check>(i));
        known += (known.empty() ? "" : ", ") + std::string(name);
        if (word != name)
          continue;
        disabled |= 1u << i;
        found = true;
      }
      if (!found)
        return refuse("--no-check: no check '" + word + "'; expected all, " + known);
    }
  }
  return disabled;
}

} // namespace

void SimulationWords::addTo(CLI::App &command, const char *seedOption) {
  command.add_option(seedOption, seed, "Simulator: another order of warps and blocks; 0 is that of their numbers")
      ->type_name("N");
  command
      .add_option("--no-check", noCheck,
                  "Simulator: switch off race, bounds, alignment, uninitialized, async, proxy, divergence, fragment, "
                  "bank or all")
      ->type_name("NAME,...")
      ->allow_extra_args(false);
}

Expected<sim::Options> SimulationWords::parse() const {
  sim::Options options;
  TILEJIT_ASSIGN_OR_RETURN(uint32_t disabled, disabledChecks(noCheck));
  options.checks &= ~disabled;
  if (seed.empty())
    return options;
  auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), options.scheduleSeed);
  if (error != std::errc() || end != seed.data() + seed.size())
    return refuse("--schedule-seed: expected an unsigned 64-bit integer, found '" + seed + "'");
  return options;
}

} // namespace tilejit::tilec
