// RUN: tile-opt --split-input-file --verify-diagnostics %s

// expected-error @below {{expected sides that are powers of two, got 3}}
#a = #tilegpu.layout<[3], lanes = [1, 2]>

// -----
// expected-error @below {{expected sides that are powers of two, got 0}}
#a = #tilegpu.layout<[0], lanes = [1, 2]>

// -----
// expected-error @below {{expected at most 1073741824 elements}}
#a = #tilegpu.layout<[1073741824, 2], lanes = [1, 2]>

// -----
// expected-error @below {{expected numbers of elements from 0 to 3, got 4}}
#a = #tilegpu.layout<[4], registers = [1], lanes = [4]>

// -----
// expected-error @below {{expected numbers of elements from 0 to 3, got -1}}
#a = #tilegpu.layout<[4], registers = [1], lanes = [2], warps = [-1]>

// -----
// expected-error @below {{expected at most 63 numbers, got 64}}
#a = #tilegpu.layout<[1], lanes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]>

// -----
// expected-error @below {{expected registers that hold no copies of each other}}
#a = #tilegpu.layout<[8], registers = [1, 2, 3], lanes = [4]>

// -----
// expected-error @below {{expected registers that hold no copies of each other}}
#a = #tilegpu.layout<[8], registers = [1, 0], lanes = [2, 4]>

// -----
// expected-error @below {{expected a place for each of the 8 elements, got places for 4}}
#a = #tilegpu.layout<[8], registers = [1], lanes = [2], warps = [3]>

// -----
// expected-error @below {{expected one of registers, lanes, warps, each once, got 'threads'}}
#a = #tilegpu.layout<[8], threads = [1, 2, 4]>

// -----
// expected-error @below {{expected one of registers, lanes, warps, each once, got 'lanes'}}
#a = #tilegpu.layout<[8], lanes = [1, 2], lanes = [4]>

// -----
// expected-error @below {{expected integer value}}
#a = #tilegpu.layout<[8], lanes = [x]>

// -----
// expected-error @below {{expected '<'}}
#a = #tilegpu.layout[8]

// -----
// expected-error @below {{expected sides that are powers of two, got 5}}
#a = #tilegpu.memory<[5], offsets = [1, 2]>

// -----
// expected-error @below {{expected numbers of elements from 0 to 3, got 4}}
#a = #tilegpu.memory<[4], offsets = [1, 4]>

// -----
// expected-error @below {{expected one place for each of the 4 elements}}
#a = #tilegpu.memory<[4], offsets = [1]>

// -----
// expected-error @below {{expected one place for each of the 8 elements}}
#a = #tilegpu.memory<[8], offsets = [1, 2, 3]>

// -----
// expected-error @below {{expected at most 63 numbers, got 64}}
#a = #tilegpu.memory<[1], offsets = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]>

// -----
// expected-error @below {{expected one of offsets, each once, got 'lanes'}}
#a = #tilegpu.memory<[4], lanes = [1, 2]>

// -----
// expected-error @below {{expected memory for a shape of [4], got [2, 2]}}
func.func private @f(!tilegpu.shared<2x2xf32, #tilegpu.memory<[4], offsets = [1, 2]>>)

// -----
// expected-error @below {{expected memory for a shape of [4], got [9]}}
func.func private @f(!tilegpu.shared<9xf32, #tilegpu.memory<[4], offsets = [1, 2]>>)

// -----
// expected-error @below {{expected an element that a tile can have, got 'tensor<4xf32>'}}
func.func private @f(!tilegpu.shared<4xtensor<4xf32>, #tilegpu.memory<[4], offsets = [1, 2]>>)

// -----
// expected-error @below {{invalid kind of attribute specified}}
func.func private @f(!tilegpu.shared<4xf32, #tilegpu.layout<[4], lanes = [1, 2]>>)
