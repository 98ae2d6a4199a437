// SPDX-License-Identifier: Apache-2.0
// For builds without zstd.
#include "packs/read/frames.hpp"

namespace kiln::packs {
namespace {

Status refused() {
  return Status::error(Code::unknown_feature,
                       "this is compressed, and Kiln was built without zstd: 'kiln pack slice "
                       "--compress none' makes a pack that it reads");
}

}  // namespace

FrameDecoder::FrameDecoder() : context_(nullptr) {}
FrameDecoder::~FrameDecoder() = default;

Status FrameDecoder::decode(View /*base*/, View /*stored*/, std::uint64_t /*raw_size*/,
                            Bytes * /*out*/) {
  return refused();
}

Status unpack_part(View /*stored*/, std::uint64_t /*limit*/, Code /*malformed*/,
                   std::unique_ptr<std::uint8_t[]> * /*own*/, View * /*out*/) {
  return refused();
}

}  // namespace kiln::packs
