// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Functions of the vendors' device libraries by their meaning: libdevice (__nv_*), OCML and OCKL, printf and
// assertions. Those that take the address of a result, and those with unusual operands, have rules of their own; the
// rest is a name in the table of functions.

#include "decode/CommonRules.h"
#include "decode/Intrinsics.h"

#include "core/Block.h"
#include "core/Handlers.h"
#include "core/MathTable.h"
#include "core/Pointers.h"
#include "core/PrintHandlers.h"
#include "decode/LibraryNames.h"
#include "nvidia/FloatOperations.h"
#include "nvidia/IntegerOperations.h"
#include "nvidia/NvvmRules.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"

namespace tilejit::sim {

namespace {

void unknown(Call &call) { call.decoder.fail("call of unknown function '" + call.name + "'"); }

// --- Results behind pointers ---------------------------------------------------------------------------------------

void storeTo(Decoder &d, Reg pointer, unsigned space, Reg value) {
  Op &op = d.emitWide(storeHandler(d.width()), {}, {value}, space);
  op.a = pointer;
  op.registers |= Op::HasA;
  auto bytes = static_cast<int64_t>(sizeOf(d.kindOfReg(value)));
  OpOperands &x = d.operandsOf(op);
  x.numbers = {bytes, bytes, bytes};
  x.offsets = {0};
  if (space == genericSpace || space == sharedSpace)
    d.noteSharedAccess(static_cast<uint64_t>(bytes), static_cast<uint64_t>(bytes));
}

unsigned spaceOfArgument(const Call &call, unsigned argument) {
  return call.call.getArgOperand(argument)->getType()->getPointerAddressSpace();
}

/// sincos(x, sin*, cos*) of CUDA, sin = sincos(x, cos*) of OCML.
bool sineAndCosine(Call &call, llvm::StringRef name) {
  if (name != "sincos" && name != "sincospi")
    return false;
  Decoder &d = call.decoder;
  Kind kind = call.kind(0);
  std::string_view sine = name == "sincos" ? "sin" : "sinpi", cosine = name == "sincos" ? "cos" : "cospi";
  Reg s = call.size() == 3 ? d.newReg(kind) : call.result(), c = d.newReg(kind);
  emitLanes(d, findMath(sine)->of(kind), s, {call.reg(0)});
  emitLanes(d, findMath(cosine)->of(kind), c, {call.reg(0)});
  if (call.size() == 3)
    storeTo(d, call.reg(1), spaceOfArgument(call, 1), s);
  unsigned last = call.size() - 1;
  storeTo(d, call.reg(last), spaceOfArgument(call, last), c);
  return true;
}

/// frexp(x, exponent*), modf(x, whole*), fract(x, whole*).
bool secondByPointer(Call &call, llvm::StringRef name) {
  if (call.size() != 2 || !call.call.getArgOperand(1)->getType()->isPointerTy())
    return false;
  Decoder &d = call.decoder;
  Kind kind = call.kind(0);
  Reg second;
  if (name == "frexp") {
    second = d.newReg(Kind::I32);
    emitLanes(d, frexpHandlers(kind, false), call.result(), {call.reg(0)});
    emitLanes(d, frexpHandlers(kind, true), second, {call.reg(0)});
  } else if (name == "modf" || name == "fract") {
    second = d.newReg(kind);
    bool isFract = name == "fract";
    emitLanes(d, isFract ? findMath("fract")->of(kind) : fractionHandlersOf(kind), call.result(), {call.reg(0)});
    emitLanes(d, findMath(isFract ? "floor" : "trunc")->of(kind), second, {call.reg(0)});
  } else {
    return false;
  }
  storeTo(d, call.reg(1), spaceOfArgument(call, 1), second);
  return true;
}

/// Functions of a number and an integer.
bool withInteger(Call &call, llvm::StringRef name) {
  bool scales = name == "ldexp" || name == "scalbn", raises = name == "powi" || name == "pown" || name == "rootn";
  if ((!scales && !raises) || call.size() != 2 || name == "rootn")
    return false;
  emitLanes(call.decoder, scales ? scaleHandlersOf(call.kind(0)) : powerHandlersOf(call.kind(0)), call.result(),
            {call.reg(0), call.reg(1)});
  return true;
}

/// isnan and the like: classes as llvm.is.fpclass numbers them; results are integers.
bool classified(Call &call, llvm::StringRef name) {
  int64_t classes = llvm::StringSwitch<int64_t>(name)
                        .Cases({"isnan", "isnanf", "isnand"}, 0x003)
                        .Cases({"isinf", "isinff", "isinfd"}, 0x204)
                        .Cases({"isfinite", "finitef", "isfinited"}, 0x1f8)
                        .Cases({"isnormal", "isnormalf", "isnormald"}, 0x108)
                        .Cases({"signbit", "signbitf", "signbitd"}, -1)
                        .Default(0);
  if (!classes)
    return false;
  Decoder &d = call.decoder;
  Reg flag = d.newReg(Kind::I8), result = call.result();
  if (classes > 0)
    emitLanes(d, classHandlersOf(call.kind(0)), flag, {call.reg(0)}, classes);
  else
    emitLanes(d, signBitHandlersOf(call.kind(0)), flag, {call.reg(0)});
  d.emit(convertHandler(d.kindOfReg(result), Kind::I8, false, d.width()), result, {flag});
  return true;
}

// --- libdevice -----------------------------------------------------------------------------------------------------

/// fadd_rz, dmul_rn, fmaf_ru, frcp_rd, fsqrt_rn, ddiv_ru ...
bool roundedArithmetic(Call &call, llvm::StringRef name) {
  auto [base, mode] = name.rsplit('_');
  std::optional<Rounding> rounding = llvm::StringSwitch<std::optional<Rounding>>(mode)
                                         .Case("rn", Rounding::Nearest)
                                         .Case("rz", Rounding::Zero)
                                         .Case("ru", Rounding::Up)
                                         .Case("rd", Rounding::Down)
                                         .Default(std::nullopt);
  if (!rounding || base.size() < 3)
    return false;
  llvm::StringRef operation = base == "fmaf" || base == "fma" ? "fma" : base.drop_front();
  FloatFlags flags;
  flags.rounding = *rounding;
  FloatHandlers found = floatOperation(std::string_view(operation), call.kind(0), false, flags);
  if (!found.handler || found.operands != call.size())
    return false;
  emitLanes(call.decoder, {found.handler, found.handler}, call.result(), call.allRegs(), flags.encode());
  return true;
}

llvm::StringRef numberName(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Case("float", "f32")
      .Case("double", "f64")
      .Case("half", "f16")
      .Case("int", "s32")
      .Case("uint", "u32")
      .Case("ll", "s64")
      .Case("ull", "u64")
      .Case("short", "s16")
      .Case("ushort", "u16")
      .Default("");
}

/// float2int_rz, ull2double_rn, half2float ...
bool convertedNumber(Call &call, llvm::StringRef name) {
  llvm::StringRef mode;
  if (name.contains('_'))
    std::tie(name, mode) = name.rsplit('_');
  auto [from, to] = name.split('2');
  Conversion c;
  c.from = findNumberType(std::string_view(numberName(from)));
  c.to = findNumberType(std::string_view(numberName(to)));
  c.rounding = llvm::StringSwitch<Rounding>(mode)
                   .Case("rz", Rounding::Zero)
                   .Case("ru", Rounding::Up)
                   .Case("rd", Rounding::Down)
                   .Default(Rounding::Nearest);
  if (!c.from || !c.to)
    return false;
  emitConversion(call.decoder, c, false, false, call.result(), {call.reg(0)});
  return true;
}

bool reinterpreted(Call &call, llvm::StringRef name) {
  if (!name.contains("_as_"))
    return false;
  call.decoder.copy(call.result(), call.reg(0));
  return true;
}

bool integerFunction(Call &call, llvm::StringRef name) {
  const LibraryInteger *row = findLibraryInteger(std::string_view(name));
  if (!row)
    return false;
  emitLanes(call.decoder, row->handlers, call.result(), call.allRegs());
  return true;
}

bool mathFunction(Call &call, llvm::StringRef name) {
  if (emitMath(call, libraryAlias(name)))
    return true;
  // exp and expf, fmax and fmaxf.
  return name.consume_back("f") && emitMath(call, libraryAlias(name));
}

void libdevice(Call &call) {
  llvm::StringRef name = call.name.drop_front(llvm::StringRef("__nv_").size());
  name.consume_front("fast_");
  llvm::StringRef plain = name;
  if (call.size() && call.kind(0) == Kind::F32)
    plain.consume_back("f");
  if (sineAndCosine(call, plain) || secondByPointer(call, plain) || withInteger(call, plain) ||
      classified(call, name) || reinterpreted(call, name) || integerFunction(call, name))
    return;
  if (name.contains('2') && convertedNumber(call, name))
    return;
  if (roundedArithmetic(call, name) || mathFunction(call, name))
    return;
  unknown(call);
}

// --- OCML and OCKL -------------------------------------------------------------------------------------------------

void ocml(Call &call) {
  llvm::StringRef name = call.name.drop_front(llvm::StringRef("__ocml_").size()).rsplit('_').first;
  name.consume_front("native_");
  name.consume_back("_rte");
  if (sineAndCosine(call, name) || secondByPointer(call, name) || withInteger(call, name) || classified(call, name) ||
      mathFunction(call, name))
    return;
  unknown(call);
}

enum class Id : uint8_t { Local, Group, LocalSize, Groups, Global, GlobalSize };

/// d = the id or size of dimension b (0 to 2; I32), by a number.
template <unsigned W> void identify(Warp &warp, const Op &op) {
  const Block &block = *warp.block;
  const LaunchRequest &request = *block.launch().request;
  const uint32_t *dimension = warp.reg<uint32_t>(op.a);
  map<W>(warp.mask, warp.reg<uint64_t>(op.d), [&](unsigned l) -> uint64_t {
    uint32_t i = dimension[l];
    bool isSize =
        op.imm == int64_t(Id::LocalSize) || op.imm == int64_t(Id::Groups) || op.imm == int64_t(Id::GlobalSize);
    if (i > 2)
      return isSize ? 1 : 0;
    uint32_t thread = warp.thread(l);
    uint32_t local = i == 0   ? thread % request.block[0]
                     : i == 1 ? thread / request.block[0] % request.block[1]
                              : thread / request.block[0] / request.block[1];
    switch (static_cast<Id>(op.imm)) {
    case Id::Local:
      return local;
    case Id::Group:
      return block.blockOf(warp).index[i];
    case Id::LocalSize:
      return request.block[i];
    case Id::Groups:
      return request.grid[i];
    case Id::Global:
      return uint64_t(block.blockOf(warp).index[i]) * request.block[i] + local;
    default:
      return uint64_t(request.grid[i]) * request.block[i];
    }
  });
}

void identity(Call &call, Id id) {
  Op &op = call.decoder.emit(call.decoder.pick(identify<32>, identify<64>), call.result(), {call.reg(0)},
                             static_cast<int64_t>(id));
  (void)op;
}

void ockl(Call &call) {
  llvm::StringRef name = call.name.drop_front(llvm::StringRef("__ockl_").size());
  if (!integerFunction(call, name))
    unknown(call);
}

// --- Messages ------------------------------------------------------------------------------------------------------

void printPieces(Call &call, Handler handler) { call.decoder.emitWide(handler, {call.result()}, call.allRegs()); }

void assertion(Call &call) { call.decoder.emitWide(assertHandler(call.decoder.width()), {}, call.allRegs()); }

/// __nvvm_reflect("__CUDA_ARCH"): what libdevice asks of its compiler.
void reflect(Call &call) {
  llvm::StringRef question;
  llvm::getConstantStringInfo(call.call.getArgOperand(0)->stripPointerCasts(), question);
  int64_t answer = 0;
  if (question == "__CUDA_ARCH")
    answer = 10 * static_cast<int64_t>(call.decoder.chip().computeCapability);
  else if (question == "__CUDA_PREC_SQRT" || question == "__CUDA_PREC_DIV")
    answer = 1;
  call.decoder.define(&call.call, {call.decoder.constant(Kind::I32, static_cast<uint64_t>(answer))});
}

void allocation(Call &call) { call.decoder.fail("unsupported: memory allocation on the device ('" + call.name + "')"); }

/// An address moved into a window (positive) or out of it.
void castAddress(Call &call, int64_t window) {
  Decoder &d = call.decoder;
  d.emit(addressSpaceHandler(d.width()), call.result(), {call.reg(0)}, window);
}

} // namespace

void addLibraryRules(Rules &rules) {
  rules.callPrefix("__nv_", libdevice);
  rules.callPrefix("__ocml_", ocml);
  rules.callPrefix("__ockl_", ockl);
  rules.call("__ockl_get_local_id", [](Call &call) { identity(call, Id::Local); });
  rules.call("__ockl_get_group_id", [](Call &call) { identity(call, Id::Group); });
  rules.call("__ockl_get_local_size", [](Call &call) { identity(call, Id::LocalSize); });
  rules.call("__ockl_get_num_groups", [](Call &call) { identity(call, Id::Groups); });
  rules.call("__ockl_get_global_id", [](Call &call) { identity(call, Id::Global); });
  rules.call("__ockl_get_global_size", [](Call &call) { identity(call, Id::GlobalSize); });
  rules.call("__ockl_printf_begin", [](Call &call) {
    call.decoder.emit(printBeginHandler(call.decoder.width()), call.result(), {call.reg(0)});
  });
  rules.call("__ockl_printf_append_string_n",
             [](Call &call) { printPieces(call, printStringHandler(call.decoder.width())); });
  rules.call("__ockl_printf_append_args",
             [](Call &call) { printPieces(call, printValuesHandler(call.decoder.width())); });
  // What CUDA's headers make of __cvta_generic_to_shared() and its siblings where nothing is optimised.
  rules.call("__nv_cvta_generic_to_shared_impl", [](Call &call) { castAddress(call, -int64_t(sharedWindow)); });
  rules.call("__nv_cvta_shared_to_generic_impl", [](Call &call) { castAddress(call, int64_t(sharedWindow)); });
  rules.call("__nv_cvta_generic_to_local_impl", [](Call &call) { castAddress(call, -int64_t(localWindow)); });
  rules.call("__nv_cvta_local_to_generic_impl", [](Call &call) { castAddress(call, int64_t(localWindow)); });
  for (const char *same : {"__nv_cvta_generic_to_global_impl", "__nv_cvta_global_to_generic_impl",
                           "__nv_cvta_generic_to_constant_impl", "__nv_cvta_constant_to_generic_impl"})
    rules.call(same, [](Call &call) { call.decoder.copy(call.result(), call.reg(0)); });
  rules.call("vprintf", [](Call &call) {
    call.decoder.emit(printPackedHandler(call.decoder.width()), call.result(), {call.reg(0), call.reg(1)});
  });
  for (llvm::StringRef name : {"__assertfail", "__assert_fail", "__triton_assert_fail"})
    rules.call(name, assertion);
  for (llvm::StringRef name : {"__nvvm_reflect", "llvm.nvvm.reflect"})
    rules.call(name, reflect);
  for (llvm::StringRef name : {"malloc", "free", "calloc", "realloc", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm",
                               "__ockl_dm_alloc", "__ockl_dm_dealloc"})
    rules.call(name, allocation);
}

} // namespace tilejit::sim
