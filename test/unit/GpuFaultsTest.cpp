// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Faults seeded in what the GPU lowering makes: each must show as a wrong number or a report of the simulator, while
// the same kernel without the fault is right and clean. A fault is one change to a kernel's planned form (tilegpu) or
// to the program of its threads, such as an error in one line of the lowering would make.

#include "TileOpsCheck.h"

#include "tilejit/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace tilejit;
using namespace tilejit::test;

namespace {

//===--- kernels ------------------------------------------------------------------------------------------------===//

struct Kernel {
  const char *arguments, *body;
  int programs, warps;
};

const Kernel transpose = {"%x: !tile.view<30x29xi32>, %y: !tile.view<29x30xi32>", R"(
  %t = tile.load %x[%c0, %c0] pad zero : !tile.view<30x29xi32> -> tensor<32x32xi32>
  %u = tile.transpose %t [1, 0] : tensor<32x32xi32> -> tensor<32x32xi32>
  tile.store %u, %y[%c0, %c0] : tensor<32x32xi32>, !tile.view<29x30xi32>)",
                          1, 4};

const Kernel rows = {"%x: !tile.view<1x300xf32>, %y: !tile.view<1x300xf32>", R"(
  %t = tile.load %x[%c0, %c0] pad lowest : !tile.view<1x300xf32> -> tensor<1x512xf32>
  %m = tile.reduce %t axis 1 : tensor<1x512xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.maxnumf %l, %r : f32
    tile.yield %a : f32
  }
  %me = tile.expand %m axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %me : tensor<1x1xf32> -> tensor<1x512xf32>
  %z = tile.load %x[%c0, %c0] pad zero : !tile.view<1x300xf32> -> tensor<1x512xf32>
  %s = tile.reduce %z axis 1 : tensor<1x512xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %se = tile.expand %s axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %se : tensor<1x1xf32> -> tensor<1x512xf32>
  %d = arith.subf %z, %mb : tensor<1x512xf32>
  %o = arith.addf %d, %sb : tensor<1x512xf32>
  tile.store %o, %y[%c0, %c0] : tensor<1x512xf32>, !tile.view<1x300xf32>)",
                     1, 4};

const Kernel product = {"%x: !tile.view<20x37xf32>, %y: !tile.view<37x24xf32>, %z: !tile.view<20x24xf32>", R"(
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> tensor<32x32xf32> {
    %a = tile.load %x[%c0, %k] pad zero : !tile.view<20x37xf32> -> tensor<32x16xf32>
    %b = tile.load %y[%k, %c0] pad zero : !tile.view<37x24xf32> -> tensor<16x32xf32>
    %d = tile.dot %a, %b, %acc : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<32x32xf32>, !tile.view<20x24xf32>)",
                        1, 4};

const Kernel scan = {"%x: !tile.view<4x128xi32>, %y: !tile.view<4x128xi32>", R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<4x128xi32> -> tensor<4x128xi32>
  %s = tile.scan %t axis 1 : tensor<4x128xi32> -> tensor<4x128xi32> {
  ^bb0(%l: i32, %r: i32):
    %a = arith.addi %l, %r : i32
    tile.yield %a : i32
  }
  tile.store %s, %y[%c0, %c0] : tensor<4x128xi32>, !tile.view<4x128xi32>)",
                     1, 2};

const Kernel copy = {"%x: !tile.view<200xi32>, %y: !tile.view<200xi32>", R"(
  %i = tile.program_id 0
  %t = tile.load %x[%i] pad zero : !tile.view<200xi32> -> tensor<128xi32>
  tile.store %t, %y[%i] : tensor<128xi32>, !tile.view<200xi32>)",
                     2, 2};

const Kernel pad = {"%x: !tile.view<99xi32>, %y: !tile.view<128xi32>", R"(
  %t = tile.load %x[%c0] pad zero : !tile.view<99xi32> -> tensor<128xi32>
  tile.store %t, %y[%c0] : tensor<128xi32>, !tile.view<128xi32>)",
                    1, 1};

