// RUN: tile-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a result of the operand's shape, got 'tensor<4xf32>' and 'tensor<5xf16>'}}
  %y = tile.fp_to_fp %x : tensor<4xf32> -> tensor<5xf16>
  return
}

// -----
func.func @f(%x: f32) {
  // expected-error @below {{expected a result of the operand's shape, got 'f32' and 'tensor<1xi8>'}}
  %y = tile.fp_to_int %x signed : f32 -> tensor<1xi8>
  return
}

// -----
func.func @f(%x: tensor<4xi4>) {
  // expected-error @below {{expected bytes of i8, got 'i16'}}
  %y = tile.pack %x : tensor<4xi4> -> tensor<2xi16>
  return
}

// -----
func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{expected values of 4 bits, got 'i8'}}
  %y = tile.pack %x : tensor<4xi8> -> tensor<2xi8>
  return
}

// -----
func.func @f(%x: tensor<4xi4>) {
  // expected-error @below {{expected two tiles of one rank of at least 1, got 2 and 1}}
  %y = tile.pack %x : tensor<4xi4> -> tensor<1x2xi8>
  return
}

// -----
func.func @f(%x: tensor<2xi8>) {
  // expected-error @below {{expected two values for each byte of the last dimension, got 'tensor<2xi4>' and 'tensor<2xi8>'}}
  %y = tile.unpack %x : tensor<2xi8> -> tensor<2xi4>
  return
}
