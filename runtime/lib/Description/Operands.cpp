// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading dims, inputs and outputs: names, types, shapes, strides, and the limits that hold for each tensor alone.

#include "Draft.h"
#include "Shapes.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tilejit {
namespace {

constexpr std::string_view nameRule = "a name of at most 128 letters, digits and _ that does not begin with a digit";

std::span<const std::string_view> dtypeNames() {
  static const auto *const names = [] {
    auto *list = new std::vector<std::string_view>();
    for (DType dtype : allDTypes())
      list->push_back(dtypeName(dtype));
    return list;
  }();
  return *names;
}

/// The type that another system's name stands for; empty for an unknown one.
std::string_view dtypeOfOtherName(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {{"float64", "f64"},
                                                                            {"double", "f64"},
                                                                            {"float32", "f32"},
                                                                            {"float", "f32"},
                                                                            {"fp32", "f32"},
                                                                            {"float16", "f16"},
                                                                            {"half", "f16"},
                                                                            {"fp16", "f16"},
                                                                            {"bfloat16", "bf16"},
                                                                            {"float8_e4m3fn", "f8e4m3fn"},
                                                                            {"float8_e5m2", "f8e5m2"},
                                                                            {"int64", "i64"},
                                                                            {"int32", "i32"},
                                                                            {"int16", "i16"},
                                                                            {"int8", "i8"},
                                                                            {"int4", "i4"},
                                                                            {"uint8", "u8"},
                                                                            {"uint4", "u4"},
                                                                            {"bool_", "bool"}};
  for (auto [other, ours] : names)
    if (other == name)
      return ours;
  return {};
}

/// The operands' reader: what it knows about dimensions on the way.
class OperandReader {
public:
  explicit OperandReader(Draft &draft) : draft_(draft), description_(draft.description) {}

  Status readDims(const Cursor &cursor);
  Status readSide(const Cursor &cursor, bool isInput);
  Status checkUses() const;

private:
  Status readRange(const Cursor &cursor, SymbolicDim &dim) const;
  Expected<int32_t> symbol(const Cursor &cursor, bool inShape);
  Status readOperand(const Cursor::Entry &entry, const OperandSchema &schema, bool isInput);
  Status readDType(const Cursor &cursor, const OperandSchema &schema, Operand &operand) const;
  Status readShape(const Cursor &cursor, Operand &operand);
  Status readStrides(const Cursor &cursor, bool isInput, Operand &operand);
  Status readAlign(const Cursor &cursor, Operand &operand) const;
  Status checkExtent(const Cursor &shape, const Cursor *strides, bool isInput, const Operand &operand) const;

