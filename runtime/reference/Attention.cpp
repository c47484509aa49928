// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attention, one query after the other: scores of the keys that it sees, their softmax, the weighted mean of the
// values. The error follows a pass over the keys, or over any part of them, in ascending order that rescales its sums
// whenever a larger score comes, and a last rescaling where parts are merged; Tolerance.h has the terms.

#include "Arithmetic.h"
#include "Epilogue.h"
#include "Families.h"
#include "Parallel.h"
#include "Vectors.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tilejit::reference {
namespace {

constexpr double expRoundings = 8; ///< 4 ulp are at most 8 units.

/// Integers of an operand that says where things lie.
std::vector<int64_t> loadTable(const HostTensor &tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    values.push_back(loadAsInteger(tensor.element(i), tensor.dtype()));
  return values;
}

/// Sizes, and where the keys of each query lie: in a row, in pages, or those of several sequences in a row.
class Problem {
public:
  int64_t heads, queries, depth, keyHeads;

  explicit Problem(const Call &call);

  /// A head of keys of one batch or sequence. They are numbered batch by batch.
  struct Head {
    int64_t number;
    int64_t query, queries; ///< Of the row at hand: its number among how many of its sequence.
  };
  Head headOf(int64_t row) const;
  /// How many keys a head has, and where one of them begins in its operand.
  int64_t keys(int64_t head) const;
  int64_t keyOffset(int64_t head, int64_t key) const;

private:
  int64_t keys_ = 0, page_ = 0; ///< Page 0: keys lie in a row.
  std::vector<int64_t> pages_, lengths_;
  std::vector<int64_t> queryStarts_, keyStarts_; ///< Empty: batches are what sequences are.
};

Problem::Problem(const Call &call) {
  const std::vector<int64_t> &q = call.inputs[0].shape(), &k = call.inputs[1].shape();
  heads = q[1], queries = q[2], depth = q[3];
  if (call.description.family == Family::AttentionDecode) {
    page_ = k[1], keyHeads = k[2];
    pages_ = loadTable(call.input("block_table"));
    lengths_ = loadTable(call.input("seq_lens"));
    return;
  }
  keyHeads = k[1], keys_ = k[2];
  if (call.description.findInput("cu_seqlens_q")) {
    queryStarts_ = loadTable(call.input("cu_seqlens_q"));
    keyStarts_ = loadTable(call.input("cu_seqlens_k"));
  }
}

Problem::Head Problem::headOf(int64_t row) const {
  int64_t head = row / queries, query = row % queries;
  int64_t keyHead = head % heads / (heads / keyHeads);
  if (queryStarts_.empty())
    return {head / heads * keyHeads + keyHead, query, queries};
  auto end = std::upper_bound(queryStarts_.begin(), queryStarts_.end(), query);
  return {(end - queryStarts_.begin() - 1) * keyHeads + keyHead, query - end[-1], end[0] - end[-1]};
}

int64_t Problem::keys(int64_t head) const {
  auto sequence = static_cast<size_t>(head / keyHeads);
  if (!keyStarts_.empty())
    return keyStarts_[sequence + 1] - keyStarts_[sequence];
  return page_ ? lengths_[sequence] : keys_;
}

int64_t Problem::keyOffset(int64_t head, int64_t key) const {
  auto sequence = static_cast<size_t>(head / keyHeads);
  if (!keyStarts_.empty())
    return (head % keyHeads * keys_ + keyStarts_[sequence] + key) * depth;
  if (!page_)
    return (head * keys_ + key) * depth;
  size_t pagesOfEach = pages_.size() / lengths_.size();
  int64_t page = pages_[sequence * pagesOfEach + static_cast<size_t>(key / page_)];
  return ((page * page_ + key % page_) * keyHeads + head % keyHeads) * depth;
}

/// Keys and values of one head: keys turned, so that scores of neighbours are summed side by side.
struct KeyHead {
  int64_t count = 0;
  std::vector<double> keys, values;
  std::vector<double> valueSizes; ///< For each element of a result, the sum of sizes of all values.

