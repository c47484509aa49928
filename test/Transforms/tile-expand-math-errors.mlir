// RUN: tile-opt %s --tile-expand-math --verify-diagnostics

func.func @unknown(%x: vector<16xf32>) -> vector<16xf32> {
  // expected-error @below {{'math.acos' op has no expansion for CPUs}}
  %0 = math.acos %x : vector<16xf32>
  return %0 : vector<16xf32>
}
