// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The arguments of a simulated kernel: --arg texts, the arrays of their files as plain bytes, and their memory on the
// simulated device. Files are read, and outputs are found writable, before anything runs.

#ifndef TILEJIT_TOOLS_TILEC_SIMULATEARGUMENTS_H
#define TILEJIT_TOOLS_TILEC_SIMULATEARGUMENTS_H

#include "tilejit/Base/Status.h"
#include "tilejit/Simulator/Simulator.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilejit::tilec {

class SimulateArguments {
public:
  /// Parses `in:F.npy`, `inout:F.npy`, `out:F.npy:f32[128,64]`, `i32:5`, `f32:0.5`, `null`, ...
  static Expected<SimulateArguments> parse(const std::vector<std::string> &texts);

  /// Whether they are what the kernel takes; missing trailing pointers are null.
  Status check(const sim::KernelInfo &kernel) const;
  /// Allocates and fills the arrays, and gives the bytes of each argument. `simulator` must outlive writeOutputs.
  Expected<std::vector<std::vector<uint8_t>>> place(sim::Simulator &simulator, const sim::KernelInfo &kernel);
  /// Writes the files of `inout` and `out`.
  Status writeOutputs() const;

private:
  enum class Form : uint8_t { In, InOut, Out, Scalar, Null };
  struct Argument {
    Form form = Form::Null;
    std::string text;           ///< As given.
    std::string type;           ///< Of scalars: "i32".
    std::string file, header;   ///< Of arrays: what stands in the file before the data.
    std::vector<uint8_t> bytes; ///< The value, or what is in the file.
    int64_t size = 0;           ///< Bytes of an array.
    void *memory = nullptr;     ///< On the device.

    bool isArray() const { return form == Form::In || form == Form::InOut || form == Form::Out; }
  };

  static Expected<Argument> parseOne(const std::string &text, const std::string &option);
  static Status readArray(Argument &argument);
  static Expected<Argument> parseOutput(const std::string &text, const std::string &option);
  static Expected<Argument> parseScalar(const std::string &text, const std::string &option);
  static bool fits(const Argument &argument, const sim::ParameterInfo &parameter);

  std::vector<Argument> arguments_;
};

/// The parameters of a kernel in words: "ptr a, i32 n, f32 scale".
std::string parametersText(const sim::KernelInfo &kernel);

} // namespace tilejit::tilec

#endif // TILEJIT_TOOLS_TILEC_SIMULATEARGUMENTS_H