  Draft &draft_;
  Description &description_;
  Entries ranges_;                     ///< The entries of `dims`.
  std::vector<bool> inShape_;          ///< For each dimension: whether a shape uses it.
  std::vector<Cursor> strideUses_;     ///< Where strides name dimensions ...
  std::vector<int32_t> strideSymbols_; ///< ... and which ones.
};

Status OperandReader::readDims(const Cursor &cursor) {
  constexpr size_t most = maxOperands * maxRank;
  TILEJIT_ASSIGN_OR_RETURN(ranges_, cursor.object("dimensions by name"));
  if (ranges_.size() > most)
    return cursor.expected("at most " + std::to_string(most) + " dimensions");
  for (const Cursor::Entry &entry : ranges_) {
    if (!isName(entry.key) || entry.key == "any")
      return entry.cursor.error("expected " + std::string(nameRule) +
                                (entry.key == "any" ? " and is not \"any\"" : "") + ", found " + quotedText(entry.key));
    SymbolicDim unused;
    TILEJIT_RETURN_IF_ERROR(readRange(entry.cursor, unused));
  }
  return Status::ok();
}

Status OperandReader::readRange(const Cursor &cursor, SymbolicDim &dim) const {
  static constexpr std::array<std::string_view, 3> keys{"min", "max", "multiple_of"};
  TILEJIT_ASSIGN_OR_RETURN(Entries facts, cursor.object("an object with min, max, multiple_of", keys));
  for (const Cursor::Entry &fact : facts) {
    int64_t least = fact.key == "multiple_of" ? 1 : 0;
    std::string what = "an integer from " + std::to_string(least) + " to 2^40";
    TILEJIT_ASSIGN_OR_RETURN(int64_t value, fact.cursor.integer(what, least, maxSize));
    (fact.key == "min" ? dim.min : fact.key == "max" ? dim.max : dim.multipleOf) = value;
  }
  if (dim.min > dim.max)
    return cursor.error("expected min to be at most max, found min " + std::to_string(dim.min) + " and max " +
                        std::to_string(dim.max));
  if (dim.max / dim.multipleOf * dim.multipleOf < dim.min)
    return cursor.error("expected a multiple of " + std::to_string(dim.multipleOf) + " from " +
                        std::to_string(dim.min) + " to " + std::to_string(dim.max) + ", found none");
  return Status::ok();
}

Expected<int32_t> OperandReader::symbol(const Cursor &cursor, bool inShape) {
  std::string name = cursor.value().text;
  if (!isName(name) || name == "any")
    return cursor.expected(name == "any" ? std::string("a dimension's name other than \"any\", which is for strides")
                                         : "a dimension: " + std::string(nameRule));
  int32_t index = description_.dimIndex(name);
  if (index < 0) {
    index = static_cast<int32_t>(description_.dims.size());
    SymbolicDim &dim = description_.dims.emplace_back();
    dim.name = name;
    inShape_.push_back(false);
    if (const Cursor *range = findEntry(ranges_, name))
      TILEJIT_RETURN_IF_ERROR(readRange(*range, dim));
  }
  if (inShape)
    inShape_[index] = true;
  return index;
}

Status OperandReader::readSide(const Cursor &cursor, bool isInput) {
  const auto &schemas = isInput ? draft_.schema->inputs : draft_.schema->outputs;
  std::string_view side = isInput ? "input" : "output";
  TILEJIT_ASSIGN_OR_RETURN(Entries entries, cursor.object(isInput ? "inputs by name" : "outputs by name"));
  if (entries.empty() || entries.size() > maxOperands)
    return cursor.expected("an object with 1 to 256 " + std::string(side) + "s");
  const OperandSchema *freeSchema = nullptr;
  std::vector<std::string_view> fixed;
  for (const OperandSchema &schema : schemas) {
    if (schema.name == "*") {
      freeSchema = &schema;
      continue;
    }
    fixed.push_back(schema.name);
    if (const Cursor *place = findEntry(entries, schema.name))
      TILEJIT_RETURN_IF_ERROR(readOperand({schema.name, *place}, schema, isInput));
    else if (!schema.optional)
      return cursor.missing(schema.name, "the " + std::string(side) + ' ' + schema.name);
  }
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) { return a.key < b.key; });
  for (const Cursor::Entry &entry : entries) {
    if (std::find(fixed.begin(), fixed.end(), entry.key) != fixed.end())
      continue;
    if (!isName(entry.key))
      return entry.cursor.error("expected " + std::string(nameRule) + ", found " + quotedText(entry.key));
    if (!freeSchema)
      return entry.cursor.unknown("a known " + std::string(side), entry.key, fixed);
    TILEJIT_RETURN_IF_ERROR(readOperand(entry, *freeSchema, isInput));
  }
  return Status::ok();
}

Status OperandReader::readOperand(const Cursor::Entry &entry, const OperandSchema &schema, bool isInput) {
  static constexpr std::array<std::string_view, 5> keys{"dtype", "shape", "strides", "align", "constant"};
  std::span<const std::string_view> known(keys.data(), isInput ? 5 : 4);
  TILEJIT_ASSIGN_OR_RETURN(Entries facts, entry.cursor.object("an object with dtype and shape", known));
  const Cursor *dtype = findEntry(facts, "dtype"), *shape = findEntry(facts, "shape");
  if (!dtype)
    return entry.cursor.missing("dtype", "a type");
  if (!shape)
    return entry.cursor.missing("shape", "a list of sizes");
  Operand operand;
  operand.name = entry.key;
  TILEJIT_RETURN_IF_ERROR(readDType(*dtype, schema, operand));
  TILEJIT_RETURN_IF_ERROR(readShape(*shape, operand));
  const Cursor *strides = findEntry(facts, "strides");
  if (strides)
    TILEJIT_RETURN_IF_ERROR(readStrides(*strides, isInput, operand));
  if (const Cursor *align = findEntry(facts, "align"))
    TILEJIT_RETURN_IF_ERROR(readAlign(*align, operand));
  if (const Cursor *constant = findEntry(facts, "constant")) {
    TILEJIT_ASSIGN_OR_RETURN(operand.constant, constant->boolean("true or false"));
  }
  TILEJIT_RETURN_IF_ERROR(checkExtent(*shape, strides, isInput, operand));
  if (operand.strides && operand.strides == denseStrides(operand.shape))
    operand.strides.reset();
  (isInput ? description_.inputs : description_.outputs).push_back(std::move(operand));
  (isInput ? draft_.inputPlaces : draft_.outputPlaces).push_back({entry.cursor, *dtype, *shape});
  return Status::ok();
}

