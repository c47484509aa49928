// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Layouts as attributes: printing, parsing, checking, and the way to LinearLayout.

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tilejit::tilegpu;

#define GET_ATTRDEF_CLASSES
#include "tilejit/Dialect/TileGPU/IR/TileGPUAttributes.cpp.inc"

void TileGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilejit/Dialect/TileGPU/IR/TileGPUAttributes.cpp.inc"
      >();
}

//===--- text ---------------------------------------------------------------------------------------------------===//

static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}

/// `<[shape], key = [...], ...>`: the lists named by `keys`, each at most once.
static ParseResult parseLists(AsmParser &parser, SmallVectorImpl<int64_t> &shape, ArrayRef<StringRef> keys,
                              MutableArrayRef<SmallVector<int64_t>> lists) {
  if (parser.parseLess() || parseNumbers(parser, shape))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    const StringRef *found = llvm::find(keys, key);
    if (found == keys.end() || !lists[found - keys.begin()].empty())
      return parser.emitError(loc, "expected one of ") << llvm::join(keys, ", ") << ", each once, got '" << key << "'";
    if (parseNumbers(parser, lists[found - keys.begin()]))
      return failure();
  }
  return parser.parseGreater();
}

static void printLists(AsmPrinter &printer, ArrayRef<int64_t> shape, ArrayRef<StringRef> keys,
                       ArrayRef<ArrayRef<int64_t>> lists) {
  auto print = [&](ArrayRef<int64_t> numbers) {
    printer << '[';
    llvm::interleaveComma(numbers, printer);
    printer << ']';
  };
  printer << '<';
  print(shape);
  for (auto [key, list] : llvm::zip(keys, lists))
    if (!list.empty()) {
      printer << ", " << key << " = ";
      print(list);
    }
  printer << '>';
}

static const StringRef layoutKeys[] = {"registers", "lanes", "warps"};
static const StringRef memoryKeys[] = {"offsets"};

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, lists[3];
  if (parseLists(parser, shape, layoutKeys, lists))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, lists[0], lists[1], lists[2]);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printLists(printer, getShape(), layoutKeys, {getRegisters(), getLanes(), getWarps()});
}

Attribute MemoryAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, offsets[1];
  if (parseLists(parser, shape, memoryKeys, offsets))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, offsets[0]);
}

void MemoryAttr::print(AsmPrinter &printer) const { printLists(printer, getShape(), memoryKeys, {getOffsets()}); }

//===--- checks -------------------------------------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

/// The number of elements of a shape; failure where a side is no power of two or there are too many.
static FailureOr<int64_t> countElements(EmitError emitError, ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0 || !llvm::isPowerOf2_64(size))
      return emitError() << "expected sides that are powers of two, got " << size;
    constexpr int64_t most = int64_t{1} << 30;
    if (size > most / count)
      return emitError() << "expected at most " << most << " elements";
    count *= size;
  }
  return count;
}

/// Each number is a bit of a place, and places are numbers of 64 bits, not negative.
static LogicalResult checkCount(EmitError emitError, size_t numbers) {
  constexpr size_t most = 63;
  if (numbers > most)
    return emitError() << "expected at most " << most << " numbers, got " << numbers;
  return success();
}

static LogicalResult checkNumbers(EmitError emitError, ArrayRef<int64_t> numbers, int64_t count) {
  for (int64_t number : numbers)
    if (number < 0 || number >= count)
      return emitError() << "expected numbers of elements from 0 to " << count - 1 << ", got " << number;
  return success();
}

static gf2::Vectors toVectors(ArrayRef<int64_t> numbers) { return gf2::Vectors(numbers.begin(), numbers.end()); }

LogicalResult LayoutAttr::verify(EmitError emitError, ArrayRef<int64_t> shape, ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes, ArrayRef<int64_t> warps) {
  FailureOr<int64_t> count = countElements(emitError, shape);
  if (failed(count) || failed(checkCount(emitError, registers.size() + lanes.size() + warps.size())))
    return failure();
  gf2::Vectors all;
  for (ArrayRef<int64_t> part : {registers, lanes, warps}) {
    if (failed(checkNumbers(emitError, part, *count)))
      return failure();
    all.insert(all.end(), part.begin(), part.end());
  }
  if (gf2::rank(toVectors(registers)) != int(registers.size()))
    return emitError() << "expected registers that hold no copies of each other";
  if (int64_t{1} << gf2::rank(all) != *count)
    return emitError() << "expected a place for each of the " << *count << " elements, got places for "
                       << (int64_t{1} << gf2::rank(all));
  return success();
}

LogicalResult MemoryAttr::verify(EmitError emitError, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets) {
  FailureOr<int64_t> count = countElements(emitError, shape);
  if (failed(count) || failed(checkCount(emitError, offsets.size())) ||
      failed(checkNumbers(emitError, offsets, *count)))
    return failure();
  if (int64_t{1} << offsets.size() != *count || gf2::rank(toVectors(offsets)) != int(offsets.size()))
    return emitError() << "expected one place for each of the " << *count << " elements";
  return success();
}

//===--- questions ----------------------------------------------------------------------------------------------===//

int64_t LayoutAttr::elementOfRegister(int64_t index) const {
  int64_t element = 0;
  for (auto [bit, number] : llvm::enumerate(getRegisters()))
    if (index >> bit & 1)
      element ^= number;
  return element;
}

int LayoutAttr::shiftOf(int dim) const {
  int shift = 0;
  for (int64_t size : getShape().drop_front(dim + 1))
    shift += int(llvm::Log2_64(uint64_t(size)));
  return shift;
}

int64_t LayoutAttr::coordinateOf(int64_t element, int dim) const {
  return element >> shiftOf(dim) & (getShape()[dim] - 1);
}

SmallVector<int64_t> LayoutAttr::threadColumns() const {
  SmallVector<int64_t> columns(getLanes());
  columns.append(getWarps().begin(), getWarps().end());
  return columns;
}

LinearLayout LayoutAttr::toLinear() const {
  gf2::Vectors columns;
  for (ArrayRef<int64_t> part : {getRegisters(), getLanes(), getWarps()})
    columns.insert(columns.end(), part.begin(), part.end());
  Dims ins = {{std::string(kRegister), int(getRegisters().size())},
              {std::string(kLane), int(getLanes().size())},
              {std::string(kWarp), int(getWarps().size())}};
  return LinearLayout(ins, tileDims({getShape().begin(), getShape().end()}), columns);
}

int64_t LayoutAttr::copyBits() const { return int64_t(toLinear().copyBits()); }

LinearLayout MemoryAttr::toLinear() const {
  return LinearLayout({{std::string(kOffset), int(getOffsets().size())}},
                      tileDims({getShape().begin(), getShape().end()}),
                      gf2::Vectors(getOffsets().begin(), getOffsets().end()));
}

SmallVector<int64_t> MemoryAttr::offsetOfElementBits() const {
  SmallVector<int64_t> result;
  std::optional<LinearLayout> inverse = toLinear().inverse();
  assert(inverse && "the verifier asks for a bijection");
  for (uint64_t column : inverse->columns())
    result.push_back(int64_t(column));
  return result;
}
