#include "builder/base/atomic_text_file.hpp"

#include "kiln/packs/output_file.hpp"

namespace kiln::builder {

std::string write_whole_file(const std::string &path, std::string_view bytes) {
  packs::OutputFile file;
  if (packs::Status s = file.open(path); !s.ok()) return s.message;
  const auto *data = reinterpret_cast<const std::uint8_t *>(bytes.data());
  if (packs::Status s = file.append({data, bytes.size()}); !s.ok()) return s.message;
  const packs::Status status = file.commit();
  return status.ok() ? std::string() : status.message;
}

}  // namespace kiln::builder
