// SPDX-License-Identifier: Apache-2.0
// Appends blobs to a file that has no name any more, and reads them back by place and size.
#include "builder/jobs/spill.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace kiln::builder {
namespace {

constexpr std::size_t kFew = 4096;

packs::Descriptor nameless_file() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "kiln-spill-XXXXXX").string();
  packs::Descriptor file(error ? -1 : mkostemp(name.data(), O_CLOEXEC));
  if (file) unlink(name.c_str());
  return file;
}

}  // namespace

void Spill::take(packs::BlobSource *blob) {
  if (!blob->raw() || blob->raw()->size() < kFew || is_refused_) return;
  if (!file_) file_ = std::make_shared<const packs::Descriptor>(nameless_file());
  const std::uint64_t place = size_, size = blob->raw()->size();
  if (!*file_ || packs::write_all(file_->get(), {blob->raw()->data(), size}, place) != 0) {
    is_refused_ = true;
    return;
  }
  size_ += size;
  *blob = packs::BlobSource(blob->name(), size, [file = file_, place, size](packs::Bytes *out) {
    out->resize(size);
    std::size_t read = size;
    const int error = packs::read_all(file->get(), place, out->data(), &read);
    if (error == 0 && read == size) return packs::Status();
    return packs::Status(packs::Code::io_error,
                         std::string("temporary file: ") + std::strerror(error));
  });
}

void Spill::take(packs::Binary *binary) {
  take(&binary->blob);
  if (binary->auxiliary) take(&*binary->auxiliary);
}

}  // namespace kiln::builder
