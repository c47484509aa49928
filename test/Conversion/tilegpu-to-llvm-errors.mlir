// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-tilegpu-to-llvm
// RUN: not tile-opt %S/tile-to-tilegpu.mlir -convert-tilegpu-to-llvm=banks=volta 2>&1 | FileCheck %s --check-prefix=BANKS
// RUN: not tile-opt %S/tile-to-tilegpu.mlir -tile-gpu-on-chip=banks=volta 2>&1 | FileCheck %s --check-prefix=BANKS
// RUN: not tile-opt %S/tile-to-tilegpu.mlir -convert-tile-to-tilegpu="lanes=16 warps=2" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LANES
// RUN: not tile-opt %S/tile-to-tilegpu.mlir -convert-tile-to-tilegpu=warps=3 2>&1 | FileCheck %s --check-prefix=WARPS

// BANKS: error: expected the name of a bank model, got 'volta'
// LANES: error: expected 32 or 64 lanes and a power of two of warps, got 16 and 2
// WARPS: error: expected 32 or 64 lanes and a power of two of warps, got 32 and 3

tile.kernel @unknown() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 1 : i64} {
  // expected-error @below {{has no lowering to a GPU: it is not an operation of a kernel}}
  scf.execute_region {
    scf.yield
  }
  tile.return
}

// -----
tile.kernel @unplanned() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 1 : i64} {
  // expected-error @below {{has no lowering to a GPU: its memory is not planned (tile-gpu-plan-memory)}}
  %s = tilegpu.shared_alloc : !tilegpu.shared<4xf32, #tilegpu.memory<[4], offsets = [1, 2]>>
  tile.return
}

// -----
#lanes = #tilegpu.layout<[64], lanes = [1, 2, 4, 8, 16], warps = [32]>
#other = #tilegpu.layout<[64], lanes = [32, 2, 4, 8, 16], warps = [1]>
tile.kernel @between_warps() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 2 : i64} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #lanes>
  // expected-error @below {{has no lowering to a GPU: it leads through on-chip memory (tile-gpu-on-chip)}}
  %y = tilegpu.convert_layout %x : tensor<64xf32, #lanes> -> tensor<64xf32, #other>
  tile.return
}

// -----
#layout = #tilegpu.layout<[4, 8], lanes = [1, 2, 4, 8, 16]>
#left = #tilegpu.layout<[4, 4], lanes = [1, 2, 4, 8, 0]>
#right = #tilegpu.layout<[4, 8], lanes = [1, 2, 4, 8, 16]>
tile.kernel @product() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 1 : i64} {
  %a = arith.constant dense<1.0> : tensor<4x4xf32, #left>
  %b = arith.constant dense<1.0> : tensor<4x8xf32, #right>
  %c = arith.constant dense<0.0> : tensor<4x8xf32, #layout>
  // expected-error @below {{has no lowering to a GPU: its operands do not lie where its accumulators are (tile-gpu-on-chip)}}
  %d = tile.dot %a, %b, %c : tensor<4x4xf32, #left>, tensor<4x8xf32, #right>, tensor<4x8xf32, #layout>
  tile.return
}

// -----
#twice = #tilegpu.layout<[2, 16], registers = [1], lanes = [2, 2, 4, 8, 16]>
#rows = #tilegpu.layout<[2], lanes = [0, 0, 0, 0, 1]>
tile.kernel @twice() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<2x16xf32, #twice>
  // expected-error @below {{has no lowering to a GPU: its layout mixes the reduced dimension with others, or repeats it in lanes}}
  %s = tile.reduce %x axis 1 : tensor<2x16xf32, #twice> -> tensor<2xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tile.yield %sum : f32
  }
  tile.return
}

// -----
#warps = #tilegpu.layout<[64], lanes = [1, 2, 4, 8, 16], warps = [32]>
tile.kernel @scan() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 2 : i64} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #warps>
  // expected-error @below {{has no lowering to a GPU: its layout is shared between warps}}
  %s = tile.scan %x axis 0 : tensor<64xf32, #warps> -> tensor<64xf32, #warps> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  tile.return
}

// -----
#whole = #tilegpu.layout<[64], registers = [32], lanes = [1, 2, 4, 8, 16]>
#part = #tilegpu.layout<[32], lanes = [1, 2, 4, 8, 16]>
tile.kernel @part() attributes {tilegpu.lanes = 32 : i64, tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<64xf32, #whole>
  // expected-error @below {{has no lowering to a GPU: parts of tiles go through on-chip memory (tile-gpu-on-chip)}}
  %p = tile.extract %x[%c0] : tensor<64xf32, #whole> -> tensor<32xf32, #part>
  tile.return
}
