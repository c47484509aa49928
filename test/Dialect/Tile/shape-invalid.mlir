// RUN: tile-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: f32) {
  // expected-error @below {{expected a static, non-empty shape, got 'tensor<?xf32>'}}
  %t = tile.splat %x : f32 -> tensor<?xf32>
  return
}

// -----
func.func @f(%x: f32) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %t = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected a result of rank 1, got 2}}
  %t = tile.iota : tensor<4x4xi32>
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected at most 256 numbers of 'i8', got 257}}
  %t = tile.iota : tensor<257xi8>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a result of rank 1, got 2}}
  %t = tile.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected size 2 in dimension 1, got 4}}
  %t = tile.broadcast %x : tensor<4x2xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @f(%x: tensor<4x1xf32>) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %t = tile.broadcast %x : tensor<4x1xf32> -> tensor<4x4xf16>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected an axis below 2, got 2}}
  %t = tile.expand %x axis 2 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a result of shape [1, 4], got [4, 1]}}
  %t = tile.expand %x axis 0 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected element type 'f32', got 'i32'}}
  %t = tile.expand %x axis 0 : tensor<4xf32> -> tensor<1x4xi32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected 4 elements, got 6}}
  %t = tile.reshape %x : tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected element type 'f32', got 'i32'}}
  %t = tile.reshape %x : tensor<4xf32> -> tensor<2x2xi32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected a permutation of 2 dimensions, got [0, 0]}}
  %t = tile.transpose %x [0, 0] : tensor<4x2xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected a permutation of 2 dimensions, got [1]}}
  %t = tile.transpose %x [1] : tensor<4x2xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected a result of shape [2, 4], got [4, 2]}}
  %t = tile.transpose %x [1, 0] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected element type 'f32', got 'f64'}}
  %t = tile.transpose %x [1, 0] : tensor<4x2xf32> -> tensor<2x4xf64>
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected at least 1 tile, got 0}}
  %t = "tile.cat"() <{axis = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected an axis below 1, got 1}}
  %t = tile.cat %x axis 1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4x4xf32>) {
  // expected-error @below {{expected tiles of rank 1, got 2}}
  %t = tile.cat %x, %y axis 0 : tensor<4xf32>, tensor<4x4xf32> -> tensor<8xf32>
  return
}

// -----
func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @below {{expected a tile of shape [4, 4], got [4, 5]}}
  %t = tile.cat %x, %y axis 0 : tensor<4x4xf32>, tensor<4x5xf32> -> tensor<8x4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %t = tile.cat %x, %y axis 0 : tensor<4xf32>, tensor<4xf16> -> tensor<8xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{expected a result of shape [8], got [9]}}
  %t = tile.cat %x, %y axis 0 : tensor<4xf32>, tensor<4xf32> -> tensor<9xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %t = tile.cat %x, %y axis 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf16>
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{expected a result of shape [4, 2], got [2, 4]}}
  %t = tile.join %x, %y : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %t = tile.join %x, %y : tensor<4xf32> -> tensor<4x2xf16>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a last dimension of size 2, got 'tensor<4xf32>'}}
  %l, %r = tile.split %x : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected a result of shape [4], got [2]}}
  %l, %r = tile.split %x : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %l, %r = tile.split %x : tensor<4x2xf32> -> tensor<4xf16>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: index) {
  // expected-error @below {{expected coordinates for rank 2, got 1}}
  %e = tile.extract %x[%i] : tensor<4x2xf32> -> f32
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: index) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %e = tile.extract %x[%i, %i] : tensor<4x2xf32> -> f16
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: index) {
  // expected-error @below {{expected a result of rank 2, got 1}}
  %e = tile.extract %x[%i, %i] : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: index) {
  // expected-error @below {{expected a size that divides 4 in dimension 0, got 3}}
  %e = tile.extract %x[%i, %i] : tensor<4x2xf32> -> tensor<3x2xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: index) {
  // expected-error @below {{expected element type 'f32', got 'i32'}}
  %e = tile.extract %x[%i, %i] : tensor<4x2xf32> -> tensor<2x2xi32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{expected an axis below 2, got 2}}
  %e = tile.gather_in_tile %x[%i] axis 2 : tensor<4x2xf32>, tensor<3x2xi32> -> tensor<3x2xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{expected indices of rank 2, got 1}}
  %e = tile.gather_in_tile %x[%i] axis 0 : tensor<4x2xf32>, tensor<3xi32> -> tensor<3xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: tensor<3x3xi32>) {
  // expected-error @below {{expected indices of shape [3, 2], got [3, 3]}}
  %e = tile.gather_in_tile %x[%i] axis 0 : tensor<4x2xf32>, tensor<3x3xi32> -> tensor<3x3xf32>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{expected element type 'f32', got 'f16'}}
  %e = tile.gather_in_tile %x[%i] axis 0 : tensor<4x2xf32>, tensor<3x2xi32> -> tensor<3x2xf16>
  return
}

// -----
func.func @f(%x: tensor<4x2xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{failed to verify that all of {indices, result} have same shape}}
  %e = tile.gather_in_tile %x[%i] axis 0 : tensor<4x2xf32>, tensor<3x2xi32> -> tensor<2x2xf32>
  return
}
