// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "run/board.h"
#include "run/build.h"
#include "run/emulator.h"
#include "run/temporary_folder.h"
#include "run/tools.h"

namespace rushlight {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAlignment = 16;  // of every argument, as in an arena
constexpr size_t kGuardBytes = 32;
constexpr std::byte kGuard{0x3c};

// A case as the firmware's memory holds it: Params, guard, argument, guard, argument, ... A guard follows the
// last byte of what is before it; the next argument starts at the next multiple of 16 behind it.
struct Image {
  std::vector<std::byte> bytes;
  std::vector<size_t> offsets;  // of the arguments
  std::vector<bool> writable;   // of each byte: part of an output or scratch
};

Image make_image(const BoardKernelCase& item) {
  const auto& row = kernels::kKernels[item.kernel];
  Image image;
  const auto place = [&image](std::span<const std::byte> bytes, bool writable) {
    const size_t offset = image.bytes.size();
    image.bytes.insert(image.bytes.end(), bytes.begin(), bytes.end());
    const size_t end = image.bytes.size() + kGuardBytes;
    image.bytes.resize((end + kAlignment - 1) / kAlignment * kAlignment, kGuard);
    image.writable.resize(image.bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i) image.writable[offset + i] = writable;
    return offset;
  };
  place(item.params, false);
  for (size_t i = 0; i < item.arguments.size(); ++i) {
    const bool scratch = row.arguments[i].element == kernels::Element::bytes;
    image.offsets.push_back(place(item.arguments[i].bytes, item.arguments[i].output || scratch));
  }
  return image;
}

Status check_case(const BoardKernelCase& item, size_t index) {
  const std::string where = fmt::format("kernel case {}", index);
  if (item.kernel < 0 || item.kernel >= kernels::kKernelCount)
    return input_error(where, "there is no such kernel");
  const auto& row = kernels::kKernels[item.kernel];
  if (item.params.size() != static_cast<size_t>(row.params_size))
    return input_error(where, fmt::format("{} bytes of {}, which has {}", item.params.size(), row.params_type,
                                          row.params_size));
  if (item.arguments.size() != static_cast<size_t>(row.argument_count))
    return input_error(where, fmt::format("{} arguments for {}, which takes {}", item.arguments.size(),
                                          row.name, row.argument_count));
  return {};
}

void append(std::string& file, const void* bytes, size_t count) {
  file.append(static_cast<const char*>(bytes), count);
}

std::string cases_file(std::span<const Image> images, std::span<const BoardKernelCase> cases,
                       std::span<const size_t> chosen) {
  std::string file;
  const auto count = static_cast<uint32_t>(chosen.size());
  append(file, &count, sizeof count);
  for (const size_t c : chosen) {
    uint32_t header[2 + kernels::kMaxArguments] = {static_cast<uint32_t>(cases[c].kernel),
                                                   static_cast<uint32_t>(images[c].bytes.size())};
    for (size_t i = 0; i < images[c].offsets.size(); ++i)
      header[2 + i] = static_cast<uint32_t>(images[c].offsets[i]);
    append(file, header, sizeof header);
    append(file, images[c].bytes.data(), images[c].bytes.size());
  }
  return file;
}

BoardKernelResult read_result(const BoardKernelCase& item, const Image& image,
                              std::span<const std::byte> after) {
  BoardKernelResult result;
  result.canaries_intact = true;
  for (size_t i = 0; i < after.size(); ++i)
    if (!image.writable[i] && after[i] != image.bytes[i]) result.canaries_intact = false;
  for (size_t i = 0; i < item.arguments.size(); ++i) {
    if (!item.arguments[i].output) continue;
    const auto output = after.subspan(image.offsets[i], item.arguments[i].bytes.size());
    result.outputs.emplace_back(output.begin(), output.end());
  }
  return result;
}

FirmwareSource firmware_source() {
  FirmwareSource source;
  source.name = "the kernel test firmware";
  add_embedded_files(source, "run/boards/", "board/");
  add_embedded_files(source, "kernels/", "kernels/");
  source.units = {{"board/startup.c", "startup.o", {}}, {"board/kernel_runner.cpp", "runner.o", {"-I."}}};
  return source;
}

// What of the RAM is left for a case: the rest is stack and the firmware's few variables.
size_t room(const BoardRow& board) { return board.ram_bytes - board.stack_bytes - 1 * kKB; }

Status run_on(const Target& target, const BoardRow& board, std::span<const BoardKernelCase> cases,
              std::span<const Image> images, std::span<const size_t> chosen, RunOptions options,
              std::vector<BoardKernelResult>& results) {
  auto folder = TemporaryFolder::create();
  if (!folder) return forward(folder);
  if (options.keep_temporary_files) folder->keep();
  const BoardRow* boards[] = {&board};
  const auto built = build_firmware(firmware_source(), target, boards, folder->path());
  if (!built) return tl::unexpected(built.error());
  if (auto written = write_text(folder->path() / "cases.bin", cases_file(images, cases, chosen)); !written)
    return written;
  const auto counts = run_emulator(board, built->elf, folder->path(), options.limit);
  if (!counts) return tl::unexpected(counts.error());
  auto file = read_text(folder->path() / "results.bin");
  if (!file) return forward(file);

  std::span<const std::byte> rest = std::as_bytes(std::span<const char>(*file));
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Image& image = images[chosen[i]];
    if (rest.size() < image.bytes.size() || i >= counts->size())
      return unsupported("kernel test firmware", "ended without complete results");
    BoardKernelResult& result = results[chosen[i]];
    result = read_result(cases[chosen[i]], image, rest.first(image.bytes.size()));
    result.instructions = (*counts)[i].instructions;
    rest = rest.subspan(image.bytes.size());
  }
  return {};
}

}  // namespace

Result<std::vector<BoardKernelResult>> run_kernel_cases(const Target& target,
                                                        std::span<const BoardKernelCase> cases,
                                                        RunOptions options) {
  if (auto missing = missing_programs()) return input_error("this machine", *missing);
  const std::vector<const BoardRow*> boards = boards_of(target);
  std::vector<Image> images;
  std::vector<std::vector<size_t>> chosen(boards.size());  // cases of each board
  for (size_t c = 0; c < cases.size(); ++c) {
    if (auto checked = check_case(cases[c], c); !checked) return forward(checked);
    images.push_back(make_image(cases[c]));
    size_t b = 0;
    while (b + 1 < boards.size() && images[c].bytes.size() > room(*boards[b])) ++b;
    chosen[b].push_back(c);
  }
  std::vector<BoardKernelResult> results(cases.size());
  for (size_t b = 0; b < boards.size(); ++b) {
    if (chosen[b].empty()) continue;
    if (auto ran = run_on(target, *boards[b], cases, images, chosen[b], options, results); !ran)
      return forward(ran);
  }
  return results;
}

}  // namespace rushlight
