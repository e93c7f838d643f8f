// SPDX-License-Identifier: Apache-2.0
// Graphs in the form in which they print, with every construct of the text form among them.
#pragma once

#include <array>
#include <string_view>

namespace rushlight {

inline constexpr std::string_view kFloatConvGraph = R"(graph @conv_net(%x: f32[1,3,8,9]) {
  %w: f32[4,3,3,3] = constant splat 0.5
  %b: f32[4] = constant [0.5, -1.25, 1e-30, 3.0]
  %gamma: f32[4] = constant [1.0, 2.0, 3.0, 4.0]
  %mean: f32[4] = constant splat 0.0
  %var: f32[4] = constant [0.1, 0.2, 0.3, 0.4]
  %dw: f32[4,1,2,3] = constant splat -0.125
  %fc: f32[2,4] = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
  %y: f32[1,4,8,9] = aten.conv2d(%x, %w, %b) {padding=[1,1]} clamp=[0.0, 6.0]
  %n: f32[1,4,8,9] = aten.batch_norm(%y, %gamma, none, %mean, %var) {eps=0.001}
  %d: f32[1,4,5,3] = aten.conv2d(%n, %dw, none) {stride=[2,3], padding=[1,0,2,1], dilation=[2,1], groups=4}
  %r: f32[1,4,5,3] = aten.relu(%d)
  %r6: f32[1,4,5,3] = aten.relu6(%r)
  %h: f32[1,4,5,3] = aten.hardtanh(%r6) {min_val=-0.5}
  %c: f32[1,4,5,3] = aten.clamp(%h) {max=inf}
  %p: f32[1,4,3,1] = aten.avg_pool2d(%c) {kernel_size=[2,3], padding=[1,0], count_include_pad=false, divisor_override=5}
  %a: f32[1,4,2,1] = aten.adaptive_avg_pool2d(%p) {output_size=[2,1]}
  %m: f32[1,4] = aten.mean(%a) {dim=[2,-1]}
  %l: f32[1,2] = aten.linear(%m, %fc, none) clamp=[-inf, 1.0]
  return %l, %m
}
)";

inline constexpr std::string_view kMovementGraph = R"(graph @moves(%x: f32[2,3,4], %i: i64[3], %t: bool[2]) {
  %flags: bool[2] = constant [true, false]
  %bytes: u8[3] = constant [0, 255, 7]
  %shorts: i16[2] = constant [-32768, 32767]
  %ints: i32[2] = constant [-2147483648, 2147483647]
  %longs: i64[3] = constant [-9223372036854775808, 9223372036854775807, 9007199254740993]
  %halves: f16[4] = constant [0.33325195, 65504.0, nan, -0.0]
  %brains: bf16[2] = constant [1.0078125, inf]
  %doubles: f64[3] = constant [0.1, -inf, 5e-324]
  %scalar: f32[] = constant splat nan
  %e: f32[2,3,4] = aten.add(%x, %scalar) {alpha=2.5}
  %s: f32[2,3,4] = aten.sub(%e, %x) clamp=[0.0, inf]
  %v: f32[4,6] = aten.view(%s) {size=[4,-1]}
  %f: f32[2,12] = aten.flatten(%x) {start_dim=1}
  %p: f32[4,2,3] = aten.permute(%x) {dims=[2,0,-2]}
  %k: f32[4,4,3] = aten.cat(%p, %p) {dim=1}
  %o: f32[4,2,3] = aten.cat(%p)
  %dr: f32[4,2,3] = aten.dropout(%o) {p=0.25}
  %al: f32[4,2,3] = aten.alias(%dr)
  %co: f32[4,2,3] = aten.contiguous(%al)
  %la: f32[4,2,3]{channels_last} = to_layout(%co)
  %id: i64[3] = aten.add(%i, %longs)
  %hh: f16[4] = aten.sub(%halves, %halves)
  %all: f32[] = aten.mean(%x)
  return %v, %f, %k, %la, %id, %hh, %all, %flags, %bytes, %shorts, %ints, %brains, %doubles, %t
}
)";

inline constexpr std::string_view kQuantizedGraph =
    R"(graph @quantized(%x: f32[1,2,4,4], %s: i8[1,3,4,4]{channels_last}<0.25:0>) {
  %w: i8[3,2,1,1]<axis=0; 0.5:0, 0.25:0, 0.125:0; -127..127> = constant [1, -2, 3, -4, 5, -127]
  %b: i32[3]<axis=0; 0.25:0, 0.125:0, 0.0625:0> = constant [100, -200, 300]
  %raw: i8[2,3] = constant [1, 2, 3, 4, 5, 6]
  %sc: f32[2] = constant [0.5, 0.25]
  %zp: i64[2] = constant splat 0
  %fc: i8[5,48]<0.01:0; -127..127> = constant splat 3
  %q: i8[1,2,4,4]<0.5:-3> = quantize_per_tensor(%x) {scale=0.5, zero_point=-3, quant_min=-128, quant_max=127, dtype="i8"}
  %ql: i8[1,2,4,4]{channels_last}<0.5:-3> = to_layout(%q)
  %y: i8[1,3,4,4]{channels_last}<0.25:0> = aten.conv2d(%ql, %w, %b) clamp=[0.0, inf]
  %n: i8[1,3,4,4]{channels_last}<0.25:0> = aten.add(%s, %y)
  %yr: i8[1,3,4,4]<0.25:0> = to_layout(%y)
  %fl: i8[1,48]<0.25:0> = aten.flatten(%yr) {start_dim=1}
  %wide: i16[1,5]<0.001:0> = aten.linear(%fl, %fc, none)
  %rq: i8[1,5]<0.1:5> = requantize(%wide)
  %out: f32[1,5] = dequantize_per_tensor(%rq) {scale=0.1, zero_point=5, quant_min=-128, quant_max=127, dtype="i8"}
  %dc: f32[2,3] = dequantize_per_channel(%raw, %sc, %zp) {axis=0, quant_min=-127, quant_max=127, dtype="i8"}
  %d2: f32[2,3] = dequantize_per_channel(%raw, %sc, none) {axis=-2, quant_min=-127, quant_max=127, dtype="i8"}
  state %s -> %n
  return %out, %dc, %d2
}
)";

inline constexpr std::string_view kEmptyGraph = R"(graph @nothing() {
  return
}
)";

inline constexpr std::array<std::string_view, 4> kSampleGraphs = {kFloatConvGraph, kMovementGraph,
                                                                  kQuantizedGraph, kEmptyGraph};

}  // namespace rushlight
