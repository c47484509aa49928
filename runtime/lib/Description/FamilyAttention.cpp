// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What must hold between the operands of attention, over keys in a row or in pages, and what its attributes may be.

#include "Draft.h"
#include "Shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilejit {
namespace {

constexpr int64_t maxHeads = int64_t{1} << 20, maxDepth = 256;

/// A dimension that kernels are made for.
struct ConstantDim {
  size_t dim;
  int64_t limit;
  std::string_view what;
};

/// An operand's shape has four dimensions, some of them constants.
Status checkConstants(const Draft &draft, std::string_view name, std::string_view dims,
                      std::initializer_list<ConstantDim> constants) {
  const Operand &operand = *draft.description.findInput(name);
  const Cursor &place = draft.input(name).shape;
  if (operand.rank() != 4)
    return place.error("expected 4 dimensions (" + std::string(dims) + "), found " + draft.shapeText(operand.shape));
  for (const ConstantDim &constant : constants) {
    const Dim &size = operand.shape[constant.dim];
    if (size.isSymbolic() || size.size < 1 || size.size > constant.limit)
      return place.at(constant.dim)
          .expected("a constant number of " + std::string(constant.what) + " from 1 to " +
                    std::to_string(constant.limit));
  }
  return Status::ok();
}

Status checkHeads(const Draft &draft, std::string_view name) {
  return checkConstants(draft, name, "batches, heads, positions, elements",
                        {{1, maxHeads, "heads"}, {3, maxDepth, "elements of a head"}});
}

/// Neighbouring heads of queries share one of keys, which is dimension `dim` of the keys.
Status checkGroups(const Draft &draft, std::string_view keys, size_t dim) {
  int64_t heads = draft.description.inputs[0].shape[1].size;
  if (heads % draft.description.findInput(keys)->shape[dim].size == 0)
    return Status::ok();
  return draft.input(keys).shape.at(dim).expected("a divisor of " + std::to_string(heads) + ", the heads of q");
}

Status checkKeys(const Draft &draft) {
  const Operand &q = draft.description.inputs[0], &k = draft.description.inputs[1];
  if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3]) {
    std::vector<Dim> expected{q.shape[0], k.shape[1], k.shape[2], q.shape[3]};
    return requireShape(draft, draft.input("k"), k, expected, "batches and elements of q");
  }
  TILEJIT_RETURN_IF_ERROR(checkGroups(draft, "k", 1));
  return requireShape(draft, draft.input("v"), draft.description.inputs[2], k.shape, "the shape of k");
}

Status checkTypes(const Draft &draft, std::initializer_list<std::string_view> keysAndValues) {
  const Description &description = draft.description;
  DType dtype = description.inputs[0].dtype;
  for (std::string_view name : keysAndValues)
    TILEJIT_RETURN_IF_ERROR(
        requireDType(draft.input(name), *description.findInput(name), std::array{dtype}, ", the type of q"));
  const Operand *bias = description.findInput("bias");
  if (bias && bias->dtype == DType::F64 && dtype != DType::F64)
    return draft.input("bias").dtype.expected("a type other than f64, since q is " + std::string(dtypeName(dtype)));
  return Status::ok();
}

/// The bias broadcasts against the scores and does not enlarge them.
Status checkBias(const Draft &draft) {
  const Operand *bias = draft.description.findInput("bias");
  if (!bias)
    return Status::ok();
  std::vector<Dim> scores = draft.description.inputs[0].shape;
  scores[3] = draft.description.inputs[1].shape[2];
  if (bias->rank() <= 4 && broadcastShapes(bias->shape, scores) == scores)
    return Status::ok();
  return misfit(draft.input("bias").shape,
                "expected a shape that broadcasts to " + draft.shapeText(scores) + ", that of the scores, found " +
                    draft.shapeText(bias->shape),
                scores, bias->shape);
}

