// SPDX-License-Identifier: Apache-2.0
// Reals as text that reads back as the same number, whatever the locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rushlight {

// The fewest digits that read back as the same number of that type; always with a point, an exponent, "inf"
// or "nan".
std::string real_text(double value);
std::string real_text(float value);

// Reads all of `text` as a decimal real, "inf", "-inf" or "nan"; nothing if it is anything else or out of
// range.
std::optional<double> read_double(std::string_view text);
std::optional<float> read_float(std::string_view text);

}  // namespace rushlight
