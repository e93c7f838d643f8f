// SPDX-License-Identifier: Apache-2.0
// Names in source files and graphs as names in emitted C++.
#pragma once

#include <string>
#include <string_view>

namespace rushlight {

// A C++ namespace and file stem from any text, e.g. from "my-model.v2" my_model_v2: what Program::name must
// be.
std::string library_name(std::string_view text);

// The end of a C identifier from any text, e.g. from "stem.0.weight" stem_0_weight.
std::string c_identifier(std::string_view text);

}  // namespace rushlight
