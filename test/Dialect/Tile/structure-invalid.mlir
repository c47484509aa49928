// RUN: tile-opt --split-input-file --verify-diagnostics %s

// expected-error @below {{expected no results, got 1}}
tile.kernel @f() -> f32 {
  tile.return
}

// -----
// expected-error @below {{expected a view, pointer, number or index as argument 1, got 'tensor<4xf32>'}}
tile.kernel @f(%a: index, %b: tensor<4xf32>) {
  tile.return
}

// -----
// expected-error @below {{expected launch sizes of 1 arguments, got argument 1}}
tile.kernel @f(%a: !tile.view<?xf32>) launch <sizes = [1, 0], grid = affine_map<(n) -> (n)>> {
  tile.return
}

// -----
// expected-error @below {{expected launch sizes of views, got argument 0 of type 'index'}}
tile.kernel @f(%a: index) launch <sizes = [0, 0], grid = affine_map<(n) -> (n)>> {
  tile.return
}

// -----
// expected-error @below {{expected a launch size within rank 1, got dimension 1}}
tile.kernel @f(%a: !tile.view<?xf32>) launch <sizes = [0, 1], grid = affine_map<(n) -> (n)>> {
  tile.return
}

// -----
// expected-error @below {{expected a view to pack, got argument 1}}
tile.kernel @f(%a: !tile.view<4xf32>, %w: !tile.ptr<i8>)
    launch <grid = affine_map<() -> (1)>, workspace = affine_map<() -> (4)>, packs = 1> {
  tile.return
}

// -----

// expected-error @below {{expected the workspace as last argument of type '!tile.ptr<i8>', got '!tile.ptr<f32>'}}
tile.kernel @f(%a: !tile.ptr<f32>) launch <grid = affine_map<() -> (1)>, workspace = affine_map<() -> (4)>> {
  tile.return
}

// -----
func.func @f() {
  // expected-error @below {{expects parent op 'tile.kernel'}}
  tile.return
}

// -----
func.func @f() {
  // expected-error @below {{expects parent op to be one of 'tile.reduce, tile.scan'}}
  tile.yield
}

// -----
func.func @f() {
  // expected-error @below {{failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative whose maximum value is 2}}
  %i = tile.program_id 3
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @below {{expected at least one of 'divisible', 'min', 'max' and 'equal'}}
  %m = tile.assume %n : index
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @below {{expected 'divisible' of at least 1, got 0}}
  %m = tile.assume %n divisible 0 : index
  return
}

// -----
func.func @f(%p: !tile.ptr<f32>) {
  // expected-error @below {{expected only 'divisible' for a pointer}}
  %m = tile.assume %p divisible 16 min 0 : !tile.ptr<f32>
  return
}

// -----
func.func @f(%n: i32) {
  // expected-error @below {{expected 'min' of at most 'max', got 5 and 4}}
  %m = tile.assume %n min 5 max 4 : i32
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected a dictionary for each back end, got 4 : i64 for 'cpu'}}
  tile.hint {cpu = 4}
  return
}

// -----
func.func @f(%c: i32) {
  // expected-error @below {{operand #0 must be 1-bit signless integer or a tile of i1, but got 'i32'}}
  tile.assert %c, "c" : i32
  return
}

// -----
func.func @f(%c: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be variadic of a tile of numbers or a number or index, but got 'tensor<?xf32>'}}
  tile.print "c", %c : tensor<?xf32>
  return
}
