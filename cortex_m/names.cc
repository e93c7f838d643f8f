// SPDX-License-Identifier: Apache-2.0
#include "cortex_m/names.h"

namespace rushlight {
namespace {

// Names that a namespace or a file stem cannot have: keywords, and names that the library itself uses.
constexpr std::string_view kReserved =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int linux long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename union unix unsigned using virtual void "
    "volatile wchar_t while xor xor_eq abort exit kernels main memcpy memset rushlight std arm "
    "printf signal ";

}  // namespace

std::string library_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool usable = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (usable || (!name.empty() && name.back() != '_')) name += usable ? c : '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "model_" + name;
  while (name.back() == '_') name.pop_back();
  if (kReserved.find(" " + name + " ") != std::string_view::npos) name += "_model";
  return name;
}

std::string c_identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name += '_';
    name += letter || digit ? c : '_';
  }
  return name.empty() ? "_" : name;
}

}  // namespace rushlight