  void load(const Call &call, const Problem &p, int64_t head);
};

void KeyHead::load(const Call &call, const Problem &p, int64_t head) {
  count = p.keys(head);
  auto depth = static_cast<size_t>(p.depth), all = static_cast<size_t>(count);
  values.resize(depth * all);
  keys.resize(values.size());
  const HostTensor &k = call.inputs[1], &v = call.inputs[2];
  std::vector<double> line(depth);
  valueSizes.assign(depth, 0);
  for (size_t j = 0; j < all; ++j) {
    int64_t offset = p.keyOffset(head, static_cast<int64_t>(j));
    loadDoubles(v.element(offset), v.dtype(), std::span(values).subspan(j * depth, depth));
    loadDoubles(k.element(offset), k.dtype(), line);
    for (size_t c = 0; c < depth; ++c) {
      keys[c * all + j] = line[c];
      valueSizes[c] += std::fabs(values[j * depth + c]);
    }
  }
}

/// sums += factor * terms, and the same of sizes.
TILEJIT_VECTOR_CLONES void addScaled(double factor, const double *terms, size_t count, double *sums, double *sizes) {
  for (size_t j = 0; j < count; ++j) {
    double product = factor * terms[j];
    sums[j] += product;
    sizes[j] += std::fabs(product);
  }
}

/// What one query found: its results before they are stored.
struct QueryResult {
  std::vector<Bounded> values;
  Bounded logSum;
};

/// The softmax of one query over the keys [first, first + scores.size()).
class Query {
public:
  Query(const Call &call, const Problem &problem, const Arithmetic &arithmetic)
      : call_(call), p_(problem), attributes_(call.description.as<AttentionAttributes>()), arithmetic_(arithmetic) {
    if (int index = call.description.inputIndex("bias"); index >= 0) {
      bias_ = &call.inputs[static_cast<size_t>(index)];
      std::array<int64_t, 4> scores{call.inputs[0].shape()[0], p_.heads, p_.queries, p_.keys(0)};
      biasStrides_ = broadcastStrides(bias_->shape(), scores);
    }
  }

  void evaluate(int64_t row, const KeyHead &head, QueryResult &result);

private:
  void findKeys(const Problem::Head &head, int64_t keys);
  void findScores(int64_t row, const KeyHead &head);
  double biasAt(int64_t row, int64_t key) const;
  bool isUnbounded() const;
  double countRecords() const;
  bool findWeights();
  void weighValues(const KeyHead &head, QueryResult &result);

