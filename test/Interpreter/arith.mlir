// RUN: tile-interpret %s --kernel integers --grid 1 --arg data:i8[8]=-128,-7,-1,0,1,7,100,127 --arg zero:i8[11,8] \
// RUN:   | FileCheck %s --check-prefix=INT
// RUN: tile-interpret %s --kernel floats --grid 1 --arg data:f32[8]=-inf,-2.5,-0.0,0.5,1.5,2.5,inf,nan \
// RUN:   --arg zero:f32[9,8] | FileCheck %s --check-prefix=FLOAT
// RUN: tile-interpret %s --kernel rounding --grid 1 --arg data:f32[4]=0.1,1e30,-3e-40,16777217 --arg zero:f32[6,4] \
// RUN:   | FileCheck %s --check-prefix=ROUND
// RUN: tile-interpret %s --kernel rounding --grid 1 --arg data:f32[4]=0.1,1e30,-3e-40,16777217 --arg zero:f32[6,4] \
// RUN:   --double | FileCheck %s --check-prefix=DOUBLE
// RUN: tile-interpret %s --kernel scales --grid 1 --arg zero:f32[2,4] | FileCheck %s --check-prefix=SCALES

// INT: 1: i8[11,8] =
// Wrapping sum and product with 100, signed and unsigned quotient by 7, remainder, floor and ceiling.
// INT-SAME: [-28, 93, 99, 100, 101, 107, -56, -29]
// INT-SAME: [0, 68, -100, 0, 100, -68, 16, -100]
// INT-SAME: [-18, -1, 0, 0, 0, 1, 14, 18]
// INT-SAME: [18, 35, 36, 0, 0, 1, 14, 18]
// INT-SAME: [-2, 0, -1, 0, 1, 0, 2, 1]
// INT-SAME: [-19, -1, -1, 0, 0, 1, 14, 18]
// INT-SAME: [-18, -1, 0, 0, 1, 1, 15, 19]
// Shifts right, minimum as unsigned, comparison as signed and unsigned.
// INT-SAME: [-64, -4, -1, 0, 0, 3, 50, 63]
// INT-SAME: [64, 124, 127, 0, 0, 3, 50, 63]
// INT-SAME: [7, 7, 7, 0, 1, 7, 7, 7]
// INT-SAME: [0, 0, 0, 0, 0, 0, -1, -1]
tile.kernel @integers(%x: !tile.view<8xi8>, %y: !tile.view<11x8xi8>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] : !tile.view<8xi8> -> tensor<8xi8>
  %hundred = arith.constant dense<100> : tensor<8xi8>
  %seven = arith.constant dense<7> : tensor<8xi8>
  %one = arith.constant dense<1> : tensor<8xi8>
  %r0 = arith.addi %t, %hundred : tensor<8xi8>
  %r1 = arith.muli %t, %hundred : tensor<8xi8>
  %r2 = arith.divsi %t, %seven : tensor<8xi8>
  %r3 = arith.divui %t, %seven : tensor<8xi8>
  %r4 = arith.remsi %t, %seven : tensor<8xi8>
  %r5 = arith.floordivsi %t, %seven : tensor<8xi8>
  %r6 = arith.ceildivsi %t, %seven : tensor<8xi8>
  %r7 = arith.shrsi %t, %one : tensor<8xi8>
  %r8 = arith.shrui %t, %one : tensor<8xi8>
  %r9 = arith.minui %t, %seven : tensor<8xi8>
  %gt = arith.cmpi sgt, %t, %seven : tensor<8xi8>
  %ugt = arith.cmpi ugt, %t, %seven : tensor<8xi8>
  %both = arith.andi %gt, %ugt : tensor<8xi1>
  %r10 = arith.extsi %both : tensor<8xi1> to tensor<8xi8>
  %e0 = tile.expand %r0 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e1 = tile.expand %r1 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e2 = tile.expand %r2 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e3 = tile.expand %r3 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e4 = tile.expand %r4 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e5 = tile.expand %r5 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e6 = tile.expand %r6 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e7 = tile.expand %r7 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e8 = tile.expand %r8 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e9 = tile.expand %r9 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %e10 = tile.expand %r10 axis 0 : tensor<8xi8> -> tensor<1x8xi8>
  %all = tile.cat %e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7, %e8, %e9, %e10 axis 0
    : tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8>,
      tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8>, tensor<1x8xi8> -> tensor<11x8xi8>
  tile.store %all, %y[%zero, %zero] : tensor<11x8xi8>, !tile.view<11x8xi8>
  tile.return
}

