// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The entry points: config, module, and the order of sums in words.

#include "tilejit/OpLib/OpLib.h"

#include "Generators.h"

#include "tilejit/Description/Config.h"

using namespace mlir;

namespace tilejit {

void registerOpLibDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

Expected<abi::Config> chooseConfig(const Description &description, const TargetSpec &target, const abi::Config &given) {
  TILEJIT_RETURN_IF_ERROR(checkConfig(description.family, target.isCpu(), given));
  std::unique_ptr<oplib::Schedule> schedule = oplib::Schedule::create(description, target, given);
  TILEJIT_RETURN_IF_ERROR(schedule->check());
  return schedule->complete();
}

static void buildFamily(oplib::KernelBuilder &b, const oplib::Schedule &schedule) {
  switch (b.description().family) {
  case Family::Matmul:
    return oplib::buildMatmul(b, schedule);
  case Family::Elementwise:
    return oplib::buildElementwise(b, schedule);
  case Family::Reduce:
    return oplib::buildReduce(b, schedule);
  case Family::Softmax:
  case Family::LogSoftmax:
    return oplib::buildSoftmax(b, schedule);
  case Family::LayerNorm:
  case Family::RmsNorm:
    return oplib::buildNorm(b, schedule);
  case Family::Transpose:
    return oplib::buildTranspose(b, schedule);
  case Family::Cast:
    return oplib::buildCast(b, schedule);
  case Family::Attention:
  case Family::AttentionDecode:
    return oplib::buildAttention(b, schedule);
  }
}

OwningOpRef<ModuleOp> buildModule(MLIRContext &context, const Description &description, const TargetSpec &target,
                                  const abi::Config &config) {
  DialectRegistry registry;
  registerOpLibDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  std::string title(familyName(description.family));
  OwningOpRef<ModuleOp> module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, title)));
  std::string version =
      std::to_string(tile::TileDialect::versionMajor) + "." + std::to_string(tile::TileDialect::versionMinor);
  (*module)->setAttr(tile::TileDialect::versionAttrName, StringAttr::get(&context, version));
  std::unique_ptr<oplib::Schedule> schedule = oplib::Schedule::create(description, target, config);
  oplib::KernelBuilder builder(*module, description, schedule->backEnd());
  buildFamily(builder, *schedule);
  return module;
}

static bool splits(const abi::Config &config) {
  auto found = config.find("split_k");
  return found != config.end() && found->second > 1;
}

std::string reductionOrder(const Description &description, const TargetSpec &target, const abi::Config &config) {
  abi::Config complete = oplib::Schedule::create(description, target, config)->complete();
  switch (description.family) {
  case Family::Matmul:
    return "terms in ascending order, in blocks of " + std::to_string(complete.at("bk")) +
           " (fewer rows may use longer blocks)" + (splits(complete) ? ", in parts that are added in this order" : "");
  case Family::Reduce:
  case Family::Softmax:
  case Family::LogSoftmax:
  case Family::LayerNorm:
  case Family::RmsNorm:
    return "lanes " + std::to_string(complete.at("bn")) +
           " apart in parts of 256 steps, parts in ascending order, then across lanes";
  case Family::Attention:
  case Family::AttentionDecode:
    return "keys in ascending order, in blocks of " + std::to_string(complete.at("bn")) +
           "; what was summed before is scaled where a block has a larger score" +
           (splits(complete) ? "; few queries in parts that are added across" : "");
  default:
    return {};
  }
}

} // namespace tilejit
