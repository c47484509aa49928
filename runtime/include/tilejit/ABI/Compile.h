// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What is asked of the compiler and what it answers, and their encoding as bytes: the same for the worker's socket and
// for the one C function of libtilejit-compiler.so.

#ifndef TILEJIT_ABI_COMPILE_H
#define TILEJIT_ABI_COMPILE_H

#include "tilejit/ABI/GpuLaunch.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Target/TargetSpec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit::abi {

enum class SourceKind : uint8_t { Description, TileIR };
/// Explained: a package whose code carries places, with StageTexts to which they refer (ABI/StageTexts.h).
enum class EmitKind : uint8_t { Package, Tile, Llvm, Asm, Object, TileGpu, Ptx, Explained };
/// What the bytes of a payload are. payloadKindName() gives the spelling of output.
enum class PayloadKind : uint8_t { Elf, Ptx, Cubin, Hsaco, Bitcode, Stages };

/// Schedule options by key (`bm`, `threads`, ...), as the user gave them; absent ones are the compiler's choice.
using Config = std::map<std::string, int64_t>;

struct CompileRequest {
  SourceKind sourceKind = SourceKind::Description;
  std::string source;     ///< Canonical JSON, or the text of a .mlir file.
  std::string sourceName; ///< For messages; not part of the result.
  std::string target;     ///< encodeTarget().
  EmitKind emit = EmitKind::Package;
  Config config;
  /// GPU targets: a package also gets the optimised LLVM bitcode, which the simulator runs; always on for `sim:`
  /// targets.
  bool withBitcode = false;
};

/// What the runtime must know to launch, check and report a kernel; stored in entries as JSON ("manifest").
struct OperandInfo {
  std::string name;  ///< Canonical name, or the argument's name in a tile file.
  std::string dtype; ///< Name of the DType.
  int32_t rank = 0;  ///< -1: a bare pointer; -2: a scalar.
  bool isOutput = false;
  /// What the code relies on, so that a launch can check it; empty or 0: nothing, or the description says it.
  std::vector<int64_t> shape;   ///< One for each dimension; -1: any size.
  std::vector<int64_t> strides; ///< In elements; -1: any.
  int64_t align = 0;            ///< Bytes.
};
/// An operand that phase 0 of a launch packs into the workspace, from which alone the later phases read it.
struct PackedOperand {
  int32_t operand = 0;
  int64_t bytes = 0; ///< Of the workspace, whatever the sizes of a launch.
};
struct Manifest {
  std::string op;         ///< Family, or the kernel's symbol of a tile file.
  std::string target;     ///< The target's keyText.
  int32_t abiVersion = 0; ///< kernelAbiVersion.
  std::vector<OperandInfo> operands;
  bool hasLaunchRule = true;                ///< False: the caller must give a grid.
  std::vector<std::string> paths;           ///< Names of the regimes: "matmul 6x64, packed b".
  Config config;                            ///< What was chosen.
  std::map<std::string, int64_t> resources; ///< code_bytes, stack_bytes, ...
  std::vector<std::string> assertions;      ///< Message and place of each tile.assert, by number.
  std::string reductionOrder;               ///< In which order sums are formed, for people.
  std::optional<PackedOperand> packs;       ///< What may be packed once for many launches.
  GpuLaunch gpu;                            ///< GPU targets: kernels and launch rules; empty for CPUs.
};

/// One form of the compiled code. A CPU target has one (Elf); an NVIDIA target Ptx, and Cubin where ptxas was found; an
/// AMD target Hsaco; Bitcode and Stages beside them where they were asked for.
struct Payload {
  PayloadKind kind = PayloadKind::Elf;
  std::string bytes;
};
/// "elf", "ptx", "cubin", "hsaco", "bitcode", "stages".
std::string_view payloadKindName(PayloadKind kind);
/// Nothing for a name that is none, "text" among them.
std::optional<PayloadKind> parsePayloadKind(std::string_view name);
/// "package", "tile", "llvm", "asm", "object", "tilegpu", "ptx", "explained".
std::string_view emitKindName(EmitKind kind);
/// Whether the result has all forms that a device may want.
constexpr bool isPackage(EmitKind kind) { return kind == EmitKind::Package || kind == EmitKind::Explained; }
/// Whether the result is for people to read, and no code for a device.
constexpr bool isText(EmitKind kind) { return !isPackage(kind) && kind != EmitKind::Object; }
/// Whether code for the target has such a form; InvalidArgument where it has not.
Status checkEmit(EmitKind kind, const TargetSpec &target);

struct CompileResponse {
  Status status;                 ///< Ok, or why there is neither of the next two.
  std::string text;              ///< EmitKinds that are text.
  std::vector<Payload> payloads; ///< All other EmitKinds; the first is what a device loads.
  Manifest manifest;
  std::vector<std::pair<std::string, double>> stagesMs; ///< Stage and milliseconds, in order.
};

/// Length-prefixed, typed encodings. Decoding checks every length and never trusts its input.
std::string encode(const CompileRequest &request);
Expected<CompileRequest> decodeRequest(std::string_view bytes);
std::string encode(const CompileResponse &response);
Expected<CompileResponse> decodeResponse(std::string_view bytes);
std::string manifestJson(const Manifest &manifest);
Expected<Manifest> parseManifest(std::string_view json);

/// libtilejit-compiler.so's only export: takes an encoded request, gives an encoded response allocated with malloc.
/// Returns 0, or -1 where not even a response could be made. One call at a time.
using CompileFunction = int (*)(const char *request, size_t requestBytes, char **outResponse, size_t *outBytes);
inline constexpr const char *compileSymbol = "tilejit_compiler_compile";

} // namespace tilejit::abi

#endif // TILEJIT_ABI_COMPILE_H
