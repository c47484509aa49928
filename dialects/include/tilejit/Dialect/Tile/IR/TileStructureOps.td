// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Structure: kernels, program instances, assumptions and hints.

#ifndef TILEJIT_DIALECT_TILE_IR_TILESTRUCTUREOPS_TD
#define TILEJIT_DIALECT_TILE_IR_TILESTRUCTUREOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilejit/Dialect/Tile/IR/TileAttributes.td"
include "tilejit/Dialect/Tile/IR/TileTypes.td"

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope, Symbol,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a kernel: the program of one instance of a grid";
  let description = [{
    Arguments are views, pointers and scalars (integers, floats, index). A kernel returns nothing; its effect is what it
    stores. Program instances run in any order and at the same time, and must not depend on each other except through
    atomics. The launch rule is described at `#tile.launch`; a kernel without one is launched with an explicit grid.
    An argument has a name for people, its attribute `tile.name`; the text form takes it from the value's own name.

    ```mlir
    tile.kernel @scale(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>)
        launch <sizes = [0, 0], grid = affine_map<(n) -> (n ceildiv 64)>> {
      %i = tile.program_id 0
      %t = tile.load %x[%i] pad zero : !tile.view<?xf32> -> tensor<64xf32>
      %c = arith.constant dense<2.0> : tensor<64xf32>
      %r = arith.mulf %t, %c : tensor<64xf32>
      tile.store %r, %y[%i] : tensor<64xf32>, !tile.view<?xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<Tile_LaunchAttr>:$launch, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 CArg<"::tilejit::tile::LaunchAttr", "{}">:$launch)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"KernelOp">, Terminator]> {
  let summary = "ends a kernel";
  let description = "Ends the program instance.\n\n```mlir\ntile.return\n```";
  let assemblyFormat = "attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["ReduceOp", "ScanOp"]>]> {
  let summary = "gives the values of a combining region";
  let description = "Ends the region of `tile.reduce` or `tile.scan` with one value for each operand.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

class Tile_GridOp<string mnemonic, string what> : Tile_Op<mnemonic, [Pure]> {
  let summary = what;
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_ProgramIdOp : Tile_GridOp<"program_id", "index of this program instance along an axis of the grid"> {
  let description = "From 0 to the axis' count less 1.\n\n```mlir\n%i = tile.program_id 0\n```";
}

def Tile_NumProgramsOp : Tile_GridOp<"num_programs", "number of program instances along an axis of the grid"> {
  let description = "At least 1.\n\n```mlir\n%n = tile.num_programs 0\n```";
}

def Tile_AssumeOp : Tile_Op<"assume", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a fact about a value that the compiler may rely on";
  let description = [{
    Gives the value back. `divisible` says that the integer, or the address of the pointer in bytes, is a multiple of
    it; `min` and `max` bound an integer (signed, inclusive); `equal` says what an integer is. At least one is given.
    The interpreter and debug builds check the fact.

    ```mlir
    %m1 = tile.assume %m divisible 16 min 1 max 2048 : index
    %p1 = tile.assume %p divisible 64 : !tile.ptr<f32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_IntElement, Index, Tile_PtrType]>:$value, OptionalAttr<I64Attr>:$divisible,
                       OptionalAttr<I64Attr>:$min, OptionalAttr<I64Attr>:$max, OptionalAttr<I64Attr>:$equal);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $value (`divisible` $divisible^)? (`min` $min^)? (`max` $max^)? (`equal` $equal^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_HintOp : Tile_Op<"hint", [MemoryEffects<[MemWrite<Tile_HintResource>]>]> {
  let summary = "advice to back ends";
  let description = [{
    A dictionary keyed by the name of a back end (`cpu`, `nvvm`, `rocdl`); each value is a dictionary that the back end
    defines. Holds for the enclosing block. Dropping a hint never changes a result; a back end ignores what it does not
    know.

    ```mlir
    tile.hint {cpu = {unroll = 4 : i64}}
    ```
  }];
  let arguments = (ins DictionaryAttr:$targets);
  let assemblyFormat = "$targets attr-dict";
  let hasVerifier = 1;
}

#endif // TILEJIT_DIALECT_TILE_IR_TILESTRUCTUREOPS_TD
