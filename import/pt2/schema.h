// SPDX-License-Identifier: Apache-2.0
// The parts of torch.export's schema (major version 8) that the importer reads, as plain values. Names are as
// in the file; nothing here has been checked against anything else in the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "types/result.h"

namespace rushlight::pt2 {

inline constexpr int64_t kSchemaMajor = 8;

// A size that is known, or an expression over symbols as sympy's srepr writes it; see symbols.h.
using SymInt = std::variant<int64_t, std::string>;

struct TensorMeta {
  int64_t dtype = 0;  // torch's enum; see dtype_of_scalar_type
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;
  SymInt storage_offset = int64_t{0};
};

// What a node or the graph is given, and what it gives.
struct None {};
struct TensorName {
  std::string name;
};
// Either an integer or the name of one that a node computes.
using IntOrName = std::variant<int64_t, std::string>;
struct SymIntArgument {
  IntOrName value;
};
struct ScalarType {
  int64_t code;
};
struct OtherArgument {
  std::string tag;  // e.g. "as_graph"
};
using Argument =
    std::variant<None, TensorName, std::vector<std::optional<TensorName>>, bool, int64_t, double, std::string,
                 std::vector<IntOrName>, std::vector<double>, SymIntArgument, ScalarType, OtherArgument>;

struct NamedArgument {
  std::string name;  // of the operator's schema; empty for some that are not operators
  Argument value;
};

struct NodeSpec {
  std::string name;
  std::string target;  // without "torch.ops."
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::string source;  // "net.py:12", or empty
};

enum class InputKind : uint8_t { parameter, buffer, tensor_constant, user_input, constant_input, other };

struct InputSpec {
  InputKind kind;
  Argument argument;
  std::string target;      // the tensor's name in the model, e.g. "stem.0.weight"; of other: the tag
  bool persistent = true;  // of a buffer
};

enum class OutputKind : uint8_t { user_output, buffer_mutation, other };

struct OutputSpec {
  OutputKind kind;
  Argument argument;
  std::string target;  // of a buffer mutation: the buffer's name in the model; of other: the tag
};

struct Range {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};

struct Program {
  std::string torch_version;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<NodeSpec> nodes;
  std::map<std::string, TensorMeta, std::less<>> tensors;
  std::map<std::string, Range, std::less<>> ranges;  // by symbol
};

// `where` names the text in errors.
Result<Program> parse_program(std::string_view text, const std::string& where);

// One tensor of the weights or constants table.
struct Payload {
  std::string file;  // beside the table
  bool pickled = false;
  std::optional<TensorMeta> meta;
};
using Payloads = std::map<std::string, Payload, std::less<>>;  // by name in the model

Result<Payloads> parse_payloads(std::string_view text, const std::string& where);

}  // namespace rushlight::pt2
