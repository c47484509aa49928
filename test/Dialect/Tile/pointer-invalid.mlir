// RUN: tile-opt --split-input-file --verify-diagnostics %s

func.func @f(%p: !tile.ptr<f32>, %o: tensor<4xi32>) {
  // expected-error @below {{expected two scalars or two tiles, got '!tile.ptr<f32>' and 'tensor<4xi32>'}}
  %q = tile.addptr %p, %o : !tile.ptr<f32>, tensor<4xi32>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %o: tensor<4xi32>) {
  // expected-error @below {{expected offsets of the pointers' shape, got 'tensor<4xi32>' and 'tensor<8x!tile.ptr<f32>>'}}
  %q = tile.addptr %p, %o : tensor<8x!tile.ptr<f32>>, tensor<4xi32>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>) {
  // expected-error @below {{expected a tile of the pointers' shape, got 'tensor<4xf32>' and 'tensor<8x!tile.ptr<f32>>'}}
  %x = tile.gather %p : tensor<8x!tile.ptr<f32>> -> tensor<4xf32>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>) {
  // expected-error @below {{expected a tile of the pointee type 'f32', got 'f16'}}
  %x = tile.gather %p : tensor<8x!tile.ptr<f32>> -> tensor<8xf16>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %o: tensor<8xf32>) {
  // expected-error @below {{expected a mask beside 'other'}}
  %x = tile.gather %p other %o : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @below {{failed to verify that the mask is a tile of i1 of the pointers' shape}}
  %x = "tile.gather"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}>
    : (tensor<8x!tile.ptr<f32>>, tensor<4xi1>) -> tensor<8xf32>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<4xf32>) {
  // expected-error @below {{failed to verify that 'other' has the result's type}}
  %x = "tile.gather"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}>
    : (tensor<8x!tile.ptr<f32>>, tensor<8xi1>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<4xf32>) {
  // expected-error @below {{expected a tile of the pointers' shape, got 'tensor<4xf32>' and 'tensor<8x!tile.ptr<f32>>'}}
  tile.scatter %x, %p : tensor<4xf32>, tensor<8x!tile.ptr<f32>>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @below {{failed to verify that the mask is a tile of i1 of the pointers' shape}}
  "tile.scatter"(%x, %p, %m) : (tensor<8xf32>, tensor<8x!tile.ptr<f32>>, tensor<4xi1>) -> ()
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xi32>) {
  // expected-error @below {{expected a tile of the pointee type 'f32', got 'i32'}}
  %o = tile.atomic_rmw addi %x, %p relaxed device : tensor<8xi32>, tensor<8x!tile.ptr<f32>>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<8xi32>) {
  // expected-error @below {{expected floating-point numbers for 'addf', got 'i32'}}
  %o = tile.atomic_rmw addf %x, %p relaxed device : tensor<8xi32>, tensor<8x!tile.ptr<i32>>
  return
}

// -----
func.func @f(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<8xi64>) {
  // expected-error @below {{expected a tile of the pointee type 'i32', got 'i64'}}
  %o = tile.atomic_cas %x, %x, %p relaxed device : tensor<8xi64>, tensor<8x!tile.ptr<i32>>
  return
}
