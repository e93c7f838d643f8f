// SPDX-License-Identifier: Apache-2.0
// Values as C++ source text, the same on every host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rushlight::emit {

// Bytes as adjacent string literals, one a line: GCC reads them ten times faster than an array of integers.
std::string string_literal(std::span<const std::byte> bytes);

// "{1, -2}", wrapped; INT32_MIN is written so that it is an int.
std::string int32_list(std::span<const int32_t> values);
std::string int32_literal(int32_t value);

// Shortest text that reads back as the same float32, with the suffix f.
std::string float_literal(float value);

// Text from a model, made safe for a // comment: printable ASCII, no backslash (which could continue the
// line).
std::string comment_text(std::string_view text);

// "kws" -> "KWS"
std::string upper_case(std::string_view identifier);

bool is_identifier(std::string_view text);

}  // namespace rushlight::emit
