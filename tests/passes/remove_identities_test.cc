// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

TEST(RemoveIdentities, ChainsDisappear) {
  expect_becomes(remove_identities, R"(graph @g(%x: f32[2,3]) {
    %a: f32[2,3] = aten.dropout(%x)
    %b: f32[2,3] = aten.alias(%a)
    %c: f32[2,3] = aten.contiguous(%b)
    %d: f32[2,3] = aten.view(%c) {size=[2,-1]}
    %e: f32[2,3] = aten.flatten(%d) {start_dim=1}
    %y: f32[2,3] = aten.relu(%e)
    return %y, %a })",
                 R"(graph @g(%x: f32[2,3]) {
    %y: f32[2,3] = aten.relu(%x)
    return %y, %x })");
}

TEST(RemoveIdentities, StateUpdatesAreFollowed) {
  expect_becomes(remove_identities,
                 "graph @g(%x: f32[2], %s: f32[2]) { %a: f32[2] = aten.alias(%x) state %s -> %a return %s }",
                 "graph @g(%x: f32[2], %s: f32[2]) { state %s -> %x return %s }");
}

TEST(RemoveIdentities, RequantizeToTheSameParametersWithoutClamp) {
  expect_becomes(remove_identities, R"(graph @g(%x: i8[4]<0.5:1>) {
    %y: i8[4]<0.5:1> = requantize(%x)
    return %y })",
                 "graph @g(%x: i8[4]<0.5:1>) { return %x }");
}

TEST(RemoveIdentities, WhatChangesSomethingStays) {
  for (const auto* text :
       {"graph @g(%x: f32[2,3]) { %y: f32[6] = aten.view(%x) {size=[6]} return %y }",
        "graph @g(%x: i8[4]<0.5:1>) { %y: i8[4]<0.5:2> = requantize(%x) return %y }",
        "graph @g(%x: i8[4]<0.5:1>) { %y: i8[4]<0.5:1; -127..127> = requantize(%x) return %y }",
        "graph @g(%x: i8[4]<0.5:1>) { %y: i8[4]<0.5:1> = requantize(%x) clamp=[0.0, inf] return %y }",
        "graph @g(%x: f32[1,2,3,4]) { %y: f32[1,2,3,4]{channels_last} = to_layout(%x) return %y }",
        "graph @g(%x: f32[2,2]) { %y: f32[2,2] = aten.permute(%x) {dims=[1,0]} return %y }",
        "graph @g(%x: f32[2]) { %y: f32[2] = aten.cat(%x) return %y }"})
    expect_stays(remove_identities, text);
}

TEST(RemoveIdentities, TrainingDropoutIsRefused) {
  expect_refused(
      remove_identities, "graph @g(%x: f32[2]) { %y: f32[2] = aten.dropout(%x) {train=true} return %y }",
      "node 'y' (aten.dropout) at line 1: is in training mode; export the model after model.eval()");
}

}  // namespace
}  // namespace rushlight
