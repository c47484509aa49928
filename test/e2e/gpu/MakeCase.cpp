// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// gpu-make-case: random inputs for a description, and what must come out by the double-precision reference with the
// derived tolerance, as a case folder (CaseFolder.h). Compiles nothing.

#include "CaseFolder.h"

#include "tilejit/Base/File.h"
#include "tilejit/Description/Parse.h"
#include "tilejit/Reference/Random.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tilejit::e2e {
namespace {

struct Options {
  std::string description, folder;
  std::vector<std::string> set;
  int64_t limit = 128;
  uint64_t seed = 0;
};

/// The part of --set that a description has dimensions for, so that one list serves many descriptions.
std::vector<std::string> settingsFor(const Description &description, const std::vector<std::string> &all) {
  std::vector<std::string> own;
  for (const std::string &text : all)
    if (description.dimIndex(text.substr(0, text.find('='))) >= 0)
      own.push_back(text);
  return own;
}

Status make(const Options &options) {
  TILEJIT_ASSIGN_OR_RETURN(std::string text, readFile(realSystem(), options.description));
  TILEJIT_ASSIGN_OR_RETURN(Description description, parseDescription(text, options.description));
  for (const auto *operands : {&description.inputs, &description.outputs})
    for (const Operand &operand : *operands)
      if (operand.strides)
        return Status(StatusCode::InvalidArgument, operand.name + " has strides, and tensors of a case are dense");
  TILEJIT_ASSIGN_OR_RETURN(Binding binding, bindFromSettings(description, settingsFor(description, options.set)));
  bindRest(description, options.limit, binding);
  TILEJIT_RETURN_IF_ERROR(checkBinding(description, binding));
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor input, randomInput(description, binding, static_cast<int>(i), options.seed));
    inputs.push_back(std::move(input));
  }
  Case made;
  TILEJIT_RETURN_IF_ERROR(evaluateReference(description, binding, inputs, made.outputs));
  for (size_t i = 0; i < inputs.size(); ++i)
    made.inputs.push_back({description.inputs[i].name, std::move(inputs[i])});
  if (int error = makeDirectories(realSystem(), options.folder, 0755))
    return fileError("make the folder", options.folder, error);
  return writeCase(options.folder, made);
}

} // namespace
} // namespace tilejit::e2e

int main(int argc, char **argv) {
  tilejit::e2e::Options options;
  CLI::App app("Writes inputs and expected outputs of a description into a folder");
  app.add_option("DESC", options.description, "Description (.json)")->required();
  app.add_option("FOLDER", options.folder, "Folder to write to")->required();
  app.add_option("--set", options.set, "Sizes of dimensions: m=128; names that DESC lacks are ignored")
      ->allow_extra_args(false);
  app.add_option("--limit", options.limit, "Dimensions without a size get at most this");
  app.add_option("--random-seed", options.seed, "Seed of the inputs");
  CLI11_PARSE(app, argc, argv);
  tilejit::Status status = tilejit::e2e::make(options);
  if (!status)
    std::fprintf(stderr, "gpu-make-case: error: %s: %s\n", options.description.c_str(), status.message().c_str());
  return status ? 0 : 2;
}
