// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// One program instance while it runs: its values, its place in the grid, and how an operation finds its handler. The
// families of operations live in files of their own and register their handlers here.

#ifndef TILEJIT_INTERPRETER_INSTANCE_H
#define TILEJIT_INTERPRETER_INSTANCE_H

#include "Numbers.h"
#include "tilejit/Interpreter/Interpreter.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tilejit::interpreter {

/// A scalar (rank 0) or a tile of numbers or pointers.
struct Tile {
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<Cell> cells;
};

/// A view of memory; strides in elements.
struct View {
  mlir::Type element;
  Cell base = 0;
  llvm::SmallVector<int64_t, 4> shape, strides;
};

/// The value of an SSA value; immutable, so that copies share it.
struct Datum {
  std::shared_ptr<const Tile> tile;
  std::shared_ptr<const View> view;
};

/// Memory that pointers may point into.
struct Buffer {
  std::byte *data = nullptr;
  int64_t bytes = 0;
  std::string name;
};

class Instance;
using Handler = std::function<Status(Instance &, mlir::Operation *)>;

/// Which function runs which operation.
class HandlerTable {
public:
  HandlerTable();

  template <typename OpTy, typename Fn> void add(Fn fn) {
    handlers[mlir::TypeID::get<OpTy>()] = [fn](Instance &in, mlir::Operation *op) {
      return fn(in, llvm::cast<OpTy>(op));
    };
  }
  /// Null for an operation that the interpreter does not know.
  const Handler *find(mlir::Operation *op) const { return find(op->getName()); }
  const Handler *find(mlir::OperationName name) const;

private:
  llvm::DenseMap<mlir::TypeID, Handler> handlers;
};

/// What all program instances of a launch share.
struct Launch {
  Launch(const InterpreterOptions &options, const HandlerTable &handlers) : options(options), handlers(handlers) {}

  const InterpreterOptions &options;
  const HandlerTable &handlers;
  std::vector<Buffer> buffers;
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::atomic<uint64_t> steps = 0;
  std::mutex atomics, output;
};

class Instance {
public:
  Instance(Launch &launch, std::array<int64_t, 3> id) : launch(launch), id(id) {}

  Launch &launch;
  const std::array<int64_t, 3> id;

  /// Runs the operations of a block; `results` are the operands of its terminator.
  Status runBlock(mlir::Block &block, llvm::SmallVectorImpl<Datum> &results);

  const Datum &get(mlir::Value value) { return values[value]; }
  const Tile &getTile(mlir::Value value) { return *values[value].tile; }
  const View &getView(mlir::Value value) { return *values[value].view; }
  /// A scalar integer or index, read as signed.
  int64_t getInteger(mlir::Value value);
  llvm::SmallVector<int64_t> getIntegers(mlir::ValueRange operands);

  void set(mlir::Value value, Datum datum) { values[value] = std::move(datum); }
  void setTile(mlir::Value value, Tile tile) { set(value, {std::make_shared<const Tile>(std::move(tile)), {}}); }
  void setView(mlir::Value value, View view) { set(value, {{}, std::make_shared<const View>(std::move(view))}); }
  void setScalar(mlir::Value value, Cell cell) { setTile(value, {value.getType(), {}, {cell}}); }

  /// A number as the format keeps it; unchanged where the launch computes in double.
  double round(const Format &format, double value) const {
    return launch.options.doublePrecision ? value : format.round(value);
  }

  /// Memory of an element; null where it is outside and bounds are not checked.
  Expected<std::byte *> access(mlir::Operation *op, Cell pointer, int64_t bytes);
  Expected<Cell> loadCell(mlir::Operation *op, Cell pointer, const Format &format);
  Status storeCell(mlir::Operation *op, Cell pointer, const Format &format, Cell cell);

private:
  Status runOperation(mlir::Operation &op);
  Status checkNaN(mlir::Operation &op);

  llvm::DenseMap<mlir::Value, Datum> values;
};

/// A status that names an operation and its place.
Status failAt(mlir::Operation *op, const llvm::Twine &message, StatusCode code = StatusCode::CheckFailed);

/// Calls a function with every index of a shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> fn);
/// The position of an index in row-major order.
int64_t linearIndex(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index);
int64_t countElements(llvm::ArrayRef<int64_t> shape);

// The families.
void addArithIntegerHandlers(HandlerTable &table);
void addArithFloatHandlers(HandlerTable &table);
void addMathHandlers(HandlerTable &table);
void addControlHandlers(HandlerTable &table);
void addStructureHandlers(HandlerTable &table);
void addViewHandlers(HandlerTable &table);
void addPointerHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addContractionHandlers(HandlerTable &table);
void addConversionHandlers(HandlerTable &table);

} // namespace tilejit::interpreter

#endif // TILEJIT_INTERPRETER_INSTANCE_H