// FLOAT: 1: f32[9,8] =
// Maximum with 0 keeps NaN, maxnum drops it; ordered and unordered comparison; rounding; functions.
// FLOAT-SAME: [0, 0, 0, 0.5, 1.5, 2.5, inf, nan]
// FLOAT-SAME: [0, 0, 0, 0.5, 1.5, 2.5, inf, 0]
// FLOAT-SAME: [1, 1, 0, 0, 0, 0, 0, 0]
// FLOAT-SAME: [1, 1, 0, 0, 0, 0, 0, 1]
// FLOAT-SAME: [-inf, -2, -0, 0, 2, 2, inf, nan]
// FLOAT-SAME: [-inf, -3, -0, 1, 2, 3, inf, nan]
// FLOAT-SAME: [0, 0.0820849985, 1, 1.64872122, 4.48168898, 12.1824942, inf, nan]
// FLOAT-SAME: [-1, -0.986614287, -0, 0.462117165, 0.905148268, 0.986614287, 1, nan]
// FLOAT-SAME: [-inf, -4, 1, 2, 4, 6, inf, nan]
tile.kernel @floats(%x: !tile.view<8xf32>, %y: !tile.view<9x8xf32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] : !tile.view<8xf32> -> tensor<8xf32>
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %r0 = arith.maximumf %t, %z : tensor<8xf32>
  %r1 = arith.maxnumf %t, %z : tensor<8xf32>
  %olt = arith.cmpf olt, %t, %z : tensor<8xf32>
  %r2 = arith.uitofp %olt : tensor<8xi1> to tensor<8xf32>
  %ult = arith.cmpf ult, %t, %z : tensor<8xf32>
  %r3 = arith.uitofp %ult : tensor<8xi1> to tensor<8xf32>
  %r4 = math.roundeven %t : tensor<8xf32>
  %r5 = math.round %t : tensor<8xf32>
  %r6 = math.exp %t : tensor<8xf32>
  %r7 = math.tanh %t : tensor<8xf32>
  %r8 = math.fma %t, %two, %one : tensor<8xf32>
  %i = arith.constant 0 : index
  %j1 = arith.constant 1 : index
  %j2 = arith.constant 2 : index
  %j3 = arith.constant 3 : index
  %j4 = arith.constant 4 : index
  %j5 = arith.constant 5 : index
  %j6 = arith.constant 6 : index
  %j7 = arith.constant 7 : index
  %j8 = arith.constant 8 : index
  %e0 = tile.expand %r0 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e0, %y[%i, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e1 = tile.expand %r1 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e1, %y[%j1, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e2 = tile.expand %r2 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e2, %y[%j2, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e3 = tile.expand %r3 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e3, %y[%j3, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e4 = tile.expand %r4 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e4, %y[%j4, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e5 = tile.expand %r5 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e5, %y[%j5, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e6 = tile.expand %r6 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e6, %y[%j6, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e7 = tile.expand %r7 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e7, %y[%j7, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  %e8 = tile.expand %r8 axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %e8, %y[%j8, %zero] : tensor<1x8xf32>, !tile.view<9x8xf32>
  tile.return
}

// Through f16, bf16, f8E4M3FN saturating, f8E5M2; f64 to f32; a sum that f32 can't hold.
// ROUND: 1: f32[6,4] =
// ROUND-SAME: [0.0999755859, inf, -0, inf]
// ROUND-SAME: [0.100097656, 1.00025555e+30, -2.75506488e-40, 16777216]
// ROUND-SAME: [0.1015625, 448, -0, 448]
// ROUND-SAME: [0.09375, inf, -0, inf]
// ROUND-SAME: [0.100000001, 1.00000002e+30, -2.99999784e-40, 16777216]
// ROUND-SAME: [0, 0, 0, 0]
// DOUBLE: 1: f32[6,4] =
// DOUBLE-SAME: [0.100000001, 1.00000002e+30, -2.99999784e-40, 16777216]
// DOUBLE-SAME: [0.100000001, 1.00000002e+30, -2.99999784e-40, 16777216]
// DOUBLE-SAME: [0.100000001, 448, -2.99999784e-40, 448]
// DOUBLE-SAME: [0.100000001, 1.00000002e+30, -2.99999784e-40, 16777216]
// DOUBLE-SAME: [0.100000001, 1.00000002e+30, -2.99999784e-40, 16777216]
// DOUBLE-SAME: [0, 0, 0, 1]
tile.kernel @rounding(%x: !tile.view<4xf32>, %y: !tile.view<6x4xf32>) {
  %zero = arith.constant 0 : index
  %t = tile.load %x[%zero] : !tile.view<4xf32> -> tensor<4xf32>
  %h = arith.truncf %t : tensor<4xf32> to tensor<4xf16>
  %r0 = arith.extf %h : tensor<4xf16> to tensor<4xf32>
  %b = tile.fp_to_fp %t : tensor<4xf32> -> tensor<4xbf16>
  %r1 = tile.fp_to_fp %b : tensor<4xbf16> -> tensor<4xf32>
  %e = tile.fp_to_fp %t saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %r2 = tile.fp_to_fp %e : tensor<4xf8E4M3FN> -> tensor<4xf32>
  %f = tile.fp_to_fp %t : tensor<4xf32> -> tensor<4xf8E5M2>
  %r3 = tile.fp_to_fp %f : tensor<4xf8E5M2> -> tensor<4xf32>
  %d = arith.extf %t : tensor<4xf32> to tensor<4xf64>
  %r4 = arith.truncf %d : tensor<4xf64> to tensor<4xf32>
  %one = arith.constant dense<[0.0, 0.0, 0.0, 1.0]> : tensor<4xf32>
  %sum = arith.addf %t, %one : tensor<4xf32>
  %r5 = arith.subf %sum, %t : tensor<4xf32>
  %e0 = tile.expand %r0 axis 0 : tensor<4xf32> -> tensor<1x4xf32>
  %e1 = tile.expand %r1 axis 0 : tensor<4xf32> -> tensor<1x4xf32>
  %e2 = tile.expand %r2 axis 0 : tensor<4xf32> -> tensor<1x4xf32>
  %e3 = tile.expand %r3 axis 0 : tensor<4xf32> -> tensor<1x4xf32>
  %e4 = tile.expand %r4 axis 0 : tensor<4xf32> -> tensor<1x4xf32>
  %e5 = tile.expand %r5 axis 0 : tensor<4xf32> -> tensor<1x4xf32>
  %all = tile.cat %e0, %e1, %e2, %e3, %e4, %e5 axis 0 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
    tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32> -> tensor<6x4xf32>
  tile.store %all, %y[%zero, %zero] : tensor<6x4xf32>, !tile.view<6x4xf32>
  tile.return
}

// Powers of two without zero and sign: what has no number there is NaN, saturated or not.
// SCALES: 0: f32[2,4] =
// SCALES-SAME: [nan, nan, 4, nan]
// SCALES-SAME: [nan, nan, 4, 1.70141183e+38]
tile.kernel @scales(%y: !tile.view<2x4xf32>) {
  %zero = arith.constant 0 : index
  %t = arith.constant dense<[[0.0, -1.0, 3.0, 3.0e38]]> : tensor<1x4xf32>
  %a = tile.fp_to_fp %t : tensor<1x4xf32> -> tensor<1x4xf8E8M0FNU>
  %b = tile.fp_to_fp %t saturate : tensor<1x4xf32> -> tensor<1x4xf8E8M0FNU>
  %ra = tile.fp_to_fp %a : tensor<1x4xf8E8M0FNU> -> tensor<1x4xf32>
  %rb = tile.fp_to_fp %b : tensor<1x4xf8E8M0FNU> -> tensor<1x4xf32>
  %all = tile.cat %ra, %rb axis 0 : tensor<1x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  tile.store %all, %y[%zero, %zero] : tensor<2x4xf32>, !tile.view<2x4xf32>
  tile.return
}
