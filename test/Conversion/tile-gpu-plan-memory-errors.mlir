// RUN: tile-opt %s -split-input-file -verify-diagnostics -tile-gpu-plan-memory=limit=64

#layout = #tilegpu.layout<[4], lanes = [1, 2, 0, 0, 0]>
#memory = #tilegpu.memory<[4], offsets = [1, 2]>
tile.kernel @branch(%c: i1) {
  %i = arith.constant 0 : index
  %a = tilegpu.shared_alloc : !tilegpu.shared<4xf32, #memory>
  %b = tilegpu.shared_alloc : !tilegpu.shared<4xf32, #memory>
  %s = arith.select %c, %a, %b : !tilegpu.shared<4xf32, #memory>
  // expected-error @below {{expected a place that tilegpu.shared_alloc gives}}
  %x = tilegpu.shared_load %s[%i] : !tilegpu.shared<4xf32, #memory> -> tensor<4xf32, #layout>
  tile.return
}

// -----
// expected-error @below {{needs 128 bytes of on-chip memory, the chip has 64 for a block: lower bm, bn or bk}}
tile.kernel @large() {
  %a = tilegpu.shared_alloc : !tilegpu.shared<32xf32, #tilegpu.memory<[32], offsets = [1, 2, 4, 8, 16]>>
  tile.return
}