Status OperandReader::readDType(const Cursor &cursor, const OperandSchema &schema, Operand &operand) const {
  TILEJIT_ASSIGN_OR_RETURN(std::string name, cursor.text("a type such as \"f32\""));
  std::optional<DType> dtype = parseDType(name);
  if (!dtype) {
    Status status = cursor.unknown("a type", name, dtypeNames());
    std::string_view alias = dtypeOfOtherName(name);
    return alias.empty() ? status : std::move(status).withHint("did you mean \"" + std::string(alias) + "\"?");
  }
  operand.dtype = *dtype;
  return requireDType({cursor, cursor, cursor}, operand, schema.dtypes, "");
}

Status OperandReader::readShape(const Cursor &cursor, Operand &operand) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> sizes, cursor.list("a list of sizes", maxRank));
  for (const Cursor &size : sizes) {
    Dim dim;
    if (size.value().isText()) {
      TILEJIT_ASSIGN_OR_RETURN(dim.symbol, symbol(size, true));
    } else {
      TILEJIT_ASSIGN_OR_RETURN(dim.size,
                               size.integer("a size: an integer from 0 to 2^40, or a dimension's name", 0, maxSize));
    }
    operand.shape.push_back(dim);
  }
  return Status::ok();
}

Status OperandReader::readStrides(const Cursor &cursor, bool isInput, Operand &operand) {
  TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> items, cursor.list("a list of strides"));
  if (items.size() != operand.shape.size())
    return cursor.error("expected one stride for each of " + std::to_string(operand.shape.size()) +
                        " dimensions, found " + shown(cursor.value()));
  operand.strides.emplace();
  for (size_t i = 0; i < items.size(); ++i) {
    Stride stride;
    if (!items[i].value().isText()) {
      bool mustMove = !isInput && operand.shape[i] != Dim{1, -1} && operand.shape[i] != Dim{0, -1};
      std::string what = std::string("a stride: an integer from ") + (mustMove ? "1" : "0") +
                         " to 2^46, a dimension's name or \"any\"";
      TILEJIT_ASSIGN_OR_RETURN(stride.value, items[i].integer(what, mustMove, maxTensorBytes));
    } else if (items[i].value().text == "any") {
      stride.kind = Stride::Kind::Any;
    } else {
      stride.kind = Stride::Kind::Symbol;
      TILEJIT_ASSIGN_OR_RETURN(stride.value, symbol(items[i], false));
      strideUses_.push_back(items[i]);
      strideSymbols_.push_back(static_cast<int32_t>(stride.value));
    }
    operand.strides->push_back(stride);
  }
  return Status::ok();
}

Status OperandReader::readAlign(const Cursor &cursor, Operand &operand) const {
  constexpr std::string_view what = "a power of two from 1 to 2^20";
  TILEJIT_ASSIGN_OR_RETURN(int64_t align, cursor.integer(what, 1, 1 << 20));
  if (!std::has_single_bit(static_cast<uint64_t>(align)))
    return cursor.expected(what);
  operand.align = align > storageBytes(operand.dtype) ? align : 0;
  return Status::ok();
}

/// The limits of one tensor, with the smallest sizes that symbolic dimensions can have.
Status OperandReader::checkExtent(const Cursor &shape, const Cursor *strides, bool isInput,
                                  const Operand &operand) const {
  std::vector<int64_t> sizes, steps;
  bool allKnown = true;
  for (const Dim &dim : operand.shape) {
    sizes.push_back(dim.isSymbolic() ? description_.dims[dim.symbol].min : dim.size);
    allKnown &= !dim.isSymbolic();
  }
  int64_t bytes = storageBytes(operand.dtype);
  if (!boundedBytes(sizes, {}, bytes))
    return shape.error("expected a tensor of at most 2^46 bytes, found " + draft_.shapeText(operand.shape) + " of " +
                       std::string(dtypeName(operand.dtype)));
  if (!strides)
    return Status::ok();
  for (const Stride &stride : *operand.strides) {
    steps.push_back(stride.kind == Stride::Kind::Constant ? stride.value : -1);
    allKnown &= stride.kind == Stride::Kind::Constant;
  }
  if (!boundedBytes(sizes, steps, bytes))
    return strides->error("expected strides that span at most 2^46 bytes, found " + shown(strides->value()));
  if (!isInput && allKnown && mayOverlap(sizes, steps))
    return strides->error("expected the elements of an output to lie apart, found strides " + shown(strides->value()) +
                          " with shape " + draft_.shapeText(operand.shape));
  return Status::ok();
}

