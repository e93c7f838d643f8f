// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <filesystem>

namespace rushlight {

Result<Graph> import_model(const std::string& path, const ImportOptions& options) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".pt2") return import_pt2(path, options);
  if (extension == ".tflite" || extension == ".onnx")
    return unsupported(path, extension + " models are not supported yet; .pt2 is");
  return input_error(path,
                     (extension.empty() ? "has no extension" : "has the extension '" + extension + "'") +
                         std::string("; models are .pt2 (later also .tflite and .onnx)"));
}

}  // namespace rushlight
