// RUN: tile-opt --split-input-file --verify-diagnostics %s

func.func @f(%a: tensor<4xf32>, %b: tensor<4x4xf32>) {
  // expected-error @below {{expected tiles of rank 2, got 'tensor<4xf32>'}}
  %r = tile.dot %a, %b, %b : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----
func.func @f(%a: tensor<4x3xf32>, %b: tensor<4x4xf32>) {
  // expected-error @below {{expected 3 rows of b, got 4}}
  %r = tile.dot %a, %b, %b : tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----
func.func @f(%a: tensor<5x4xf32>, %b: tensor<4x4xf32>) {
  // expected-error @below {{expected an accumulator of 5x4, got 4x4}}
  %r = tile.dot %a, %b, %b : tensor<5x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----
func.func @f(%a: tensor<4x4xf16>, %b: tensor<4x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @below {{expected operands of one element type (i8, f64, f32, f16, bf16 or 8-bit floats), got 'f16' and 'bf16'}}
  %r = tile.dot %a, %b, %c : tensor<4x4xf16>, tensor<4x4xbf16>, tensor<4x4xf32>
  return
}

// -----
func.func @f(%a: tensor<4x4xf16>, %c: tensor<4x4xf16>) {
  // expected-error @below {{expected an accumulator of 'f32', got 'f16'}}
  %r = tile.dot %a, %a, %c : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>
  return
}

// -----
func.func @f(%a: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @below {{expected f32 operands for precision 'tf32', got 'f16'}}
  %r = tile.dot %a, %a, %c precision tf32 : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>
  return
}

// -----
func.func @f(%a: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @below {{expected integers for 'unsigned_a' and 'unsigned_b', got 'f16'}}
  %r = tile.dot %a, %a, %c unsigned_b : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected 1 or more operands, but found 0}}
  "tile.reduce"() <{axis = 0 : i64}> ({
    tile.yield
  }) : () -> ()
  return
}

// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{requires the same shape for all operands}}
  %r:2 = tile.reduce %x, %y axis 0 : tensor<4xf32>, tensor<5xf32> -> tensor<f32>, tensor<f32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected 1 results, got 2}}
  %r:2 = tile.reduce %x axis 0 : tensor<4xf32> -> tensor<f32>, tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected an axis below 1, got 1}}
  %r = tile.reduce %x axis 1 : tensor<4xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4x5xf32>) {
  // expected-error @below {{expected a result of 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = tile.reduce %x axis 1 : tensor<4x5xf32> -> tensor<5xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a region with 2 arguments, got 1}}
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> tensor<f32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'f32' as region argument 1, got 'f16'}}
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f16):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a region that ends in a yield of 'f32'}}
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    // expected-note @below {{the region ends here}}
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{expected a pure region, got 'tile.assert'}}
  %r = tile.reduce %x axis 0 : tensor<4xi1> -> tensor<i1> {
  ^bb0(%a: i1, %b: i1):
    // expected-note @below {{this operation has effects}}
    tile.assert %a, "a" : i1
    tile.yield %a : i1
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected an axis below 1, got 3}}
  %r = tile.scan %x axis 3 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a result of 'tensor<4xf32>', got 'tensor<4xi32>'}}
  %r = tile.scan %x axis 0 : tensor<4xf32> -> tensor<4xi32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a region with 2 arguments, got 3}}
  %r = tile.scan %x axis 0 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32):
    tile.yield %a : f32
  }
  return
}