Status OperandReader::checkUses() const {
  for (const Cursor::Entry &entry : ranges_) {
    int index = description_.dimIndex(entry.key);
    if (index < 0 || !inShape_[index])
      return entry.cursor.error("expected a dimension that a shape uses, found \"" + std::string(entry.key) +
                                "\" in none");
  }
  for (size_t i = 0; i < strideUses_.size(); ++i)
    if (!inShape_[strideSymbols_[i]])
      return std::move(strideUses_[i].expected("a dimension that a shape uses"))
          .withHint("\"any\" takes the stride from the tensor");
  return Status::ok();
}

} // namespace

void Draft::reorderInputs(const std::vector<int> &order) {
  std::vector<Operand> inputs;
  std::vector<OperandPlace> places;
  for (int index : order) {
    inputs.push_back(std::move(description.inputs[index]));
    places.push_back(inputPlaces[index]);
  }
  description.inputs = std::move(inputs);
  inputPlaces = std::move(places);
}

std::string Draft::shapeText(const std::vector<Dim> &shape) const { return tilejit::shapeText(description, shape); }

Status readOperands(Draft &draft, const Entries &top) {
  OperandReader reader(draft);
  if (const Cursor *dims = findEntry(top, "dims"))
    TILEJIT_RETURN_IF_ERROR(reader.readDims(*dims));
  for (bool isInput : {true, false}) {
    std::string_view key = isInput ? "inputs" : "outputs";
    const Cursor *side = findEntry(top, key);
    if (!side)
      return draft.root.missing(key, isInput ? "the inputs" : "the outputs");
    TILEJIT_RETURN_IF_ERROR(reader.readSide(*side, isInput));
  }
  return reader.checkUses();
}

Status misfit(const Cursor &place, std::string message, const std::vector<Dim> &a, const std::vector<Dim> &b) {
  auto isSymbolic = [](const Dim &dim) { return dim.isSymbolic(); };
  Status status = place.error(std::move(message));
  if (std::none_of(a.begin(), a.end(), isSymbolic) && std::none_of(b.begin(), b.end(), isSymbolic))
    return status;
  return std::move(status).withHint("a named dimension may have any size when the kernel runs, so it fits only itself "
                                    "(and 1 where shapes broadcast)");
}

Status requireShape(const Draft &draft, const OperandPlace &place, const Operand &operand,
                    const std::vector<Dim> &expected, std::string_view why) {
  if (operand.shape == expected)
    return Status::ok();
  return misfit(place.shape,
                "expected " + draft.shapeText(expected) + ", " + std::string(why) + ", found " +
                    draft.shapeText(operand.shape),
                expected, operand.shape);
}

Status requireDType(const OperandPlace &place, const Operand &operand, std::span<const DType> allowed,
                    std::string_view why) {
  if (std::find(allowed.begin(), allowed.end(), operand.dtype) != allowed.end())
    return Status::ok();
  std::vector<std::string_view> names;
  for (DType dtype : allowed)
    names.push_back(dtypeName(dtype));
  return place.dtype.error("expected " + alternatives(names) + std::string(why) + ", found " +
                           std::string(dtypeName(operand.dtype)));
}

void orderDims(Description &description) {
  std::vector<int32_t> place(description.dims.size(), -1);
  std::vector<SymbolicDim> ordered;
  auto visit = [&](int64_t symbol) {
    if (place[symbol] < 0) {
      place[symbol] = static_cast<int32_t>(ordered.size());
      ordered.push_back(description.dims[symbol]);
    }
    return place[symbol];
  };
  for (std::vector<Operand> *side : {&description.inputs, &description.outputs})
    for (Operand &operand : *side) {
      for (Dim &dim : operand.shape)
        if (dim.isSymbolic())
          dim.symbol = visit(dim.symbol);
      if (operand.strides)
        for (Stride &stride : *operand.strides)
          if (stride.kind == Stride::Kind::Symbol)
            stride.value = visit(stride.value);
    }
  description.dims = std::move(ordered);
}

} // namespace tilejit
