// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Matrix products with batches, transposed operands and an epilogue. Floating products and integer products whose sums
// a double holds exactly go through the panel kernel; wider integers are summed modulo 2^64.

#include "Epilogue.h"
#include "Families.h"
#include "MatmulKernel.h"
#include "Parallel.h"

#include <algorithm>

namespace tilejit::reference {
namespace {

/// Sizes and strides of one matrix product of a batch; strides in elements of the operands.
struct Problem {
  int64_t m, n, k;
  int64_t aRow, aDepth, bDepth, bColumn;
  Shape batch, aBatch, bBatch;

  explicit Problem(const Call &call) {
    const auto &attributes = call.description.as<MatmulAttributes>();
    const Shape &a = call.inputs[0].shape(), &b = call.inputs[1].shape();
    Shape c = call.outputShape(0);
    m = c[c.size() - 2];
    n = c[c.size() - 1];
    k = reductionLength(call.description, call.binding);
    aRow = attributes.transposeA ? 1 : k;
    aDepth = attributes.transposeA ? m : 1;
    bDepth = attributes.transposeB ? 1 : n;
    bColumn = attributes.transposeB ? k : 1;
    batch.assign(c.begin(), c.end() - 2);
    aBatch = batchStrides(a);
    bBatch = batchStrides(b);
  }

private:
  Shape batchStrides(const Shape &shape) const {
    Shape leading(shape.begin(), shape.end() - 2), strides = broadcastStrides(leading, batch);
    for (int64_t &stride : strides)
      stride *= shape[shape.size() - 2] * shape[shape.size() - 1];
    return strides;
  }
};

/// Rows of one matrix that are computed together: their positions in the output.
struct RowGroup {
  int64_t firstPosition;
  std::vector<int64_t> rows; ///< Row numbers within the matrix.
  int64_t aOffset, bOffset;  ///< Where the matrices begin.
};

/// At most this many doubles of `a` are held at once.
constexpr int64_t rowBudget = int64_t{1} << 22;

std::vector<RowGroup> groupRows(const Problem &p, const RowWriter &writer) {
  int64_t most = std::clamp<int64_t>(rowBudget / std::max<int64_t>(p.k + p.n, 1), 4, 4096);
  std::vector<RowGroup> groups;
  int64_t matrix = -1;
  for (int64_t position = 0; position < writer.rows(); ++position) {
    int64_t row = writer.row(position);
    if (row / p.m != matrix || static_cast<int64_t>(groups.back().rows.size()) == most) {
      matrix = row / p.m;
      groups.push_back({position, {}, offsetOf(matrix, p.batch, p.aBatch), offsetOf(matrix, p.batch, p.bBatch)});
    }
    groups.back().rows.push_back(row % p.m);
  }
  return groups;
}

/// Loads `count` elements that are `stride` apart.
void loadStrided(const HostTensor &x, int64_t offset, int64_t stride, std::span<double> values) {
  if (stride == 1)
    return loadDoubles(x.element(offset), x.dtype(), values);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = loadAsDouble(x.element(offset + static_cast<int64_t>(i) * stride), x.dtype());
}

constexpr int64_t panelDepth = 256, panelWidth = 8 * static_cast<int64_t>(kernelColumns);

/// Rows [k0, k0 + depth) and columns [n0, n0 + width) of b as panels of kernelColumns, the last one padded by zeros.
void packPanels(const Problem &p, const HostTensor &b, int64_t offset, int64_t k0, int64_t depth, int64_t n0,
                int64_t width, std::vector<double> &panels) {
  constexpr auto columns = static_cast<int64_t>(kernelColumns);
  std::fill(panels.begin(), panels.end(), 0.0);
  auto place = [&](int64_t i, int64_t j) {
    return static_cast<size_t>(j / columns * depth * columns + i * columns + j % columns);
  };
  std::array<double, std::max(panelDepth, panelWidth)> line;
  if (p.bColumn == 1) {
    for (int64_t i = 0; i < depth; ++i) {
      loadDoubles(b.element(offset + (k0 + i) * p.bDepth + n0), b.dtype(),
                  std::span(line).first(static_cast<size_t>(width)));
      for (int64_t j = 0; j < width; ++j)
        panels[place(i, j)] = line[static_cast<size_t>(j)];
    }
    return;
  }
  for (int64_t j = 0; j < width; ++j) {
    loadStrided(b, offset + k0 * p.bDepth + (n0 + j) * p.bColumn, p.bDepth,
                std::span(line).first(static_cast<size_t>(depth)));
    for (int64_t i = 0; i < depth; ++i)
      panels[place(i, j)] = line[static_cast<size_t>(i)];
  }
}

/// Values and sizes of the products of a group of rows; columns are padded to whole panels.
struct Products {
  int64_t stride;
  std::vector<double> values, sizes;
};

Products multiplyGroup(const Problem &p, const Call &call, const RowGroup &group) {
  auto count = static_cast<int64_t>(group.rows.size());
  Products out{(p.n + panelWidth - 1) / panelWidth * panelWidth, {}, {}};
  out.values.resize(static_cast<size_t>(count * out.stride));
  out.sizes.resize(out.values.size());
  std::vector<double> a(static_cast<size_t>(count * p.k));
  parallelFor(count, rowGrain(p.k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      loadStrided(call.inputs[0], group.aOffset + group.rows[static_cast<size_t>(i)] * p.aRow, p.aDepth,
                  std::span(a).subspan(static_cast<size_t>(i * p.k), static_cast<size_t>(p.k)));
  });
  parallelFor(out.stride / panelWidth, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> panels(static_cast<size_t>(panelDepth * panelWidth));
    for (int64_t block = begin; block < end; ++block)
      for (int64_t k0 = 0; k0 < p.k; k0 += panelDepth) {
        int64_t n0 = block * panelWidth, width = std::min(panelWidth, p.n - n0), depth = std::min(panelDepth, p.k - k0);
        packPanels(p, call.inputs[1], group.bOffset, k0, depth, n0, width, panels);
        for (int64_t j = 0; j < width; j += static_cast<int64_t>(kernelColumns))
          multiplyPanel(a.data() + k0, static_cast<size_t>(p.k), static_cast<size_t>(count), panels.data() + j * depth,
                        static_cast<size_t>(depth), out.values.data() + n0 + j, out.sizes.data() + n0 + j,
                        static_cast<size_t>(out.stride));
      }
  });
  return out;
}

/// A product with few columns: one dot product at a time, in parallel over rows.
Products multiplyFewColumns(const Problem &p, const Call &call, const RowGroup &group) {
  auto count = static_cast<int64_t>(group.rows.size());
  Products out{p.n, {}, {}};
  out.values.resize(static_cast<size_t>(count * p.n));
  out.sizes.resize(out.values.size());
  std::vector<double> b(static_cast<size_t>(p.n * p.k));
  for (int64_t j = 0; j < p.n; ++j)
    loadStrided(call.inputs[1], group.bOffset + j * p.bColumn, p.bDepth,
                std::span(b).subspan(static_cast<size_t>(j * p.k), static_cast<size_t>(p.k)));
  parallelFor(count, rowGrain(p.k), [&](int64_t begin, int64_t end) {
    std::vector<double> a(static_cast<size_t>(p.k));
    for (int64_t i = begin; i < end; ++i) {
      loadStrided(call.inputs[0], group.aOffset + group.rows[static_cast<size_t>(i)] * p.aRow, p.aDepth, a);
      for (int64_t j = 0; j < p.n; ++j) {
        double value = 0, size = 0;
        for (int64_t l = 0; l < p.k; ++l) {
          double product = a[static_cast<size_t>(l)] * b[static_cast<size_t>(j * p.k + l)];
          value += product;
          size += std::fabs(product);
        }
        out.values[static_cast<size_t>(i * p.n + j)] = value;
        out.sizes[static_cast<size_t>(i * p.n + j)] = size;
      }
    }
  });
  return out;
}

/// A row of a product of integers whose sums a double may not hold, modulo 2^64.
void multiplyIntegerRow(const Problem &p, const Call &call, int64_t aOffset, int64_t bOffset,
                        std::vector<int64_t> &row) {
  const HostTensor &a = call.inputs[0], &b = call.inputs[1];
  std::vector<uint64_t> sums(static_cast<size_t>(p.n));
  for (int64_t l = 0; l < p.k; ++l) {
    auto factor = static_cast<uint64_t>(loadAsInteger(a.element(aOffset + l * p.aDepth), a.dtype()));
    const int64_t line = bOffset + l * p.bDepth;
    for (int64_t j = 0; j < p.n; ++j)
      sums[static_cast<size_t>(j)] +=
          factor * static_cast<uint64_t>(loadAsInteger(b.element(line + j * p.bColumn), b.dtype()));
  }
  row.assign(sums.begin(), sums.end());
}

bool fitsDouble(DType a, DType b, int64_t k) {
  auto largest = [](DType dtype) { return std::ldexp(1.0, bitWidth(dtype)); };
  return largest(a) * largest(b) * static_cast<double>(k) < 0x1p53;
}

class MatmulEvaluator {
public:
  explicit MatmulEvaluator(Call &call)
      : call_(call), problem_(call), attributes_(call.description.as<MatmulAttributes>()),
        arithmetic_(attributes_.accumulate == DType::F64 ? DType::F64 : DType::F32),
        epilogue_(call, arithmetic_.format),
        writer_(call.outputs[0], call, rowsOf(call.outputShape(0)), problem_.n, 1, problem_.m),
        isInteger_(!isFloat(call.inputs[0].dtype()) && !isFloat(attributes_.accumulate)),
        wrapType_(call.inputs[0].dtype() == DType::I64 && attributes_.accumulate != DType::I32 ? DType::I64
                                                                                               : DType::I32) {}

