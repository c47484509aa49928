// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-tile-to-cpu="scratch-limit=65536"

tile.kernel @region(%x: !tile.view<64xf32>) {
  // expected-error @below {{cannot be compiled for the CPU: this back end does not support the operation}}
  scf.execute_region {
    scf.yield
  }
  tile.return
}

// -----

tile.kernel @large(%x: !tile.view<512x512xf32>, %y: !tile.view<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.view<512x512xf32> -> tensor<512x512xf32>
  // expected-error @below {{its tile needs 1048640 bytes of scratch memory}}
  %s = tile.transpose %t [1, 0] : tensor<512x512xf32> -> tensor<512x512xf32>
  tile.store %s, %y[%c0, %c0] : tensor<512x512xf32>, !tile.view<512x512xf32>
  tile.return
}

// -----

// expected-note @below {{the first kernel}}
tile.kernel @first(%x: !tile.view<64xf32>) {
  tile.return
}
// expected-error @below {{expected the arguments of the module's first kernel}}
tile.kernel @other(%x: !tile.view<64xf64>) {
  tile.return
}

// -----

tile.kernel @pack(%x: !tile.view<4xf32>, %w: !tile.ptr<i8>)
    launch <grid = affine_map<() -> (1)>, workspace = affine_map<() -> (16)>, packs = 0> {
  tile.return
}
// expected-error @below {{expected a phase after the one in which an argument is packed, got 0}}
tile.kernel @other(%x: !tile.view<4xf32>, %w: !tile.ptr<i8>)
    launch <grid = affine_map<() -> (1)>, workspace = affine_map<() -> (16)>> {
  tile.return
}

// -----

// expected-error @below {{expected a phase from 0 to 3, got 4}}
tile.kernel @late(%x: !tile.view<64xf32>) launch <sizes = [], grid = affine_map<() -> (1)>, phase = 4> {
  tile.return
}

// -----

tile.kernel @tf32(%x: !tile.view<64xf32>) {
  // expected-error @below {{tf32 is a precision of a product here, not an element type}}
  %c = arith.constant dense<0.0> : tensor<64xtf32>
  tile.return
}
