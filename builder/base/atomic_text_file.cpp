// SPDX-License-Identifier: Apache-2.0
// Writes all bytes through one packs::OutputFile.
#include "builder/base/atomic_text_file.hpp"

#include "kiln/packs/output_file.hpp"

namespace kiln::builder {

Status write_whole_file(const std::string &path, std::string_view bytes) {
  packs::OutputFile file;
  if (Status s = file.open(path); !s.ok()) return s;
  const auto *data = reinterpret_cast<const std::uint8_t *>(bytes.data());
  if (Status s = file.append({data, bytes.size()}); !s.ok()) return s;
  return file.commit();
}

}  // namespace kiln::builder