  const Call &call_;
  const Problem &p_;
  const AttentionAttributes &attributes_;
  const Arithmetic &arithmetic_;
  const HostTensor *bias_ = nullptr;
  Shape biasStrides_;
  // Of the query at hand.
  int64_t first_ = 0;
  std::vector<Bounded> scores_;
  std::vector<double> query_, sums_, sizes_;
  std::vector<double> weights_, weightErrors_; ///< exp(score - largest), and their relative errors.
  double largest_ = 0, total_ = 0, totalError_ = 0, records_ = 0;
};

/// The keys that a query sees.
void Query::findKeys(const Problem::Head &head, int64_t keys) {
  int64_t end = keys;
  first_ = 0;
  if (attributes_.causal) {
    end = std::clamp<int64_t>(head.query + keys - head.queries + 1, 0, keys);
    if (attributes_.window)
      first_ = std::max<int64_t>(0, end - *attributes_.window);
  }
  scores_.resize(static_cast<size_t>(end - first_));
}

double Query::biasAt(int64_t row, int64_t key) const {
  int64_t head = row / p_.queries;
  std::array<int64_t, 4> place{head / p_.heads, head % p_.heads, row % p_.queries, key};
  int64_t offset = 0;
  for (size_t i = 0; i < place.size(); ++i)
    offset += place[i] * biasStrides_[i];
  return loadAsDouble(bias_->element(offset), bias_->dtype());
}

void Query::findScores(int64_t row, const KeyHead &head) {
  auto depth = static_cast<size_t>(p_.depth), count = scores_.size();
  query_.resize(depth);
  loadDoubles(call_.inputs[0].element(row * p_.depth), call_.inputs[0].dtype(), query_);
  sums_.assign(count, 0);
  sizes_.assign(count, 0);
  for (size_t c = 0; c < depth; ++c)
    addScaled(query_[c], head.keys.data() + c * static_cast<size_t>(head.count) + first_, count, sums_.data(),
              sizes_.data());
  auto constant = [&](double value) { return Bounded{value, arithmetic_.unit * std::fabs(value)}; };
  for (size_t j = 0; j < count; ++j) {
    Bounded score = arithmetic_.sum(sums_[j], sizes_[j], static_cast<double>(p_.depth));
    score = arithmetic_.mul(score, constant(attributes_.scale));
    if (attributes_.softcap) {
      score = arithmetic_.div(score, constant(*attributes_.softcap));
      score = arithmetic_.mul(arithmetic_.apply(ExprOp::Tanh, score), constant(*attributes_.softcap));
    }
    if (bias_)
      score = arithmetic_.add(score, {biasAt(row, first_ + static_cast<int64_t>(j)), 0});
    scores_[j] = score;
  }
}

bool Query::isUnbounded() const {
  return std::any_of(scores_.begin(), scores_.end(), [](const Bounded &score) { return std::isinf(score.error); });
}

/// How often the largest score so far may grow in a pass that starts at any key. A pass from key i grows next at the
/// first key whose score may exceed what that of i is at least, or later.
double Query::countRecords() const {
  struct Later {
    double most;
    double records; ///< Of a pass from there.
  };
  std::vector<Later> later; // Keys that exceed all between them and the one at hand, the nearest last.
  double highest = 0;
  for (size_t i = scores_.size(); i-- > 0;) {
    double least = scores_[i].value - scores_[i].error, most = scores_[i].value + scores_[i].error;
    auto next = std::partition_point(later.rbegin(), later.rend(), [&](const Later &key) { return key.most <= least; });
    double records = 1 + (next == later.rend() ? 0 : next->records);
    highest = std::max(highest, records);
    while (!later.empty() && later.back().most <= most)
      later.pop_back();
    later.push_back({most, records});
  }
  return highest;
}

/// False where the query has no meaning: a score is NaN or +inf.
bool Query::findWeights() {
  largest_ = -infinity;
  for (const Bounded &score : scores_) {
    if (std::isnan(score.value) || score.value == infinity)
      return false;
    largest_ = std::max(largest_, score.value);
  }
  records_ = countRecords();
  weights_.assign(scores_.size(), 0);
  weightErrors_.assign(scores_.size(), 0);
  total_ = totalError_ = 0;
  double u = arithmetic_.unit;
  for (size_t j = 0; j < scores_.size(); ++j) {
    if (scores_[j].value == -infinity)
      continue;
    double distance = largest_ - scores_[j].value;
    weights_[j] = std::exp(-distance);
    double roundings = distance + 2 * scores_[j].error + (expRoundings + 1) * (records_ + 1);
    weightErrors_[j] = std::expm1(scores_[j].error + u * roundings);
    total_ += weights_[j];
    totalError_ += weights_[j] * weightErrors_[j] + arithmetic_.smallestNormal;
  }
  double factor = arithmetic_.format == DType::F64 ? 2 : 1;
  totalError_ += factor * growth(static_cast<double>(scores_.size())) * u * total_;
  return true;
}

void Query::weighValues(const KeyHead &head, QueryResult &result) {
  auto depth = static_cast<size_t>(p_.depth);
  DType dtype = call_.inputs[2].dtype();
  bool isNarrow = dtype != DType::F64 && dtype != DType::F32;
  // A weight is at most 1 when it is rounded; below the normal numbers by a fixed amount.
  double rounding = isNarrow ? unitRoundoff(dtype) : 0, floor = isNarrow ? floatFormat(dtype).smallest : 0;
  double u = arithmetic_.unit, share = totalError_ / total_;
  double sums = (arithmetic_.format == DType::F64 ? 2 : 1) * growth(static_cast<double>(scores_.size())) * u;
  for (size_t c = 0; c < depth; ++c) {
    double value = 0, error = (floor + arithmetic_.smallestNormal) * head.valueSizes[c];
    for (size_t j = 0; j < scores_.size(); ++j) {
      double term = weights_[j] * head.values[(static_cast<size_t>(first_) + j) * depth + c];
      value += term;
      error += std::fabs(term) * (weightErrors_[j] + rounding + sums);
    }
    value /= total_;
    // Values that a query does not see may reach it where they are not finite.
    bool isBounded = std::isfinite(head.valueSizes[c]) && share < 1;
    error = isBounded ? (error / total_ + std::fabs(value) * share) / (1 - share) : infinity;
    result.values[c] = arithmetic_.settle(value, error, 10 * u * std::fabs(value) + arithmetic_.tiny);
  }
}

void Query::evaluate(int64_t row, const KeyHead &head, QueryResult &result) {
  auto everywhere = [&](Bounded value, Bounded logSum) {
    std::fill(result.values.begin(), result.values.end(), value);
    result.logSum = logSum;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  findKeys(p_.headOf(row), head.count);
  findScores(row, head);
  if (isUnbounded())
    return everywhere({0, infinity}, {0, infinity});
  if (!findWeights())
    return everywhere({nan, 0}, {nan, 0});
  if (total_ == 0) {
    everywhere({0, 0}, {-infinity, 0});
    for (size_t c = 0; c < result.values.size(); ++c)
      result.values[c].error = std::isfinite(head.valueSizes[c]) ? 0 : infinity;
    return;
  }
  weighValues(head, result);
  double share = totalError_ / total_, logTotal = std::log(total_);
  double carried = share < 1 ? -std::log1p(-share) : infinity;
  Bounded logarithm = arithmetic_.withinUlps(logTotal, carried, 4);
  result.logSum = arithmetic_.add({largest_, 0}, logarithm);
}

/// Positions of results that read one head of keys.
struct Group {
  int64_t head, begin, end;
};

std::vector<Group> groupPositions(const Problem &p, const RowWriter &writer) {
  std::vector<Group> groups;
  for (int64_t position = 0; position < writer.rows(); ++position) {
    int64_t head = p.headOf(writer.row(position)).number;
    if (groups.empty() || groups.back().head != head)
      groups.push_back({head, position, position});
    groups.back().end = position + 1;
  }
  return groups;
}

/// Elements of a table that a description does not allow.
Status outside(std::string_view name, const std::string &place, int64_t found, std::string_view what, int64_t limit) {
  return {StatusCode::InvalidArgument, "input " + std::string(name) + ": element [" + place + "] is " +
                                           std::to_string(found) + ", expected " + std::string(what) + " from 0 to " +
                                           std::to_string(limit)};
}

} // namespace

/// Starts of sequences: from 0 to the end of all, never falling.
static Status checkStarts(const Call &call, std::string_view name, int64_t end) {
  std::vector<int64_t> starts = loadTable(call.input(name));
  int64_t before = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t least = i + 1 == starts.size() ? end : before, most = i == 0 && starts.size() > 1 ? 0 : end;
    if (starts[i] < least || starts[i] > most)
      return {StatusCode::InvalidArgument, "input " + std::string(name) + ": element [" + std::to_string(i) + "] is " +
                                               std::to_string(starts[i]) + ", expected " + std::to_string(least) +
                                               (least == most ? std::string() : " to " + std::to_string(most))};
    before = starts[i];
  }
  return Status::ok();
}

