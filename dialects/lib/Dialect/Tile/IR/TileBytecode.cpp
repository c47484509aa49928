// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Bytecode of the dialect's attributes. MLIR stores what a dialect does not encode as text and reads it as one token,
// in which the comparison of a condition would end the attribute; so launch rules are encoded by their parts. All else
// stays text.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;
using namespace tilejit::tile;

namespace {

/// Codes of encoded attributes; part of the file format.
enum class AttributeCode : uint64_t { Launch = 0 };

struct TileBytecode : BytecodeDialectInterface {
  TileBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter &writer) const override {
    auto launch = dyn_cast<LaunchAttr>(attribute);
    if (!launch)
      return failure();
    writer.writeVarInt(uint64_t(AttributeCode::Launch));
    writer.writeSignedVarInts(launch.getSizes());
    writer.writeAttribute(launch.getGrid());
    writer.writeOptionalAttribute(launch.getWhen());
    writer.writeSignedVarInt(launch.getPhase());
    writer.writeOptionalAttribute(launch.getWorkspace());
    writer.writeSignedVarInt(launch.getPacks());
    return success();
  }

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    uint64_t code = 0;
    SmallVector<int64_t> sizes;
    AffineMapAttr grid, workspace;
    IntegerSetAttr when;
    int64_t phase = 0, packs = -1;
    if (failed(reader.readVarInt(code)))
      return {};
    if (code != uint64_t(AttributeCode::Launch)) {
      reader.emitError("expected a known tile attribute, got code ") << code;
      return {};
    }
    if (failed(reader.readSignedVarInts(sizes)) || failed(reader.readAttribute(grid)) ||
        failed(reader.readOptionalAttribute(when)) || failed(reader.readSignedVarInt(phase)) ||
        failed(reader.readOptionalAttribute(workspace)) || failed(reader.readSignedVarInt(packs)) || !grid)
      return {};
    if (failed(LaunchAttr::verify([&] { return reader.emitError(); }, sizes, grid, when, phase, workspace, packs)))
      return {};
    return LaunchAttr::get(getContext(), sizes, grid, when, phase, workspace, packs);
  }
};

} // namespace

void TileDialect::registerBytecode() { addInterfaces<TileBytecode>(); }
