// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The check of launch arguments. The way without a fault allocates nothing.

#include "LaunchRules.h"

#include "tilejit/Runtime/Kernel.h"

#include <algorithm>
#include <cstring>

namespace tilejit {

namespace {

constexpr int64_t unbound = -1;

Status wrong(const OperandRule &rule, const std::string &what) {
  return Status(StatusCode::InvalidArgument, "operand \"" + rule.name + "\" " + what);
}

std::string listText(const int64_t *values, size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string shapeText(const OperandRule &rule, const LaunchRules &rules, const int64_t *sizes) {
  std::string text = "[";
  for (size_t i = 0; i < rule.shape.size(); ++i) {
    const Dim &dim = rule.shape[i];
    text += i ? ", " : "";
    if (!dim.isSymbolic()) {
      text += dim.size < 0 ? "any" : std::to_string(dim.size);
      continue;
    }
    text += rules.dims[static_cast<size_t>(dim.symbol)].name;
    if (sizes[dim.symbol] != unbound)
      text += " = " + std::to_string(sizes[dim.symbol]);
  }
  return text + "]";
}

std::string typeText(DLDataType type) {
  if (auto dtype = fromDlpackType(type))
    return std::string(dtypeName(*dtype));
  return "DLPack type (code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
         std::to_string(type.lanes) + " lanes)";
}

/// Types that are held in the same bytes: 4-bit integers may come as 8-bit ones.
bool typeFits(DLDataType type, DType wanted) {
  DLDataType expected = toDlpackType(wanted);
  if (type.lanes != 1 || (type.code != expected.code && !(wanted == DType::Bool && type.code == kDLUInt)))
    return false;
  return type.bits == expected.bits || (expected.bits == 4 && type.bits == 8) ||
         (wanted == DType::Bool && type.bits == 8);
}

/// Whether a kernel of `device` can reach a tensor there. Memory of the host that the driver knows, and memory that it
/// moves by itself, are in everyone's reach.
bool isReachable(DLDevice place, DLDevice device) {
  if (device.device_type == kDLCUDA && (place.device_type == kDLCUDAManaged || place.device_type == kDLCUDAHost))
    return true;
  if (device.device_type == kDLROCM && place.device_type == kDLROCMHost)
    return true;
  return place.device_type == device.device_type &&
         (device.device_type == kDLCPU || place.device_id == device.device_id);
}

Status checkKind(const OperandRule &rule, const DLTensor *tensor, DLDevice device) {
  if (!tensor)
    return wrong(rule, "is null");
  DLDevice wanted = rule.kind == OperandKind::Scalar ? DLDevice{kDLCPU, 0} : device;
  if (!isReachable(tensor->device, wanted) && tensor->device.device_type != wanted.device_type)
    return wrong(rule, "lies on DLPack device type " + std::to_string(tensor->device.device_type) + ", expected " +
                           std::to_string(wanted.device_type));
  if (!isReachable(tensor->device, wanted))
    return wrong(rule, "lies on device " + std::to_string(tensor->device.device_id) + " of its kind, expected " +
                           std::to_string(wanted.device_id));
  if (rule.dtype && !typeFits(tensor->dtype, *rule.dtype))
    return wrong(rule, "has dtype " + typeText(tensor->dtype) + ", expected " + std::string(dtypeName(*rule.dtype)));
  if (rule.kind == OperandKind::Pointer)
    return Status::ok();
  size_t rank = rule.kind == OperandKind::Scalar ? 0 : rule.shape.size();
  if (tensor->ndim < 0 || static_cast<size_t>(tensor->ndim) != rank)
    return wrong(rule, "has rank " + std::to_string(tensor->ndim) + ", expected " + std::to_string(rank));
  if (rank > 0 && !tensor->shape)
    return wrong(rule, "has no shape");
  return Status::ok();
}

/// Sizes against the rule; binds symbolic dimensions that are met for the first time.
Status checkShape(const LaunchRules &rules, const OperandRule &rule, const DLTensor &tensor, int64_t *sizes) {
  for (size_t i = 0; i < rule.shape.size(); ++i) {
    const Dim &dim = rule.shape[i];
    int64_t size = tensor.shape[i];
    bool fits = size >= 0 && (dim.isSymbolic() || dim.size < 0 || dim.size == size);
    if (fits && dim.isSymbolic()) {
      int64_t &bound = sizes[dim.symbol];
      if (bound == unbound) {
        const SymbolicDim &range = rules.dims[static_cast<size_t>(dim.symbol)];
        if (size < range.min || size > range.max || (range.multipleOf > 1 && size % range.multipleOf != 0))
          return wrong(rule, "has shape " + listText(tensor.shape, rule.shape.size()) + ": \"" + range.name +
                                 "\" may be " + std::to_string(range.min) + " to " + std::to_string(range.max) +
                                 (range.multipleOf > 1 ? " in multiples of " + std::to_string(range.multipleOf) : ""));
        bound = size;
      }
      fits = bound == size;
    }
    if (!fits)
      return wrong(rule, "has shape " + listText(tensor.shape, rule.shape.size()) + ", expected " +
                             shapeText(rule, rules, sizes));
  }
  return Status::ok();
}

/// Strides against the rule. Those of dimensions of size 0 or 1 mean nothing and become what a dense tensor would have.
Status fillStrides(const OperandRule &rule, const DLTensor &tensor, bool isEmpty, const int64_t *sizes,
                   int64_t *strides) {
  int64_t dense = 1;
  for (size_t i = rule.shape.size(); i-- > 0;) {
    int64_t size = tensor.shape[i];
    bool free = isEmpty || size <= 1 || !tensor.strides;
    strides[i] = free ? dense : tensor.strides[i];
    bool fits = true;
    if (rule.dense) {
      fits = strides[i] == dense;
    } else if (!rule.strides.empty() && !isEmpty && size > 1) {
      const StrideRule &want = rule.strides[i];
      fits = want.kind == StrideRule::Kind::Any ||
             (want.kind == StrideRule::Kind::Constant && strides[i] == want.value) ||
             (want.kind == StrideRule::Kind::Symbol && strides[i] == sizes[want.value]);
    }
    if (!fits && rule.dense)
      return wrong(rule, "has strides " + listText(tensor.strides, rule.shape.size()) + " for shape " +
                             listText(tensor.shape, rule.shape.size()) + ", expected dense row-major ones");
    if (!fits)
      return wrong(rule,
                   "has stride " + std::to_string(strides[i]) + " in dimension " + std::to_string(i) + ", expected " +
                       std::to_string(rule.strides[i].kind == StrideRule::Kind::Symbol ? sizes[rule.strides[i].value]
                                                                                       : rule.strides[i].value));
    if (rule.isOutput && strides[i] == 0 && size > 1 && !isEmpty)
      return wrong(rule, "is an output and has stride 0 in dimension " + std::to_string(i) + " of size " +
                             std::to_string(size));
    dense *= size > 1 ? size : 1;
  }
  return Status::ok();
}

Status fillView(const LaunchRules &rules, const OperandRule &rule, const DLTensor &tensor, const int64_t *sizes,
                int64_t *slots) {
  size_t rank = rule.shape.size();
  bool isEmpty = false;
  for (size_t i = 0; i < rank; ++i)
    isEmpty |= tensor.shape[i] == 0;
  auto address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  if (!tensor.data && !isEmpty)
    return wrong(rule, "has no data");
  uintptr_t align = static_cast<uintptr_t>(rule.align > 0 ? rule.align : rule.dtype ? storageBytes(*rule.dtype) : 1);
  if (!isEmpty && address % align != 0)
    return wrong(rule, "lies at an address that is no multiple of " + std::to_string(align) + " bytes");
  slots[0] = static_cast<int64_t>(address);
  for (size_t i = 0; i < rank; ++i)
    slots[1 + i] = tensor.shape[i];
  return fillStrides(rule, tensor, isEmpty, sizes, slots + 1 + rank);
}

/// Whether a tensor is given in the place of an operand that was packed: bytes in a row.
bool isPackedForm(const LaunchRules &rules, size_t operand, const DLTensor *tensor) {
  bool packs = rules.packs && static_cast<size_t>(rules.packs->operand) == operand;
  if (!packs || !tensor || tensor->ndim != 1 || !typeFits(tensor->dtype, DType::U8))
    return false;
  const OperandRule &rule = rules.operands[operand];
  return rule.shape.size() != 1 || rule.dtype != DType::U8;
}

/// Checks the memory of a packed operand.
Status checkPacked(const LaunchRules &rules, const DLTensor &tensor, DLDevice device, PackedMemory &memory) {
  const OperandRule &rule = rules.operands[static_cast<size_t>(rules.packs->operand)];
  constexpr uintptr_t align = 64;
  OperandRule bytes;
  bytes.name = rule.name;
  bytes.dtype = DType::U8;
  bytes.shape = {{rules.packs->bytes, -1}};
  TILEJIT_RETURN_IF_ERROR(checkKind(bytes, &tensor, device));
  if (tensor.shape[0] != rules.packs->bytes)
    return wrong(rule, "is packed in " + std::to_string(tensor.shape[0]) + " bytes, expected " +
                           std::to_string(rules.packs->bytes));
  if (!tensor.data)
    return wrong(rule, "has no data");
  auto address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  if (address % align != 0 || (tensor.strides && tensor.shape[0] > 1 && tensor.strides[0] != 1))
    return wrong(rule, "is packed at an address that is no multiple of " + std::to_string(align) +
                           " bytes, or its bytes lie apart");
  memory = reinterpret_cast<void *>(address);
  return Status::ok();
}

/// The slots of an operand that nobody reads where it lies; its sizes are constants.
void fillUnread(const OperandRule &rule, int64_t *slots) {
  size_t rank = rule.shape.size();
  int64_t dense = 1;
  slots[0] = 0;
  for (size_t i = rank; i-- > 0;) {
    slots[1 + i] = rule.shape[i].size;
    slots[1 + rank + i] = dense;
    dense *= rule.shape[i].size;
  }
}

} // namespace

Status bindForPacking(const LaunchRules &rules, DLDevice device, const DLTensor &tensor, const DLTensor &packed,
                      int64_t *slots, int64_t *sizes, PackedMemory &memory) {
  auto operand = static_cast<size_t>(rules.packs->operand);
  const OperandRule &rule = rules.operands[operand];
  std::fill_n(slots, rules.slotCount, 0);
  std::fill_n(sizes, rules.dims.size(), unbound);
  TILEJIT_RETURN_IF_ERROR(checkPacked(rules, packed, device, memory));
  TILEJIT_RETURN_IF_ERROR(checkKind(rule, &tensor, device));
  TILEJIT_RETURN_IF_ERROR(checkShape(rules, rule, tensor, sizes));
  for (size_t i = 0; i < operand; ++i)
    slots += rules.operands[i].slots();
  return fillView(rules, rule, tensor, sizes, slots);
}

Status bindTensors(const LaunchRules &rules, DLDevice device, std::span<const DLTensor *const> tensors, int64_t *slots,
                   int64_t *sizes, PackedMemory &packed) {
  if (tensors.size() != rules.operands.size())
    return Status(StatusCode::InvalidArgument, "the launch has " + std::to_string(tensors.size()) +
                                                   " tensors, expected " + std::to_string(rules.operands.size()));
  for (size_t i = 0; i < rules.dims.size(); ++i)
    sizes[i] = unbound;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const OperandRule &rule = rules.operands[i];
    if (isPackedForm(rules, i, tensors[i])) {
      TILEJIT_RETURN_IF_ERROR(checkPacked(rules, *tensors[i], device, packed));
      continue;
    }
    TILEJIT_RETURN_IF_ERROR(checkKind(rule, tensors[i], device));
    if (rule.kind == OperandKind::View)
      TILEJIT_RETURN_IF_ERROR(checkShape(rules, rule, *tensors[i], sizes));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const OperandRule &rule = rules.operands[i];
    const DLTensor &tensor = *tensors[i];
    auto address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
    switch (rule.kind) {
    case OperandKind::View:
      if (isPackedForm(rules, i, &tensor))
        fillUnread(rule, slots);
      else
        TILEJIT_RETURN_IF_ERROR(fillView(rules, rule, tensor, sizes, slots));
      slots += rule.slots();
      break;
    case OperandKind::Pointer:
      *slots++ = static_cast<int64_t>(address);
      break;
    case OperandKind::Scalar: {
      if (!tensor.data)
        return wrong(rule, "has no data");
      uint64_t bits = 0;
      std::memcpy(&bits, reinterpret_cast<const void *>(address), rule.dtype ? storageBytes(*rule.dtype) : 8);
      *slots++ = static_cast<int64_t>(bits);
      break;
    }
    }
  }
  return Status::ok();
}

} // namespace tilejit
