// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec targets and tilec ops: what this build knows.

#include "Commands.h"
#include "Devices.h"
#include "Reports.h"

#include "tilejit/Description/Schema.h"
#include "tilejit/Target/TargetSpec.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace tilejit::tilec {
namespace {

Json factsJson(const CpuFacts &facts) {
  return {{"vector_bits", facts.vectorBits},
          {"vector_registers", facts.vectorRegisters},
          {"fma", facts.hasFma},
          {"masks", facts.hasMasks},
          {"f16_convert", facts.hasF16Convert},
          {"bf16_dot", facts.hasBf16Dot},
          {"int8_dot", facts.hasInt8Dot},
          {"amx_bf16", facts.hasAmxBf16},
          {"amx_int8", facts.hasAmxInt8},
          {"fma_per_cycle", facts.ports.fma},
          {"loads_per_cycle", facts.ports.loads},
          {"bf16_dots_per_cycle", facts.hasBf16Dot ? facts.ports.bf16Dots : 0},
          {"l1_bytes", facts.l1Bytes},
          {"l2_bytes", facts.l2Bytes},
          {"l3_bytes", facts.l3Bytes}};
}

Json factsJson(const GpuFacts &facts) {
  return {{"warp_lanes", facts.warpLanes},
          {"max_block_threads", facts.maxBlockThreads},
          {"max_unit_threads", facts.maxUnitThreads},
          {"max_unit_blocks", facts.maxUnitBlocks},
          {"registers_per_unit", facts.registersPerUnit},
          {"max_thread_registers", facts.maxThreadRegisters},
          {"register_granule", facts.registerGranule},
          {"max_block_shared_bytes", facts.maxBlockShared},
          {"unit_shared_bytes", facts.unitShared},
          {"bf16", facts.hasBf16},
          {"async_copy", facts.hasAsyncCopy},
          {"dot2", facts.hasDot2},
          {"dot4", facts.hasDot4},
          {"packed_f32", facts.hasPackedF32},
          {"atomic_add_f32", facts.hasAtomicAddF32},
          {"atomic_add_f64", facts.hasAtomicAddF64}};
}

/// The simulator runs everywhere; a GPU's code runs where a device is, and devices are listed on their own.
bool runsHere(const TargetSpec &target) { return target.simulated || runsOnHost(target).isOk(); }

Json targetJson(const TargetSpec &target) {
  Json json = {{"name", target.name}, {"description", target.description}, {"triple", target.triple}};
  json["cpu"] = target.cpu;
  json["features"] = target.features;
  json["facts"] = target.isCpu() ? factsJson(target.cpuFacts) : factsJson(target.gpuFacts);
  json["runs_here"] = runsHere(target);
  return json;
}

/// What is worth a person's look, after the description.
std::string targetNote(const TargetSpec &target) {
  if (target.isCpu())
    return runsHere(target) ? "" : " (compiles only: does not run on this machine)";
  if (target.simulated)
    return "";
  const GpuFacts &facts = target.gpuFacts;
  return ": " + std::to_string(facts.warpLanes) + " lanes, " + std::to_string(facts.registersPerUnit) + " registers, " +
         std::to_string(facts.maxBlockShared >> 10) + " KiB on chip for a block";
}

int listTargets(const Program &program) {
  Expected<std::shared_ptr<Context>> context = program.context();
  if (!context)
    return program.fail(context.status());
  std::vector<FoundDevice> found = findDevices(**context);
  std::erase_if(found, [](const FoundDevice &one) { return !one.device; });
  if (program.json) {
    Json list = Json::array(), devices = Json::array();
    for (const TargetSpec &target : knownTargets())
      list.push_back(targetJson(target));
    for (const FoundDevice &one : found) {
      const DeviceProperties &properties = one.device->properties();
      devices.push_back({{"name", std::string(deviceKindName(one.kind))},
                         {"index", properties.index},
                         {"model", properties.name},
                         {"target", properties.target.name},
                         {one.kind == DeviceKind::Cpu ? "threads" : "units", properties.computeUnits}});
    }
    Program::print(Json{{"targets", list}, {"devices", devices}});
    return Done;
  }
  for (const TargetSpec &target : knownTargets())
    std::printf("%-18s %s%s\n", target.name.c_str(), target.description.c_str(), targetNote(target).c_str());
  for (const FoundDevice &one : found) {
    const DeviceProperties &properties = one.device->properties();
    std::printf("%-18s device %d: %s, %d %s\n", std::string(deviceKindName(one.kind)).c_str(), properties.index,
                properties.name.c_str(), properties.computeUnits,
                one.kind == DeviceKind::Cpu ? "threads" : ("units, a " + properties.target.name).c_str());
  }
  return Done;
}

int listOps(const Program &program, const std::string &name) {
  std::string known;
  for (const OperatorSchema &schema : operatorSchemas()) {
    std::string family(familyName(schema.family));
    if (family == name) {
      if (program.json)
        Program::print(Json::parse(operatorHelpJson(schema.family)));
      else
        std::fputs(operatorHelp(schema.family).c_str(), stdout);
      return Done;
    }
    known += (known.empty() ? "" : ", ") + family;
  }
  if (!name.empty())
    return program.fail(
        Status(StatusCode::InvalidArgument, "no operator family '" + name + "'; expected one of " + known));
  if (program.json) {
    Json list = Json::array();
    for (const OperatorSchema &schema : operatorSchemas())
      list.push_back(Json::parse(operatorHelpJson(schema.family)));
    Program::print(Json{{"operators", list}});
    return Done;
  }
  for (const OperatorSchema &schema : operatorSchemas())
    std::printf("%-14s %s\n", std::string(familyName(schema.family)).c_str(), schema.summary.c_str());
  return Done;
}

} // namespace

void addTargets(Registry registry) {
  CLI::App *command = registry.app.add_subcommand("targets", "List the targets that this build compiles for");
  registry.program.addCommonOptions(*command);
  command->footer("Example:\n  tilec targets --json");
  registry.onRun(*command, [&program = registry.program] { return listTargets(program); });
}

void addOps(Registry registry) {
  auto name = std::make_shared<std::string>();
  CLI::App *command = registry.app.add_subcommand("ops", "List operator families, or explain one");
  command->add_option("NAME", *name, "A family: its operands, attributes and schedule options");
  registry.program.addCommonOptions(*command);
  command->footer("Example:\n  tilec ops matmul");
  registry.onRun(*command, [&program = registry.program, name] { return listOps(program, *name); });
}

} // namespace tilejit::tilec
