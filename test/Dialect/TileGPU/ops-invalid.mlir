// RUN: tile-opt --split-input-file --verify-diagnostics %s

#a = #tilegpu.layout<[4], lanes = [1, 2]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected one shape and element type, got}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #a> -> tensor<4xf16, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected one shape and element type, got}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #a> -> tensor<3xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#b = #tilegpu.layout<[8], lanes = [1, 2, 4]>
func.func @f(%x: tensor<4xf32, #b>) {
  // expected-error @below {{expected a layout for the tile's shape, rounded up, got 'tensor<4xf32}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #b> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#b = #tilegpu.layout<[2, 2], lanes = [1, 2]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected a layout for the tile's shape, rounded up, got 'tensor<4xf32}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #a> -> tensor<4xf32, #b>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#b = #tilegpu.layout<[4], lanes = [1, 2, 0]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected layouts over the same lanes and warps, got}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #a> -> tensor<4xf32, #b>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operand #0 must be a tile with a layout, but got 'tensor<4xf32>'}}
  %y = tilegpu.convert_layout %x : tensor<4xf32> -> tensor<4xf32, #a>
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected an offset that is a multiple of 16, got 8}}
  %s = tilegpu.shared_alloc offset 8 : !tilegpu.shared<4xf32, #tilegpu.memory<[4], offsets = [1, 2]>>
  return
}

// -----
func.func @f() {
  // expected-error @below {{expected an offset that is a multiple of 16, got -16}}
  %s = tilegpu.shared_alloc offset -16 : !tilegpu.shared<4xf32, #tilegpu.memory<[4], offsets = [1, 2]>>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[8], offsets = [1, 2, 4]>
func.func @f(%x: tensor<4xf32, #a>, %s: !tilegpu.shared<8xf32, #m>) {
  // expected-error @below {{expected as many elements of one type, got}}
  tilegpu.shared_store %x, %s : tensor<4xf32, #a>, !tilegpu.shared<8xf32, #m>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%x: tensor<4xf32, #a>, %s: !tilegpu.shared<4xi32, #m>) {
  // expected-error @below {{expected as many elements of one type, got}}
  tilegpu.shared_store %x, %s : tensor<4xf32, #a>, !tilegpu.shared<4xi32, #m>
  return
}

// -----
#a = #tilegpu.layout<[8], lanes = [1, 2, 4]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%x: tensor<4xf32, #a>, %s: !tilegpu.shared<4xf32, #m>) {
  // expected-error @below {{expected a layout for the tile's shape, rounded up, got 'tensor<4xf32}}
  tilegpu.shared_store %x, %s : tensor<4xf32, #a>, !tilegpu.shared<4xf32, #m>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: index) {
  // expected-error @below {{expected one rank and element type, got}}
  %x = tilegpu.shared_load %s[%i] : !tilegpu.shared<4xf32, #m> -> tensor<4xf16, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[2, 2], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<2x2xf32, #m>, %i: index) {
  // expected-error @below {{expected one rank and element type, got}}
  %x = tilegpu.shared_load %s[%i] : !tilegpu.shared<2x2xf32, #m> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: index) {
  // expected-error @below {{expected 1 coordinates, got 2}}
  %x = tilegpu.shared_load %s[%i, %i] : !tilegpu.shared<4xf32, #m> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[8], lanes = [1, 2, 4]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: index) {
  // expected-error @below {{expected a part of '!tilegpu.shared<4xf32}}
  %x = tilegpu.shared_load %s[%i] : !tilegpu.shared<4xf32, #m> -> tensor<8xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[2], lanes = [1, 0]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: index) {
  // expected-error @below {{expected a layout for the tile's shape, rounded up, got 'tensor<4xf32}}
  %x = tilegpu.shared_load %s[%i] : !tilegpu.shared<4xf32, #m> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: tensor<4xi32, #a>) {
  // expected-error @below {{expected one element type and rank, or a place of rank 1, got}}
  %x = tilegpu.shared_gather %s[%i] axis 0 : !tilegpu.shared<4xf32, #m>, tensor<4xi32, #a> -> tensor<4xf64, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[2, 2], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<2x2xf32, #m>, %i: tensor<4xi32, #a>) {
  // expected-error @below {{expected one element type and rank, or a place of rank 1, got}}
  %x = tilegpu.shared_gather %s[%i] axis 0 : !tilegpu.shared<2x2xf32, #m>, tensor<4xi32, #a> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#b = #tilegpu.layout<[4], lanes = [2, 1]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: tensor<4xi32, #a>) {
  // expected-error @below {{expected indices of the result's shape and layout, got}}
  %x = tilegpu.shared_gather %s[%i] axis 0 : !tilegpu.shared<4xf32, #m>, tensor<4xi32, #a> -> tensor<4xf32, #b>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: tensor<4xf32, #a>) {
  // expected-error @below {{expected integers as indices, got}}
  %x = tilegpu.shared_gather %s[%i] axis 0 : !tilegpu.shared<4xf32, #m>, tensor<4xf32, #a> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1, 2]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: tensor<4xi32, #a>) {
  // expected-error @below {{expected an axis below 1, got 1}}
  %x = tilegpu.shared_gather %s[%i] axis 1 : !tilegpu.shared<4xf32, #m>, tensor<4xi32, #a> -> tensor<4xf32, #a>
  return
}

// -----
#a = #tilegpu.layout<[2], lanes = [1, 0]>
#m = #tilegpu.memory<[4], offsets = [1, 2]>
func.func @f(%s: !tilegpu.shared<4xf32, #m>, %i: tensor<4xi32, #a>) {
  // expected-error @below {{expected a layout for the tile's shape, rounded up, got 'tensor<4xf32}}
  %x = tilegpu.shared_gather %s[%i] axis 0 : !tilegpu.shared<4xf32, #m>, tensor<4xi32, #a> -> tensor<4xf32, #a>
  return
}
