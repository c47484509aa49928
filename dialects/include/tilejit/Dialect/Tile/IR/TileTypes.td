// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Types: views of global memory, pointers, and the constraints on tiles.

#ifndef TILEJIT_DIALECT_TILE_IR_TILETYPES_TD
#define TILEJIT_DIALECT_TILE_IR_TILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileDialect.td"

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a strided block of global memory";
  let description = [{
    Address, sizes and strides of a tensor in global memory. A size or stride may be dynamic (`?`). Strides are in
    elements; without a stride list the view is dense and row-major (the last stride is 1, each other one the product of
    the sizes to its right). `align` promises the alignment of the address of element 0 in bytes; without it, that of
    the element type.

    Two views of one kernel do not overlap unless both are only read.

    ```mlir
    !tile.view<?x4096xbf16>
    !tile.view<?x?xf32, strides = [?, 1], align = 64>
    !tile.view<f32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalArrayRefParameter<"int64_t">:$strides, DefaultValuedParameter<"int64_t", "0">:$align);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      CArg<"::llvm::ArrayRef<int64_t>", "{}">:$strides, CArg<"int64_t", "0">:$align), [{
    return $_get(elementType.getContext(), shape, elementType, strides, align);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamicDim(unsigned dim) const { return ::mlir::ShapedType::isDynamic(getShape()[dim]); }
    /// Whether the view is dense and row-major by its type.
    bool isDense() const { return getStrides().empty(); }
    /// Stride of a dimension as far as the type tells; kDynamic otherwise.
    int64_t getStaticStride(unsigned dim) const;
  }];
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "an address in global memory";
  let description = [{
    A pointer to elements of one type. Tensors of pointers (`tensor<128x!tile.ptr<f32>>`) are what gathers and scatters
    work on.
  }];
  let parameters = (ins "::mlir::Type":$pointee);
  let assemblyFormat = "`<` $pointee `>`";
  let genVerifyDecl = 1;
}

/// What hints and prefetches write, so that they are neither removed nor in the way of loads and stores.
def Tile_HintResource : Resource<"::tilejit::tile::HintResource">;

/// Element types of tiles and views.
def Tile_IntElement : AnyTypeOf<[I1, I<4>, I8, I16, I32, I64], "an integer of 1, 4, 8, 16, 32 or 64 bits">;
def Tile_FloatElement : AnyTypeOf<[F16, BF16, F32, TF32, F64, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0FNU,
                                   F4E2M1FN, F6E2M3FN, F6E3M2FN], "a floating-point type">;
def Tile_Number : AnyTypeOf<[Tile_IntElement, Tile_FloatElement], "a number">;
def Tile_Element : AnyTypeOf<[Tile_Number, Tile_PtrType], "a number or pointer">;

/// A tile: a tensor with a static shape and at least one element.
class Tile_TileOf<list<Type> elements, string what = "tile">
    : Type<And<[StaticShapeTensorOf<elements>.predicate,
                          CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getNumElements() > 0">]>,
                     what, "::mlir::RankedTensorType">;
def Tile_AnyTile : Tile_TileOf<[Tile_Element], "a tile (tensor with a static, non-empty shape)">;
def Tile_NumberTile : Tile_TileOf<[Tile_Number], "a tile of numbers">;
def Tile_IntTile : Tile_TileOf<[Tile_IntElement, Index], "a tile of integers">;
def Tile_FloatTile : Tile_TileOf<[Tile_FloatElement], "a tile of floating-point numbers">;
def Tile_PtrTile : Tile_TileOf<[Tile_PtrType], "a tile of pointers">;
def Tile_MaskTile : Tile_TileOf<[I1], "a tile of i1">;
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, Tile_PtrTile], "a pointer or a tile of pointers">;
def Tile_IntLike : AnyTypeOf<[Tile_IntElement, Index, Tile_IntTile], "an integer or a tile of integers">;
def Tile_FloatLike : AnyTypeOf<[Tile_FloatElement, Tile_FloatTile], "a floating-point number or a tile of them">;

#endif // TILEJIT_DIALECT_TILE_IR_TILETYPES_TD
