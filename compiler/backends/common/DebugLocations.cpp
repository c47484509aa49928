// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A compile unit that asks for no debug sections, a subprogram for each function, and a scope for each other file.

#include "DebugLocations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/BinaryFormat/Dwarf.h"

#include <optional>
#include <string>

using namespace mlir;

namespace tilejit::backends {

namespace {

struct Place {
  std::string file;
  unsigned line = 0, column = 0;
};

std::optional<Place> placeOf(Location location) {
  std::optional<Place> place;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part))
      place = {file.getFilename().str(), file.getLine(), file.getColumn()};
    else if (auto name = dyn_cast<NameLoc>(part))
      place = {"/" + name.getName().str(), 0, 0};
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

/// The locations of one function.
class FunctionPlaces {
public:
  explicit FunctionPlaces(LLVM::LLVMFuncOp function)
      : context_(function.getContext()), own_(placeOf(function.getLoc()).value_or(Place())) {
    LLVM::DIFileAttr file = fileOf(own_.file);
    auto unit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context_)), llvm::dwarf::DW_LANG_C,
                                             file, StringAttr::get(context_, "tilejit"), /*isOptimized=*/true,
                                             LLVM::DIEmissionKind::None);
    auto type = LLVM::DISubroutineTypeAttr::get(context_, {});
    program_ = LLVM::DISubprogramAttr::get(
        context_, DistinctAttr::create(UnitAttr::get(context_)), unit, file, function.getSymNameAttr(),
        function.getSymNameAttr(), file, own_.line, own_.line,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type, {}, {});
    function->setLoc(FusedLoc::get({locationOf(own_)}, program_, context_));
  }

  void apply(Operation *op) {
    if (std::optional<Place> place = placeOf(op->getLoc()))
      op->setLoc(place->file == own_.file
                     ? locationOf(*place)
                     : Location(FusedLoc::get({locationOf(*place)}, scopeOf(place->file), context_)));
    else
      op->setLoc(UnknownLoc::get(context_));
  }

private:
  LLVM::DIFileAttr fileOf(const std::string &name) const { return LLVM::DIFileAttr::get(context_, name, ""); }
  Location locationOf(const Place &place) const {
    return FileLineColLoc::get(context_, place.file, place.line, place.column);
  }
  Attribute scopeOf(const std::string &file) const {
    return LLVM::DILexicalBlockFileAttr::get(program_, fileOf(file), /*discriminator=*/0);
  }

  MLIRContext *context_;
  Place own_;
  LLVM::DISubprogramAttr program_;
};

} // namespace

void keepLocations(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    FunctionPlaces places(function);
    function.getBody().walk([&](Operation *op) { places.apply(op); });
  }
}

} // namespace tilejit::backends
