// SPDX-License-Identifier: Apache-2.0
// What a row of the kernel table holds, and how a row is made from a kernel's function: its arguments, a call
// through untyped pointers, and a walk over its Params come from the function's type.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

// `exact` rows do not round and serve programs of either mode.
enum class Mode : uint8_t { single_, double_, exact };

// none: outputs and inputs share no memory. elementwise: an output may be exactly the memory of an input of
// the output's shape (dense, not broadcast); other inputs stay apart from it.
enum class Overlap : uint8_t { none, elementwise };

// `bytes`: scratch, from a `void*` argument; it counts as neither input nor output.
enum class Element : uint8_t { i8, i16, i32, i64, f32, bytes };
struct Argument {
  Element element;
  bool output;
};
inline constexpr int kMaxArguments = 8;

// Receives the fields of a Params in order; derive from it to carry state.
// `count` is 0 for a plain field, the extent for an array. begin_struct
// and end_struct enclose a nested struct; the outermost is not announced.
struct FieldSink {
  void (*begin_struct)(FieldSink& self, const char* name);
  void (*ints)(FieldSink& self, const char* name, const int32_t* values, int32_t count);
  void (*end_struct)(FieldSink& self);
};

struct KernelRow {
  const char* name;     // "quantized_add_s8"
  char expression[64];  // what to call in namespace rushlight::kernels: "quantized_add_s8<Single>"
  Mode mode;
  const char* dialect;      // "cortex_m::quantized_add"
  const char* header;       // "kernels/add.h"
  const char* params_type;  // "AddSingleParams"
  int32_t params_size;      // in bytes
  Overlap overlap;
  int32_t argument_count;
  Argument arguments[kMaxArguments];
  void (*invoke)(const void* params, void* const* arguments);
  void (*visit)(const void* params, FieldSink& sink);
};

constexpr bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

namespace table {

template <class T>
struct ArgumentOf;
template <>
struct ArgumentOf<const int8_t*> {
  static constexpr Argument value{Element::i8, false};
};
template <>
struct ArgumentOf<int8_t*> {
  static constexpr Argument value{Element::i8, true};
};
template <>
struct ArgumentOf<const int16_t*> {
  static constexpr Argument value{Element::i16, false};
};
template <>
struct ArgumentOf<int16_t*> {
  static constexpr Argument value{Element::i16, true};
};
template <>
struct ArgumentOf<const int32_t*> {
  static constexpr Argument value{Element::i32, false};
};
template <>
struct ArgumentOf<int32_t*> {
  static constexpr Argument value{Element::i32, true};
};
template <>
struct ArgumentOf<const int64_t*> {
  static constexpr Argument value{Element::i64, false};
};
template <>
struct ArgumentOf<const float*> {
  static constexpr Argument value{Element::f32, false};
};
template <>
struct ArgumentOf<float*> {
  static constexpr Argument value{Element::f32, true};
};
template <>
struct ArgumentOf<void*> {
  static constexpr Argument value{Element::bytes, false};
};

// Counts the integers that `visit` names; a field of any other type does not compile.
struct IntCounter {
  int32_t count = 0;
  constexpr void operator()(const char*, const int32_t&) { ++count; }
  template <int n>
  constexpr void operator()(const char*, const int32_t (&)[n]) {
    count += n;
  }
  template <class Struct>
  constexpr void operator()(const char*, const Struct& nested) {
    Struct::visit(nested, *this);
  }
};

template <class Params>
constexpr int32_t visited_ints() {
  const Params params{};
  IntCounter counter;
  Params::visit(params, counter);
  return counter.count;
}

struct SinkVisitor {
  FieldSink& sink;
  void operator()(const char* name, const int32_t& field) { sink.ints(sink, name, &field, 0); }
  template <int n>
  void operator()(const char* name, const int32_t (&field)[n]) {
    sink.ints(sink, name, field, n);
  }
  template <class Struct>
  void operator()(const char* name, const Struct& nested) {
    sink.begin_struct(sink, name);
    Struct::visit(nested, *this);
    sink.end_struct(sink);
  }
};

template <int... kIndex>
struct Indices {};
template <int n, int... kIndex>
struct MakeIndices : MakeIndices<n - 1, n - 1, kIndex...> {};
template <int... kIndex>
struct MakeIndices<0, kIndex...> {
  using type = Indices<kIndex...>;
};

template <auto kFunction>
struct Glue;

template <class Params, class... Args, void (*kFunction)(const Params&, Args...)>
struct Glue<kFunction> {
  static_assert(__is_trivially_copyable(Params) && __is_standard_layout(Params) && __is_aggregate(Params));
  static_assert(sizeof(Params) == 4 * visited_ints<Params>(),
                "Params must list every field in visit, all int32_t");
  static_assert(sizeof...(Args) <= kMaxArguments);

  template <int... kIndex>
  static void call(const Params& params, void* const* arguments, Indices<kIndex...>) {
    kFunction(params, static_cast<Args>(arguments[kIndex])...);
  }
  static void invoke(const void* params, void* const* arguments) {
    call(*static_cast<const Params*>(params), arguments, typename MakeIndices<sizeof...(Args)>::type{});
  }
  static void visit(const void* params, FieldSink& sink) {
    Params::visit(*static_cast<const Params*>(params), SinkVisitor{sink});
  }
  static constexpr void describe(KernelRow& kernel) {
    kernel.params_size = sizeof(Params);
    ((kernel.arguments[kernel.argument_count++] = ArgumentOf<Args>::value), ...);
    kernel.invoke = invoke;
    kernel.visit = visit;
  }
};

}  // namespace table

// One row of the table from the kernel's function and what its type does not say. The name must be the
// function's, so that name and mode spell the call.
template <auto kFunction>
constexpr KernelRow row(const char* name, Mode mode, const char* dialect, const char* header,
                        const char* params_type, Overlap overlap) {
  KernelRow kernel{};
  kernel.name = name;
  int length = 0;
  const char* tag = mode == Mode::single_ ? "<Single>" : mode == Mode::double_ ? "<Double>" : "";
  for (const char* c = name; *c != 0; ++c) kernel.expression[length++] = *c;
  for (const char* c = tag; *c != 0; ++c) kernel.expression[length++] = *c;
  kernel.mode = mode;
  kernel.dialect = dialect;
  kernel.header = header;
  kernel.params_type = params_type;
  kernel.overlap = overlap;
  table::Glue<kFunction>::describe(kernel);
  return kernel;
}

}  // namespace rushlight::kernels
