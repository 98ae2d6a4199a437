// SPDX-License-Identifier: Apache-2.0
// A project on the disk for tests of manifests.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "builder/manifest/manifest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace kiln::test {

using builder::Manifest;

// A folder with src/a.cl, src/b.cl and inc/, and the manifest m.toml that is read in it.
class Project {
 public:
  Project() {
    folder_.write("src/a.cl", "");
    folder_.write("src/b.cl", "");
    folder_.write("inc/x.clh", "");
  }

  std::string path(const std::string &name) const { return (folder_.path() / name).string(); }

  builder::Result<Manifest> parse(const std::string &text) const {
    return builder::parse_manifest(text, folder_.path() / "m.toml");
  }

  Manifest good(const std::string &text) const {
    auto result = parse(text);
    if (!result.ok()) FAIL(result.status().message);
    return *std::move(result);
  }

  // The error's text, without the folder's name wherever it stands.
  std::string error(const std::string &text) const {
    const auto result = parse(text);
    REQUIRE(result.status().code == builder::Code::bad_input);
    std::string found = result.status().message;
    const std::string folder = folder_.path().string() + "/";
    for (auto at = found.find(folder); at != std::string::npos; at = found.find(folder)) {
      found.erase(at, folder.size());
    }
    return found;
  }

  // The error of a manifest whose program p and variant v have these lines on top.
  std::string program_error(const std::string &lines) const {
    return error("schema = 1\n[program.p]\n" + lines +
                 "\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n");
  }
  std::string variant_error(const std::string &lines) const {
    return error("schema = 1\n[program.p.variant.v]\n" + lines + "\n");
  }
  std::string argument_error(const std::string &argument) const {
    return program_error("arguments = [\n" + argument + "\n]");
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace kiln::test
