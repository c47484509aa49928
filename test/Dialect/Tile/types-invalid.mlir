// RUN: tile-opt --split-input-file --verify-diagnostics %s

// expected-error @below {{expected a number as element of a view, got 'index'}}
func.func private @f(!tile.view<4xindex>)

// -----
// expected-error @below {{expected a number as element of a view, got 'i3'}}
func.func private @f(!tile.view<4xi3>)

// -----
// expected-error @below {{expected strides for rank 2, got 1}}
func.func private @f(!tile.view<4x4xf32, strides = [1]>)

// -----
// expected-error @below {{expected a stride of at least 0, got -1}}
func.func private @f(!tile.view<4x4xf32, strides = [-1, 1]>)

// -----
// expected-error @below {{expected a power of two as alignment, got 48}}
func.func private @f(!tile.view<4x4xf32, align = 48>)

// -----
// expected-error @below {{expected 'strides' or 'align' once each, got 'pitch'}}
func.func private @f(!tile.view<4x4xf32, pitch = 48>)

// -----
// expected-error @below {{expected 'strides' or 'align' once each, got 'align'}}
func.func private @f(!tile.view<4x4xf32, align = 16, align = 32>)

// -----
// expected-error @below {{expected a number as pointee, got '!tile.ptr<f32>'}}
func.func private @f(!tile.ptr<!tile.ptr<f32>>)

// -----
// expected-error @below {{expected 'sizes', 'grid', 'when', 'phase', 'workspace' or 'packs', got 'size'}}
module attributes {example.a = #tile.launch<size = [0, 0]>} {}

// -----
// expected-error @below {{expected 'phase' once}}
module attributes {example.a = #tile.launch<phase = 1, phase = 2>} {}

// -----
// expected-error @below {{expected 'grid' in a launch rule}}
module attributes {example.a = #tile.launch<sizes = [0, 0]>} {}

// -----
// expected-error @below {{expected pairs of argument and dimension in 'sizes', got 3 numbers}}
module attributes {example.a = #tile.launch<sizes = [0, 0, 1], grid = affine_map<(n) -> (n)>>} {}

// -----
// expected-error @below {{expected numbers of at least 0 in 'sizes', got -1}}
module attributes {example.a = #tile.launch<sizes = [0, -1], grid = affine_map<(n) -> (n)>>} {}

// -----
// expected-error @below {{expected 'grid' with 1 dimensions and no symbols, got 2 and 0}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(m, n) -> (n)>>} {}

// -----
// expected-error @below {{expected 1 to 3 results of 'grid', got 4}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n, n, n, n)>>} {}

// -----
#set = affine_set<(m, n) : (n >= 0)>
// expected-error @below {{expected 'when' with 1 dimensions and no symbols, got 2 and 0}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n)>, when = #set>} {}

// -----
// expected-error @below {{expected the number of an argument in 'packs', got -2}}
module attributes {example.a = #tile.launch<grid = affine_map<() -> (1)>, packs = -2>} {}

// -----

// expected-error @below {{expected phase 0 of what packs an argument, got 1}}
module attributes {example.a = #tile.launch<grid = affine_map<() -> (1)>, phase = 1, packs = 0>} {}

// -----

// expected-error @below {{expected no condition and a workspace of constant size with 'packs'}}
module attributes {example.a = #tile.launch<grid = affine_map<() -> (1)>, packs = 0>} {}

// -----

#bytes = affine_map<(n) -> (n * 4)>
// expected-error @below {{expected no condition and a workspace of constant size with 'packs'}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n)>, workspace = #bytes, packs = 0>} {}

// -----

// expected-error @below {{expected a phase of at least 0, got -1}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n)>, phase = -1>} {}

// -----
#map = affine_map<(n)[s] -> (n)>
// expected-error @below {{expected 'workspace' with 1 dimensions and no symbols, got 1 and 1}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n)>, workspace = #map>} {}

// -----
#map = affine_map<(n) -> (n, n)>
// expected-error @below {{expected 1 result of 'workspace', got 2}}
module attributes {example.a = #tile.launch<sizes = [0, 0], grid = affine_map<(n) -> (n)>, workspace = #map>} {}

// -----
// expected-error @below {{expected tile dialect version 1.0 or older, got 1.7}}
module attributes {tile.version = "1.7"} {}

// -----
// expected-error @below {{expected 'tile.version' as "major.minor", got "new"}}
module attributes {tile.version = "new"} {}

// -----
// expected-error @below {{expected 'tile.version' as "major.minor", got 1 : i64}}
module attributes {tile.version = 1} {}

// -----
// expected-error @below {{expected 'tile.version' on a module only}}
func.func private @f() attributes {tile.version = "1.0"}