/// Accesses of several elements lie inside or outside as a whole.
const Kernel pieces = {"%x: !tile.view<100xi32>, %y: !tile.view<124xi32>", R"(
  %t = tile.load %x[%c0] pad zero : !tile.view<100xi32> -> tensor<128xi32>
  tile.store %t, %y[%c0] : tensor<128xi32>, !tile.view<124xi32>)",
                       1, 2};

const Kernel histogram = {"%p: !tile.ptr<i32>", R"(
  %i = tile.iota : tensor<40xi32>
  %n = arith.constant dense<7> : tensor<40xi32>
  %k = arith.remui %i, %n : tensor<40xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<40x!tile.ptr<i32>>
  %a = tile.addptr %s, %k : tensor<40x!tile.ptr<i32>>, tensor<40xi32>
  %one = arith.constant dense<1> : tensor<40xi32>
  %old = tile.atomic_rmw addi %one, %a relaxed device : tensor<40xi32>, tensor<40x!tile.ptr<i32>>)",
                          3, 4};

const Kernel inPlace = {"%x: !tile.view<32x32xi32>", R"(
  %t = tile.load %x[%c0, %c0] : !tile.view<32x32xi32> -> tensor<32x32xi32>
  %u = tile.transpose %t [1, 0] : tensor<32x32xi32> -> tensor<32x32xi32>
  tile.store %u, %x[%c0, %c0] : tensor<32x32xi32>, !tile.view<32x32xi32>
  %v = tile.load %x[%c0, %c0] : !tile.view<32x32xi32> -> tensor<8x32xi32>
  %w = arith.addi %v, %v : tensor<8x32xi32>
  tile.store %w, %x[%c0, %c0] : tensor<8x32xi32>, !tile.view<32x32xi32>)",
                        1, 4};

const Kernel part = {"%x: !tile.view<16x32xi32>, %y: !tile.view<8x8xi32>", R"(
  %c1 = arith.constant 1 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<16x32xi32> -> tensor<16x32xi32>
  %e = tile.extract %t[%c1, %c0] : tensor<16x32xi32> -> tensor<8x8xi32>
  tile.store %e, %y[%c0, %c0] : tensor<8x8xi32>, !tile.view<8x8xi32>)",
                     1, 4};

//===--- faults -------------------------------------------------------------------------------------------------===//

/// The operation with a number among those that `fits` takes, in program order; null if there are not as many.
Operation *find(ModuleOp module, int number, llvm::function_ref<bool(Operation *)> fits) {
  Operation *found = nullptr;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!fits(op) || number-- != 0)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

Operation *named(ModuleOp module, StringRef name, int number = 0) {
  return find(module, number, [&](Operation *op) { return op->getName().getStringRef() == name; });
}

using Change = std::function<bool(ModuleOp)>;

