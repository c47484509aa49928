// RUN: tile-opt --split-input-file --verify-diagnostics %s

#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[2], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected as many results as operands, got 2 and 1}}
  %r, %q = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<2xf32, #s>, tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[2], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected an axis below 1, got 1}}
  %r = tilegpu.reduce_in_warps %x axis 1 : tensor<4xf32, #a> -> tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#b = #tilegpu.layout<[4], lanes = [2], warps = [1]>
#s = #tilegpu.layout<[2], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>, %y: tensor<4xf32, #b>) {
  // expected-error @below {{expected operands of one shape and layout and results of their rank, got}}
  %r, %q = tilegpu.reduce_in_warps %x, %y axis 0
    : tensor<4xf32, #a>, tensor<4xf32, #b> -> tensor<2xf32, #s>, tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f32, %n: f32, %o: f32):
    tilegpu.yield %l, %m : f32, f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[], lanes = [0], warps = [0]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected operands of one shape and layout and results of their rank, got}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<f32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[2], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected results of their operands' element types, got}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<2xf64, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4, 2], registers = [1], lanes = [2], warps = [4]>
#s = #tilegpu.layout<[2, 1], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4x2xf32, #a>) {
  // expected-error @below {{expected one element for each share along the axis, got}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4x2xf32, #a> -> tensor<2x1xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[2], lanes = [1], warps = [0]>
#s = #tilegpu.layout<[4], lanes = [1], warps = [2]>
func.func @f(%x: tensor<2xf32, #a>) {
  // expected-error @below {{expected one element for each share along the axis, got}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<2xf32, #a> -> tensor<4xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[8], lanes = [1, 2], warps = [4]>
#s = #tilegpu.layout<[2], lanes = [0, 0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected a layout for the tile's shape, rounded up, got 'tensor<4xf32}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[2], lanes = [0, 0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected layouts over the same lanes and warps, got}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[2], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected a combining region with arguments ('f32', 'f32'), got ('f32', 'f64')}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f64):
    tilegpu.yield %l : f32
  }
  return
}

// -----
#a = #tilegpu.layout<[4], lanes = [1], warps = [2]>
#s = #tilegpu.layout<[2], lanes = [0], warps = [1]>
func.func @f(%x: tensor<4xf32, #a>) {
  // expected-error @below {{expected a combining region that yields ('f32')}}
  %r = tilegpu.reduce_in_warps %x axis 0 : tensor<4xf32, #a> -> tensor<2xf32, #s> {
  ^bb0(%l: f32, %m: f32):
    tilegpu.yield %l, %m : f32, f32
  }
  return
}

// -----
func.func @f(%x: f32) {
  // expected-error @below {{'tilegpu.yield' op expects parent op 'tilegpu.reduce_in_warps'}}
  tilegpu.yield %x : f32
}