  void run() {
    bool isWide = isInteger_ && !fitsDouble(call_.inputs[0].dtype(), call_.inputs[1].dtype(), problem_.k);
    constexpr int64_t fewColumns = 4;
    for (const RowGroup &group : groupRows(problem_, writer_)) {
      Products products;
      if (!isWide)
        products = problem_.n <= fewColumns ? multiplyFewColumns(problem_, call_, group)
                                            : multiplyGroup(problem_, call_, group);
      parallelFor(static_cast<int64_t>(group.rows.size()), rowGrain(problem_.n), [&](int64_t begin, int64_t end) {
        EpilogueRow data;
        for (int64_t i = begin; i < end; ++i) {
          if (isWide)
            wideRow(group, i, data);
          else
            row(products, i, data);
          finish(group.firstPosition + i, data);
        }
      });
    }
  }

private:
  void wideRow(const RowGroup &group, int64_t i, EpilogueRow &data) const {
    data.isInteger = true;
    multiplyIntegerRow(problem_, call_, group.aOffset + group.rows[static_cast<size_t>(i)] * problem_.aRow,
                       group.bOffset, data.integers);
    for (int64_t &value : data.integers)
      value = wrapInteger(value, wrapType_);
  }

  void row(const Products &products, int64_t i, EpilogueRow &data) const {
    auto n = static_cast<size_t>(problem_.n);
    const double *values = products.values.data() + i * products.stride;
    const double *sizes = products.sizes.data() + i * products.stride;
    data.isInteger = isInteger_;
    if (isInteger_) {
      data.integers.resize(n);
      for (size_t j = 0; j < n; ++j)
        data.integers[j] = wrapInteger(static_cast<int64_t>(values[j]), wrapType_);
      return;
    }
    double terms = static_cast<double>(problem_.k), relative = operandRounding(attributes_.precision);
    data.values.resize(n);
    for (size_t j = 0; j < n; ++j)
      data.values[j] = arithmetic_.sum(values[j], sizes[j], terms, relative);
  }

  void finish(int64_t position, EpilogueRow &data) {
    epilogue_.apply(writer_.row(position), data);
    for (int64_t j = 0; j < problem_.n; ++j)
      if (data.isInteger)
        writer_.put(position, j, data.integers[static_cast<size_t>(j)]);
      else
        writer_.put(position, j, data.values[static_cast<size_t>(j)]);
  }

  Call &call_;
  Problem problem_;
  const MatmulAttributes &attributes_;
  Arithmetic arithmetic_;
  Epilogue epilogue_;
  RowWriter writer_;
  bool isInteger_;
  DType wrapType_;
};

} // namespace

void evaluateMatmul(Call &call) { MatmulEvaluator(call).run(); }

} // namespace tilejit::reference