Status checkTables(const Call &call) {
  if (call.description.findInput("cu_seqlens_q")) {
    TILEJIT_RETURN_IF_ERROR(checkStarts(call, "cu_seqlens_q", call.inputs[0].shape()[2]));
    return checkStarts(call, "cu_seqlens_k", call.inputs[1].shape()[2]);
  }
  if (call.description.family != Family::AttentionDecode)
    return Status::ok();
  std::vector<int64_t> pages = loadTable(call.input("block_table")), lengths = loadTable(call.input("seq_lens"));
  int64_t pagesOfEach = call.input("block_table").shape()[1];
  int64_t all = call.inputs[1].shape()[0], page = call.inputs[1].shape()[1];
  for (size_t b = 0; b < lengths.size(); ++b) {
    int64_t length = lengths[b];
    int64_t longest = all > 0 ? pagesOfEach * page : 0;
    if (length < 0 || length > longest)
      return outside("seq_lens", std::to_string(b), length, "a number of keys", longest);
    for (int64_t p = 0; p * page < length; ++p) {
      int64_t entry = pages[b * static_cast<size_t>(pagesOfEach) + static_cast<size_t>(p)];
      if (entry < 0 || entry >= all)
        return outside("block_table", std::to_string(b) + ", " + std::to_string(p), entry, "a page", all - 1);
    }
  }
  return Status::ok();
}

void evaluateAttention(Call &call) {
  Problem p(call);
  Arithmetic arithmetic(call.inputs[0].dtype() == DType::F64 ? DType::F64 : DType::F32);
  int64_t rows = call.inputs[0].elements() / p.depth;
  RowWriter values(call.outputs[0], call, rows, p.depth, 1, p.queries);
  std::optional<RowWriter> logSums;
  if (call.outputs.size() > 1)
    logSums.emplace(call.outputs[1], call, rows, 1, 1, p.queries);
  Epilogue epilogue(call, arithmetic.format);
  KeyHead head;
  for (const Group &group : groupPositions(p, values)) {
    head.load(call, p, group.head);
    parallelFor(group.end - group.begin, rowGrain(2 * head.count * p.depth), [&](int64_t begin, int64_t end) {
      Query query(call, p, arithmetic);
      QueryResult result{std::vector<Bounded>(static_cast<size_t>(p.depth)), {}};
      EpilogueRow data;
      for (int64_t position = group.begin + begin; position < group.begin + end; ++position) {
        query.evaluate(values.row(position), head, result);
        data.values = result.values;
        epilogue.apply(values.row(position), data);
        for (int64_t c = 0; c < p.depth; ++c)
          values.put(position, c, data.values[static_cast<size_t>(c)]);
        if (logSums)
          logSums->put(position, 0, result.logSum);
      }
    });
  }
}

} // namespace tilejit::reference