/// Sequences in a row: what says where they begin comes in twos, of one length.
Status checkSequences(Draft &draft) {
  const Description &description = draft.description;
  constexpr std::array<std::string_view, 2> names{"cu_seqlens_q", "cu_seqlens_k"};
  std::array<const Operand *, 2> starts{description.findInput(names[0]), description.findInput(names[1])};
  if (!starts[0] && !starts[1])
    return Status::ok();
  for (int i : {0, 1})
    if (!starts[i])
      return draft.input(names[1 - i])
          .whole.error("expected " + std::string(names[i]) + " beside " + std::string(names[1 - i]) + ", found none");
  const Cursor &place = draft.input(names[0]).shape;
  if (starts[0]->rank() != 1)
    return place.error("expected 1 dimension (sequences and the end of the last), found " +
                       draft.shapeText(starts[0]->shape));
  TILEJIT_RETURN_IF_ERROR(
      requireShape(draft, draft.input(names[1]), *starts[1], starts[0]->shape, "the shape of cu_seqlens_q"));
  const Dim &count = starts[0]->shape[0], &batches = description.inputs[0].shape[0];
  if (!count.isSymbolic() && count.size < 1)
    return place.at(0).expected("at least 1, the end of the last sequence");
  if (batches != Dim{1})
    return draft.input("q").shape.at(0).expected("1, since cu_seqlens_q says where sequences begin");
  if (description.findInput("bias"))
    return draft.input("bias").whole.error("expected no such input beside cu_seqlens_q, found bias");
  if (count.isSymbolic()) {
    SymbolicDim &dim = draft.description.dims[count.symbol];
    if (dim.max < 1)
      return place.at(0).expected("at least 1, the end of the last sequence");
    dim.min = std::max<int64_t>(dim.min, 1);
  }
  return Status::ok();
}

Status readSteps(Draft &draft) {
  int fixed = 0;
  for (const Operand &input : draft.description.inputs)
    for (const OperandSchema &schema : draft.schema->inputs)
      fixed += schema.name == input.name;
  bool isInteger = false;
  std::vector<Dim> result = draft.description.outputs[0].shape;
  TILEJIT_RETURN_IF_ERROR(readEpilogue(draft, result, fixed, isInteger));
  for (const Operand &input : draft.description.inputs)
    if (input.dtype == DType::F64 && draft.description.inputs[0].dtype != DType::F64)
      return draft.input(input.name)
          .dtype.expected("a type other than f64, since q is " +
                          std::string(dtypeName(draft.description.inputs[0].dtype)));
  return Status::ok();
}

Status checkOutputs(const Draft &draft) {
  const Description &description = draft.description;
  const std::vector<Dim> &q = description.inputs[0].shape;
  TILEJIT_RETURN_IF_ERROR(requireShape(draft, draft.output("o"), description.outputs[0], q, "the shape of q"));
  const Operand *lse = description.findOutput("lse");
  if (!lse)
    return Status::ok();
  return requireShape(draft, draft.output("lse"), *lse, {q.begin(), q.begin() + 3}, "the shape of q but the last");
}

Status readMask(const Draft &draft, AttentionAttributes &attributes) {
  attributes.causal = boolAttribute(draft, "causal");
  const Cursor *window = attributePlace(draft, "window");
  if (!window)
    return Status::ok();
  if (!attributes.causal)
    return window->expected("no window where causal is false");
  TILEJIT_ASSIGN_OR_RETURN(attributes.window,
                           window->integer("a number of keys: an integer from 1 to 2^40", 1, maxSize));
  return Status::ok();
}

Status fillAttributes(Draft &draft) {
  AttentionAttributes attributes;
  TILEJIT_RETURN_IF_ERROR(readMask(draft, attributes));
  attributes.scale = attributePlace(draft, "scale")
                         ? numberAttribute(draft, "scale")
                         : 1 / std::sqrt(static_cast<double>(draft.description.inputs[0].shape[3].size));
  if (const Cursor *softcap = attributePlace(draft, "softcap")) {
    attributes.softcap = numberAttribute(draft, "softcap");
    if (!(*attributes.softcap > 0))
      return softcap->expected("a number above 0");
  }
  draft.description.attributes = attributes;
  return Status::ok();
}

