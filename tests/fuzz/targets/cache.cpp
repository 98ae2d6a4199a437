// SPDX-License-Identifier: Apache-2.0
// Files of applications' caches: OpenCV's.
#include <cstdlib>

#include "builder/caches/opencv.hpp"
#include "builder/caches/pyopencl.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

constexpr char kHash[] = "24efcb2109749c496118ca8bb46cd4f9";  // as in the seed

packs::View view_of(const std::string &text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

void opencv(packs::View bytes) {
  const auto entries = read_opencv_file(bytes, kHash);
  if (!entries.ok()) return;
  const auto written = opencv_file(*entries, kHash);
  if (!written.ok() || written->size() > bytes.size) std::abort();
  const auto again = read_opencv_file(view_of(*written), kHash);
  if (!again.ok() || again->size() != entries->size()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  opencv({data, size});
  const std::string text(reinterpret_cast<const char *>(data), size);
  (void)pyopencl_source(text);
  (void)own_text(text);
  return 0;
}