/// Changes every operation that `fits` takes: which of several versions of an access runs depends on the data.
Change everywhere(std::function<bool(Operation *)> fits, std::function<void(Operation *)> change) {
  return [=](ModuleOp module) {
    SmallVector<Operation *> found;
    module.walk([&](Operation *op) {
      if (fits(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      change(op);
    return !found.empty();
  };
}

/// The number-th operation of a name is missing.
Change without(StringRef name, int number = 0) {
  return [=](ModuleOp module) {
    Operation *op = named(module, name, number);
    if (op)
      op->erase();
    return op != nullptr;
  };
}

/// A number in place of another one.
void replaceConstant(Operation *user, unsigned operand, llvm::function_ref<int64_t(int64_t)> change) {
  APInt value;
  OpBuilder b(user);
  if (matchPattern(user->getOperand(operand), m_ConstantInt(&value))) {
    Type type = user->getOperand(operand).getType();
    auto attr = b.getIntegerAttr(type, change(value.getSExtValue()));
    user->setOperand(operand, arith::ConstantOp::create(b, user->getLoc(), attr));
    return;
  }
  Value known = arith::ConstantIntOp::create(b, user->getLoc(), b.getI32Type(), change(0));
  user->setOperand(operand, arith::XOrIOp::create(b, user->getLoc(), user->getOperand(operand), known));
}

/// In the last exchange words come from another lane than they should.
bool shufflesWrongly(ModuleOp module) {
  Operation *last = nullptr;
  module.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (name == "nvvm.shfl.sync" || name == "rocdl.ds_bpermute")
      last = op;
  });
  if (!last)
    return false;
  bool isLane = last->getName().getStringRef() == "nvvm.shfl.sync"; // Otherwise four times the lane.
  replaceConstant(last, isLane ? 2 : 0, [&](int64_t from) { return from ^ (isLane ? 16 : 128); });
  return true;
}

bool isStoreTo(Operation *op, unsigned space) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  return store && cast<LLVM::LLVMPointerType>(store.getAddr().getType()).getAddressSpace() == space;
}

/// The innermost branch around operations is always taken.
Change always(const std::function<bool(Operation *)> &fits) {
  auto inBranch = [=](Operation *op) { return fits(op) && isa<scf::IfOp>(op->getParentOp()); };
  return everywhere(inBranch, [](Operation *op) {
    auto branch = cast<scf::IfOp>(op->getParentOp());
    OpBuilder b(branch);
    branch.getConditionMutable().assign(arith::ConstantIntOp::create(b, branch.getLoc(), b.getI1Type(), 1));
  });
}

/// A select between what was loaded and the padding.
bool isPadding(Operation *op) { return isa<arith::SelectOp>(op) && op->getOperand(1).getDefiningOp<LLVM::LoadOp>(); }

void dropMask(Operation *op) { op->getResult(0).replaceAllUsesWith(op->getOperand(1)); }

void padWrongly(Operation *op) {
  replaceConstant(op, 2, [](int64_t value) { return value + 1; });
}

/// A comparison of the edge takes one element more.
bool isBelow(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return compare && compare.getPredicate() == arith::CmpIPredicate::slt;
}

void takeOneMore(Operation *op) { cast<arith::CmpIOp>(op).setPredicate(arith::CmpIPredicate::sle); }

/// Loads at an edge are not clamped to the view.
void dropClamp(Operation *op) { op->getResult(0).replaceAllUsesWith(op->getOperand(0)); }

/// Elements of 4 bytes in global memory are addressed as ones of 2.
bool isElementAddress(Operation *op) {
  auto gep = dyn_cast<LLVM::GEPOp>(op);
  return gep && gep.getElemType().isInteger(32) && cast<LLVM::LLVMPointerType>(gep.getType()).getAddressSpace() == 1;
}

void scaleWrongly(Operation *op) { cast<LLVM::GEPOp>(op).setElemType(IntegerType::get(op->getContext(), 16)); }

/// The constant right operand of operations of a kind changes.
Change changesConstant(StringRef name, const std::function<bool(int64_t)> &fits,
                       const std::function<int64_t(int64_t)> &change) {
  auto isOne = [=](Operation *op) {
    APInt value;
    return op->getName().getStringRef() == name && matchPattern(op->getOperand(1), m_ConstantInt(&value)) &&
           fits(value.getSExtValue());
  };
  return everywhere(isOne, [=](Operation *op) { replaceConstant(op, 1, change); });
}

bool isGlobalLoad(Operation *op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return load && cast<LLVM::LLVMPointerType>(load.getAddr().getType()).getAddressSpace() == 1;
}

/// The first two registers of what was loaded change places.
bool swapsRegisters(ModuleOp module) {
  auto isLoaded = [](Operation *op) {
    if (isa<vector::FromElementsOp>(op))
      return op->getNumOperands() > 1 && op->getOperand(0).getDefiningOp<LLVM::LoadOp>() != nullptr;
    return isGlobalLoad(op) && isa<VectorType>(op->getResult(0).getType());
  };
  return everywhere(isLoaded, [](Operation *op) {
    Value vector = op->getResult(0);
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    auto places = llvm::to_vector(llvm::seq<int64_t>(0, cast<VectorType>(vector.getType()).getNumElements()));
    std::swap(places[0], places[1]);
    Value swapped = vector::ShuffleOp::create(b, op->getLoc(), vector, vector, places);
    vector.replaceAllUsesExcept(swapped, swapped.getDefiningOp());
  })(module);
}

/// The writer of a place uses another swizzle than its readers.
bool swizzlesOneSide(ModuleOp module) {
  auto store = cast_or_null<tilegpu::SharedStoreOp>(named(module, "tilegpu.shared_store"));
  if (!store)
    return false;
  auto alloc = store.getPlace().getDefiningOp<tilegpu::SharedAllocOp>();
  tilegpu::SharedType type = alloc.getType();
  SmallVector<int64_t> offsets(type.getMemory().getOffsets());
  std::swap(offsets[offsets.size() - 1], offsets[offsets.size() - 2]);
  auto memory = tilegpu::MemoryAttr::get(type.getContext(), type.getMemory().getShape(), offsets);
  OpBuilder b(alloc);
  Value other = tilegpu::SharedAllocOp::create(
      b, alloc.getLoc(), tilegpu::SharedType::get(type.getContext(), type.getShape(), type.getElementType(), memory),
      alloc.getOffsetAttr());
  store.getPlaceMutable().assign(other);
  return true;
}

/// Two places that live at once overlap.
bool overlaps(ModuleOp module) {
  auto second = cast_or_null<tilegpu::SharedAllocOp>(find(module, 0, [](Operation *op) {
    auto alloc = dyn_cast<tilegpu::SharedAllocOp>(op);
    return alloc && alloc.getOffset() && *alloc.getOffset() > 0;
  }));
  if (second)
    second.setOffset(0);
  return bool(second);
}

/// A part of a tile is read from where another part lies.
bool readsOtherPart(ModuleOp module) {
  auto load = cast_or_null<tilegpu::SharedLoadOp>(find(module, 0, [](Operation *op) {
    auto part = dyn_cast<tilegpu::SharedLoadOp>(op);
    return part && part.getCoordinates().size() == 2 && part.getCoordinates()[0] != part.getCoordinates()[1];
  }));
  if (!load)
    return false;
  Value first = load.getCoordinates()[0], second = load.getCoordinates()[1];
  load.getCoordinatesMutable().assign(ValueRange{second, first});
  return true;
}

/// What was atomic is a load and a store.
bool updatesPlainly(ModuleOp module) {
  auto update = cast_or_null<LLVM::AtomicRMWOp>(named(module, "llvm.atomicrmw"));
  if (!update)
    return false;
  OpBuilder b(update);
  Value old = LLVM::LoadOp::create(b, update.getLoc(), update.getVal().getType(), update.getPtr());
  Value sum = LLVM::AddOp::create(b, update.getLoc(), old, update.getVal());
  LLVM::StoreOp::create(b, update.getLoc(), sum, update.getPtr());
  update.replaceAllUsesWith(old);
  update.erase();
  return true;
}

struct Fault {
  const char *name;
  const Kernel &kernel;
  TileOpsFault fault;
  std::vector<const char *> targets = {"sm_80", "gfx942"};
};

Fault planned(const char *name, const Kernel &kernel, Change change) { return {name, kernel, {std::move(change), {}}}; }
Fault lowered(const char *name, const Kernel &kernel, Change change) { return {name, kernel, {{}, std::move(change)}}; }

std::vector<Fault> allFaults() {
  auto any = [](int64_t) { return true; };
  auto isGlobalStore = [](Operation *op) { return isStoreTo(op, 1); };
  std::vector<Fault> faults = {
      planned("no barrier between the stores and loads of a conversion", transpose, without("tilegpu.barrier")),
      planned("a swizzle on the store's side only", transpose, swizzlesOneSide),
      planned("no barrier before the shares of a reduction are read", rows, without("tilegpu.barrier")),
      planned("no barrier between two reductions in one place", rows, without("tilegpu.barrier", 1)),
      planned("operands of a product overlap", product, overlaps),
      planned("no barrier before operands are read", product, without("tilegpu.barrier", 1)),
      planned("no barrier before operands are overwritten", product, without("tilegpu.barrier")),
      planned("a part of a tile at swapped coordinates", part, readsOtherPart),
      planned("no barrier between a store and a load of the same memory", inPlace, without("tilegpu.barrier", 1)),
      lowered("a butterfly with the wrong partner", rows, shufflesWrongly),
      lowered("a scan from the wrong lane", scan, shufflesWrongly),
      lowered("an edge mask dropped", pad, everywhere(isPadding, dropMask)),
      lowered("the wrong padding", pad, everywhere(isPadding, padWrongly)),
      lowered("an edge one element too far", pad, everywhere(isBelow, takeOneMore)),
      lowered("loads past an edge", pad, everywhere([](Operation *op) { return isa<arith::MinSIOp>(op); }, dropClamp)),
      lowered("stores past an edge", copy, always(isGlobalStore)),
      lowered("loads of pieces past an edge", pieces, always(isGlobalLoad)),
      lowered("stores of pieces past an edge", pieces, always(isGlobalStore)),
      lowered("an edge one piece too far", pieces, everywhere(isBelow, takeOneMore)),
      lowered("an address scaled wrongly", copy, everywhere(isElementAddress, scaleWrongly)),
      lowered("all copies of an element update memory", histogram,
              always([](Operation *op) { return isa<LLVM::AtomicRMWOp>(op); })),
      lowered("an update that is not atomic", histogram, updatesPlainly),
      lowered("two registers exchanged", scan, swapsRegisters),
      lowered("a stride one too large", transpose,
              changesConstant(
                  "arith.muli", [](int64_t c) { return c == 29; }, [](int64_t c) { return c + 1; })),
      lowered("one thread bit less", copy,
              changesConstant(
                  "arith.andi", [](int64_t c) { return c >= 31; }, [](int64_t c) { return c >> 1; })),
      lowered("a place in on-chip memory one off", transpose,
              changesConstant("arith.xori", any, [](int64_t c) { return c ^ 1; })),
  };
  faults.push_back(lowered("no fence before a barrier", transpose, without("llvm.fence")));
  faults.back().targets = {"gfx942"};
  return faults;
}

} // namespace

TEST_CASE("kernels without a fault are right and clean", "[gpu]") {
  for (const Kernel *kernel : {&transpose, &rows, &product, &scan, &copy, &pad, &pieces, &histogram, &inPlace, &part})
    for (const char *target : {"sm_80", "gfx942"}) {
      INFO(kernel->arguments << kernel->body << "\non " << target);
      TileOpsOutcome outcome = runWithFault(kernel->arguments, kernel->body,
                                            {.programs = kernel->programs, .warps = {kernel->warps}}, target, {});
      CHECK(outcome.wrongBytes == 0);
      CHECK(outcome.reports == std::vector<std::string>());
    }
}

TEST_CASE("every fault in the lowering shows", "[gpu]") {
  for (const Fault &fault : allFaults())
    for (const char *target : fault.targets) {
      INFO(fault.name << " on " << target);
      TileOpsOutcome outcome =
          runWithFault(fault.kernel.arguments, fault.kernel.body,
                       {.programs = fault.kernel.programs, .warps = {fault.kernel.warps}}, target, fault.fault);
      CHECK(outcome.isApplied);
      CHECK((outcome.wrongBytes > 0 || !outcome.reports.empty()));
    }
}
