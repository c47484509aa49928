// RUN: tile-opt --split-input-file --verify-diagnostics %s

func.func @f(%p: !tile.ptr<f16>) {
  // expected-error @below {{expected a pointer to 'f32', got one to 'f16'}}
  %v = tile.view %p : !tile.ptr<f16> -> !tile.view<4xf32>
  return
}

// -----
func.func @f(%p: !tile.ptr<f32>, %n: index) {
  // expected-error @below {{expected operands for 2 dynamic sizes, got 1}}
  %v = tile.view %p sizes [%n] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  return
}

// -----
func.func @f(%p: !tile.ptr<f32>, %n: index) {
  // expected-error @below {{expected operands for 0 dynamic strides, got 1}}
  %v = tile.view %p sizes [%n] strides [%n] : !tile.ptr<f32> -> !tile.view<?x4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<8x8xf32>, %i: index) {
  // expected-error @below {{expected a result of rank 2, got 1}}
  %s = tile.subview %v[%i, %i] : !tile.view<8x8xf32> -> !tile.view<4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<8xf32>, %i: index) {
  // expected-error @below {{expected the source's element type 'f32', got 'f16'}}
  %s = tile.subview %v[%i] : !tile.view<8xf32> -> !tile.view<4xf16>
  return
}

// -----
func.func @f(%v: !tile.view<8x8xf32>, %i: index) {
  // expected-error @below {{expected offsets for rank 2, got 1}}
  %s = tile.subview %v[%i] : !tile.view<8x8xf32> -> !tile.view<4x8xf32>
  return
}

// -----
func.func @f(%v: !tile.view<8xf32>, %i: index) {
  // expected-error @below {{expected operands for 1 dynamic sizes, got 0}}
  %s = tile.subview %v[%i] : !tile.view<8xf32> -> !tile.view<?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<8xf32>, %i: index) {
  // expected-error @below {{expected a size of at most 8 in dimension 0, got 9}}
  %s = tile.subview %v[%i] : !tile.view<8xf32> -> !tile.view<9xf32>
  return
}

// -----
func.func @f(%v: !tile.view<8x8xf32>, %i: index) {
  // expected-error @below {{expected stride 8 in dimension 0, got 4}}
  %s = tile.subview %v[%i, %i] : !tile.view<8x8xf32> -> !tile.view<4x4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?x?xf32>, %i: index) {
  // expected-error @below {{expected stride ? in dimension 0, got 4}}
  %s = tile.subview %v[%i, %i] : !tile.view<?x?xf32> -> !tile.view<4x4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?x?xf32>, %i: index) {
  // expected-error @below {{expected a stride list, as the stride of dimension 0 is the source's}}
  %s = tile.subview %v[%i, %i] sizes [%i] : !tile.view<?x?xf32> -> !tile.view<4x?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?x?xf32>) {
  // expected-error @below {{expected a dimension within rank 2, got 2}}
  %s = tile.dim %v, 2 : !tile.view<?x?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?x?xf32>) {
  // expected-error @below {{expected a dimension within rank 2, got 3}}
  %s = tile.stride %v, 3 : !tile.view<?x?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>) {
  // expected-error @below {{expected a pointer to 'f32', got one to 'f16'}}
  %p = tile.base %v : !tile.view<?xf32> -> !tile.ptr<f16>
  return
}

// -----
func.func @f(%v: !tile.view<?x?xf32>, %i: index) {
  // expected-error @below {{expected coordinates for rank 2, got 1}}
  %t = tile.load %v[%i] : !tile.view<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?x?xf32>, %i: index) {
  // expected-error @below {{expected a tile of rank 2, got 1}}
  %t = tile.load %v[%i, %i] : !tile.view<?x?xf32> -> tensor<4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected a tile of the view's element type 'f32', got 'f16'}}
  %t = tile.load %v[%i] : !tile.view<?xf32> -> tensor<4xf16>
  return
}

// -----
func.func @f(%v: !tile.view<?xi32>, %i: index) {
  // expected-error @below {{expected an element type with NaN for pad 'nan', got 'i32'}}
  %t = tile.load %v[%i] pad nan : !tile.view<?xi32> -> tensor<4xi32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected integers for pad 'all_ones', got 'f32'}}
  %t = tile.load %v[%i] pad all_ones : !tile.view<?xf32> -> tensor<4xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{result #0 must be a tile of numbers, but got 'tensor<?xf32>'}}
  %t = tile.load %v[%i] : !tile.view<?xf32> -> tensor<?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{result #0 must be a tile of numbers, but got 'tensor<0xf32>'}}
  %t = tile.load %v[%i] : !tile.view<?xf32> -> tensor<0xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %t: tensor<4xf32>) {
  // expected-error @below {{expected coordinates for rank 1, got 0}}
  tile.store %t, %v[] : tensor<4xf32>, !tile.view<?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %t: tensor<4xf32>, %i: index) {
  // expected-error @below {{expected coordinates for rank 1, got 2}}
  tile.atomic addf %t, %v[%i, %i] relaxed device : tensor<4xf32>, !tile.view<?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %t: tensor<4xf32>, %i: index) {
  // expected-error @below {{expected integers for 'maxs', got 'f32'}}
  tile.atomic maxs %t, %v[%i] relaxed device : tensor<4xf32>, !tile.view<?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected a tile of rank 1, got 2}}
  tile.prefetch %v[%i] shape [4, 4] : !tile.view<?xf32>
  return
}

// -----
func.func @f(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @below {{expected a tile of sizes of at least 1, got 0}}
  tile.prefetch %v[%i] shape [0] : !tile.view<?xf32>
  return
}
