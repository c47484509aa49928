// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arguments of a simulated kernel: --arg texts, the arrays of their files as plain bytes, and their memory on the
// simulated device. Files are read, and outputs are found writable, before anything runs.

#ifndef TILEJIT_TOOLS_TILEC_SIMULATEARGUMENTS_H
#define TILEJIT_TOOLS_TILEC_SIMULATEARGUMENTS_H

#include "SimulateMaps.h"

#include "tilejit/Base/Status.h"
#include "tilejit/Simulator/Simulator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilejit::tilec {

class SimulateArguments {
public:
  /// Parses `in:F.npy`, `inout:F.npy`, `out:F.npy:f32[128,64]`, `arg:2` (the same array), `map[64,32]:` before one of
  /// these (a tensor map of it), `i32:5`, `f32:0.5`, `null`, ...
  static Expected<SimulateArguments> parse(const std::vector<std::string> &texts);

  /// Whether they are what the kernel takes; missing trailing pointers are null.
  Status check(const sim::KernelInfo &kernel) const;
  /// Allocates and fills the arrays, and gives the bytes of each argument. `simulator` must outlive writeOutputs.
  Expected<std::vector<std::vector<uint8_t>>> place(sim::Simulator &simulator, const sim::KernelInfo &kernel);
  /// Writes the files of `inout` and `out`.
  Status writeOutputs() const;

private:
  enum class Form : uint8_t { In, InOut, Out, Same, Scalar, Null };
  struct Argument {
    Form form = Form::Null;
    std::string text;           ///< As given.
    std::string type;           ///< Of scalars: "i32".
    std::string file, header;   ///< Of arrays: what stands in the file before the data.
    std::vector<uint8_t> bytes; ///< The value, or what is in the file.
    int64_t size = 0;           ///< Bytes of an array.
    std::string descr;          ///< Of arrays: the type as spelled in the file,
    std::vector<int64_t> shape; ///< and the sizes.
    size_t other = 0;           ///< Same: number of the argument that has the array, from 1.
    std::optional<MapSpec> map; ///< The kernel gets a tensor map of the array, not its address.
    void *memory = nullptr;     ///< On the device.

    bool isArray() const { return form == Form::In || form == Form::InOut || form == Form::Out; }
  };

  static Expected<Argument> parseOne(std::string text, const std::string &option);
  static Expected<Argument> parseArray(const std::string &form, const std::string &rest, const std::string &option);
  static Status readArray(Argument &argument);
  static Expected<Argument> parseOutput(const std::string &text, const std::string &option);
  static Expected<Argument> parseScalar(const std::string &text, const std::string &option);
  Status checkSame() const;
  static bool fits(const Argument &argument, const sim::ParameterInfo &parameter);
  static Expected<std::vector<uint8_t>> placeMap(sim::Simulator &simulator, const Argument &argument,
                                                 const Argument &array, const sim::ParameterInfo &parameter);

  std::vector<Argument> arguments_;
};

/// The parameters of a kernel in words: "ptr a, i32 n, f32 scale".
std::string parametersText(const sim::KernelInfo &kernel);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_SIMULATEARGUMENTS_H
