// SPDX-License-Identifier: Apache-2.0
// Brings what one device needs of a registry's or web server's artifact into a layout on disk. The
// network is curl's.
#pragma once

#include <string>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

bool is_url(const std::string &word);  // http:// or https://

// Fetches the manifest REPOSITORY/manifests/TAG, the layer of programs and the delta that
// choose_layer() finds for the target into the layout in `folder`, which fetch_pack() then reads.
// With `is_signed`, also fetches the statements of keys and of the tag; the tag's statement then
// names the manifest. Blobs that the folder has are not fetched again, an interrupted blob is
// continued, and blobs that the manifest does not name are removed. Fails with Code::no_device if
// curl is not there, with Code::failed if curl fails, with Code::blob_corrupt for bytes that do not
// have their digest, and as read_manifest_json() and choose_layer() do.
Status fetch_layout(const std::string &repository, const std::string &tag,
                    const std::string &target, bool is_signed, const std::string &folder);

}  // namespace kiln::builder