/// Rows of a tile of queries are numbered over the heads that share keys, which has to end somewhere.
Status limitQueries(Draft &draft) {
  constexpr int64_t most = int64_t{1} << 16;
  const Cursor place = draft.input("q").shape.at(2);
  const Dim &queries = draft.description.inputs[0].shape[2];
  if (!queries.isSymbolic())
    return queries.size <= most ? Status::ok() : place.expected("at most " + std::to_string(most) + " queries");
  SymbolicDim &dim = draft.description.dims[queries.symbol];
  if (dim.min > most)
    return place.error("expected at most " + std::to_string(most) + " queries, but '" + dim.name + "' is at least " +
                       std::to_string(dim.min));
  dim.max = std::min(dim.max, most);
  return Status::ok();
}

Status checkCaches(const Draft &draft) {
  constexpr int64_t maxPage = int64_t{1} << 20;
  const Operand &q = draft.description.inputs[0], &k = draft.description.inputs[1];
  for (std::string_view name : {"k_cache", "v_cache"})
    TILEJIT_RETURN_IF_ERROR(checkConstants(
        draft, name, "pages, positions, heads, elements",
        {{1, maxPage, "positions of a page"}, {2, maxHeads, "heads"}, {3, maxDepth, "elements of a head"}}));
  if (k.shape[3] != q.shape[3])
    return draft.input("k_cache").shape.at(3).expected(std::to_string(q.shape[3].size) + ", the elements of q");
  TILEJIT_RETURN_IF_ERROR(checkGroups(draft, "k_cache", 2));
  return requireShape(draft, draft.input("v_cache"), draft.description.inputs[2], k.shape, "the shape of k_cache");
}

Status checkTables(const Draft &draft) {
  const Description &description = draft.description;
  const Dim &batches = description.inputs[0].shape[0];
  const Operand &table = *description.findInput("block_table");
  if (table.rank() != 2)
    return draft.input("block_table")
        .shape.error("expected 2 dimensions (batches, pages of each), found " + draft.shapeText(table.shape));
  TILEJIT_RETURN_IF_ERROR(
      requireShape(draft, draft.input("block_table"), table, {batches, table.shape[1]}, "the batches of q"));
  return requireShape(draft, draft.input("seq_lens"), *description.findInput("seq_lens"), {batches},
                      "the batches of q");
}

} // namespace

Status finishAttention(Draft &draft) {
  for (std::string_view name : {"q", "k", "v"})
    TILEJIT_RETURN_IF_ERROR(checkHeads(draft, name));
  TILEJIT_RETURN_IF_ERROR(checkKeys(draft));
  TILEJIT_RETURN_IF_ERROR(checkTypes(draft, {"k", "v"}));
  TILEJIT_RETURN_IF_ERROR(checkBias(draft));
  TILEJIT_RETURN_IF_ERROR(checkSequences(draft));
  TILEJIT_RETURN_IF_ERROR(checkOutputs(draft));
  TILEJIT_RETURN_IF_ERROR(readSteps(draft));
  return fillAttributes(draft);
}

Status finishAttentionDecode(Draft &draft) {
  TILEJIT_RETURN_IF_ERROR(checkHeads(draft, "q"));
  TILEJIT_RETURN_IF_ERROR(checkCaches(draft));
  TILEJIT_RETURN_IF_ERROR(checkTypes(draft, {"k_cache", "v_cache"}));
  TILEJIT_RETURN_IF_ERROR(checkTables(draft));
  TILEJIT_RETURN_IF_ERROR(checkOutputs(draft));
  TILEJIT_RETURN_IF_ERROR(limitQueries(draft));
  return fillAttributes(draft);
}

} // namespace tilejit
