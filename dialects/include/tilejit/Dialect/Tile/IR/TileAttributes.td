// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attributes and enumerations.

#ifndef TILEJIT_DIALECT_TILE_IR_TILEATTRIBUTES_TD
#define TILEJIT_DIALECT_TILE_IR_TILEATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "tilejit/Dialect/Tile/IR/TileDialect.td"

class Tile_Enum<string name, string what, list<I32EnumCase> cases> : I32Enum<name, what, cases> {
  let cppNamespace = "::tilejit::tile";
}
class Tile_EnumAttr<EnumInfo info, string attrMnemonic> : EnumAttr<Tile_Dialect, info, attrMnemonic>;

def Tile_Pad : Tile_Enum<"Pad", "what a load gives outside a view", [
  I32EnumCase<"None", 0, "none">,         // The load promises to stay inside.
  I32EnumCase<"Zero", 1, "zero">,
  I32EnumCase<"One", 2, "one">,
  I32EnumCase<"Lowest", 3, "lowest">,     // -inf (most negative value where the type has none); signed minimum.
  I32EnumCase<"Highest", 4, "highest">,   // +inf (largest value where the type has none); signed maximum.
  I32EnumCase<"NaN", 5, "nan">,
  I32EnumCase<"AllOnes", 6, "all_ones">]>; // Unsigned maximum.
def Tile_PadAttr : Tile_EnumAttr<Tile_Pad, "pad">;

def Tile_Precision : Tile_Enum<"Precision", "how a product of f32 may be computed", [
  I32EnumCase<"Ieee", 0, "ieee">,       // As f32, sums in f32.
  I32EnumCase<"Tf32", 1, "tf32">,       // Operands rounded to 11 significant bits, to nearest even.
  I32EnumCase<"Bf16x3", 2, "bf16x3">]>; // Three products of bf16 halves.
def Tile_PrecisionAttr : Tile_EnumAttr<Tile_Precision, "precision">;

def Tile_Signedness : Tile_Enum<"Signedness", "how the bits of an integer are read", [
  I32EnumCase<"Signed", 0, "signed">, I32EnumCase<"Unsigned", 1, "unsigned">]>;
def Tile_SignednessAttr : Tile_EnumAttr<Tile_Signedness, "signedness">;

def Tile_Rounding : Tile_Enum<"Rounding", "rounding of a conversion", [
  I32EnumCase<"NearestEven", 0, "nearest_even">, I32EnumCase<"TowardZero", 1, "toward_zero">]>;
def Tile_RoundingAttr : Tile_EnumAttr<Tile_Rounding, "rounding">;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic update computes", [
  I32EnumCase<"AddI", 0, "addi">, I32EnumCase<"AddF", 1, "addf">, I32EnumCase<"MaxS", 2, "maxs">,
  I32EnumCase<"MinS", 3, "mins">, I32EnumCase<"MaxU", 4, "maxu">, I32EnumCase<"MinU", 5, "minu">,
  I32EnumCase<"AndI", 6, "andi">, I32EnumCase<"OrI", 7, "ori">, I32EnumCase<"XorI", 8, "xori">,
  I32EnumCase<"Exchange", 9, "xchg">]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic">;

def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "order of an atomic access", [
  I32EnumCase<"Relaxed", 0, "relaxed">, I32EnumCase<"Acquire", 1, "acquire">, I32EnumCase<"Release", 2, "release">,
  I32EnumCase<"AcqRel", 3, "acq_rel">]>;
def Tile_MemoryOrderAttr : Tile_EnumAttr<Tile_MemoryOrder, "order">;

def Tile_MemoryScope : Tile_Enum<"MemoryScope", "who sees an atomic access in its order", [
  I32EnumCase<"Block", 0, "block">, I32EnumCase<"Device", 1, "device">, I32EnumCase<"System", 2, "system">]>;
def Tile_MemoryScopeAttr : Tile_EnumAttr<Tile_MemoryScope, "scope">;

def Tile_LaunchAttr : AttrDef<Tile_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "when and over which grid a kernel runs";
  let description = [{
    The launch rule of a kernel. `sizes` lists (argument, dimension) pairs of the kernel's views; they are the
    dimensions d0, d1, ... of the maps. `grid` gives one to three counts of program instances. The kernels of a module
    are the alternatives and phases of one operator and take the same arguments: in each `phase`, in ascending order,
    the first kernel whose condition `when` holds runs (no condition always holds; a phase without a match is skipped).
    `workspace` gives a number of bytes of scratch memory shared by all kernels of a launch; a kernel that has it takes
    the workspace as an additional last argument of type `!tile.ptr<i8>`, 64-byte aligned and uninitialised.

    A kernel that `packs` argument i is the only one of phase 0; it reads no other argument and fills the workspace,
    whose size is a constant, from which alone later phases read that argument. Where its values stay the same, a host
    may run phase 0 once and give later launches the workspace that it filled.

    In the short form on a kernel `when` may be written in place; inside `#tile.launch<...>` it must be an alias, as the
    comparison in a set would end the attribute.

    ```mlir
    #tile.launch<sizes = [0, 0, 1, 1], grid = affine_map<(m, n) -> (m ceildiv 128, n ceildiv 256)>>
    #long = affine_set<(n) : (n - 4097 >= 0)>
    #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n ceildiv 4096)>, when = #long, phase = 1,
                 workspace = affine_map<(n) -> ((n ceildiv 4096) * 4)>>
    #tile.launch<grid = affine_map<() -> (16)>, workspace = affine_map<() -> (65536)>, packs = 1>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$sizes, "::mlir::AffineMapAttr":$grid,
                        OptionalParameter<"::mlir::IntegerSetAttr">:$when, DefaultValuedParameter<"int64_t", "0">:$phase,
                        OptionalParameter<"::mlir::AffineMapAttr">:$workspace,
                        DefaultValuedParameter<"int64_t", "-1">:$packs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TILEJIT_DIALECT_TILE_IR_TILEATTRIBUTES_TD
