// SPDX-License-Identifier: Apache-2.0
// The table of models, and the environment in which Mesa acts as one.
#include "builder/virtual/mesa.hpp"

#include <algorithm>
#include <set>

#include "builder/virtual/driver_root.hpp"
#include "builder/virtual/virtual_devices.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

// Whether the words follow one another in the list.
bool has_words(const std::vector<std::string> &list, const std::vector<std::string> &words) {
  return std::search(list.begin(), list.end(), words.begin(), words.end()) != list.end();
}

}  // namespace

TEST_CASE("each model of Mesa has a name and a GPU of its own") {
  std::set<std::string_view> names;
  std::set<std::pair<std::string_view, std::string_view>> gpus;
  for (const MesaModel &model : mesa_models()) {
    CAPTURE(model.name);
    CHECK(names.insert(model.name).second);
    CHECK(gpus.insert({model.driver->gallium, model.value}).second);
    CHECK(find_mesa_model(model.name) == &model);
    CHECK(model.name.find_first_of(":, ") == std::string_view::npos);
    CHECK(!model.marketing.empty());
  }
  REQUIRE(find_mesa_model("vangogh") != nullptr);
  CHECK(find_mesa_model("vangogh")->marketing == "Steam Deck");
  CHECK(find_mesa_model("fd740")->value == "740");
  CHECK(find_mesa_model("Vangogh") == nullptr);
}

TEST_CASE("models of Mesa are asked for by name") {
  const auto spec = parse_virtual_spec("mesa:vangogh,fd740");
  REQUIRE(spec.ok());
  CHECK(spec->backend == "mesa");
  CHECK(spec->models == std::vector<std::string>{"vangogh", "fd740"});
  const Status unknown = parse_virtual_spec("mesa:vangough").status();
  CHECK(unknown.code == Code::bad_argument);
  CHECK(unknown.message.ends_with("did you mean \"vangogh\"?"));
  for (const char *text : {"mesa", "mesa:", "mesa:,navi31", "mesa:skl", "neo:vangogh"}) {
    CAPTURE(text);
    CHECK(parse_virtual_spec(text).status().code == Code::bad_argument);
  }
}

TEST_CASE("the shim is loaded into the process that acts as the GPU, and into no other") {
  MesaRoot mesa{"", "/usr/lib/libRusticlOpenCL.so.1"};
  const MesaModel &model = *find_mesa_model("fd740");
  const auto here =
      mesa_request(mesa, model, "/usr/lib/shim.so", "/tmp/a/driver.icd", {"devices"}, "");
  CHECK(here.arguments == std::vector<std::string>{"devices"});
  using Variable = std::pair<std::string, std::optional<std::string>>;
  const auto has = [](const ProcessRequest &request, const Variable &variable) {
    const auto &all = request.environment;
    return std::find(all.begin(), all.end(), variable) != all.end();
  };
  CHECK(has(here, {"LD_PRELOAD", "/usr/lib/shim.so"}));
  CHECK(has(here, {"RUSTICL_ENABLE", "freedreno"}));
  CHECK(has(here, {"FD_GPU_ID", "740"}));
  CHECK(has(here, {"OCL_ICD_VENDORS", "/tmp/a/driver.icd"}));

  mesa.root = "/other";
  mesa.sandbox = "/usr/bin/bwrap";
  const auto inside = mesa_request(mesa, model, "/other/usr/lib/shim.so", "/tmp/a/driver.icd",
                                   {"build", "x.kiln"}, "/tmp/job");
  CHECK(inside.program == "/usr/bin/bwrap");
  CHECK(inside.environment.empty());
  CHECK(has_words(inside.arguments, {"--setenv", "LD_PRELOAD", "/usr/lib/shim.so"}));
  CHECK(has_words(inside.arguments, {"--setenv", "FD_GPU_ID", "740"}));
  CHECK(has_words(inside.arguments, {"--setenv", "KILN_LISTED_CACHES", "/tmp/job/listed"}));
  CHECK(has_words(inside.arguments, {"--ro-bind", here.program.string(), "/.kiln/kiln"}));
  CHECK(has_words(inside.arguments, {"--bind", "/tmp/job", "/tmp/job"}));
  CHECK(has_words(inside.arguments, {"--dev", "/dev"}));
  CHECK(has_words(inside.arguments, {"--", "/.kiln/kiln", "build", "x.kiln"}));

  mesa.program = "/home/arm64/kiln";
  mesa.emulator = "/usr/bin/qemu-aarch64-static";
  const auto emulated =
      mesa_request(mesa, model, "/other/usr/lib/shim.so", "/tmp/a/driver.icd", {"devices"}, "");
  CHECK(has_words(emulated.arguments, {"--ro-bind", "/home/arm64/kiln", "/.kiln/kiln"}));
  CHECK(has_words(emulated.arguments,
                  {"--ro-bind", "/usr/bin/qemu-aarch64-static", "/.kiln/emulator"}));
  CHECK(has_words(emulated.arguments, {"--", "/.kiln/emulator", "/.kiln/kiln", "devices"}));
}

TEST_CASE("a Kiln of the root's architecture must be a program") {
  CHECK(find_mesa("/", "/nowhere/kiln").status().code == Code::bad_argument);
  CHECK(emulator_of("/proc/self/exe").empty());
}

TEST_CASE("a missing shim is named with its package") {
  const MesaRoot mesa{"", "/nowhere/libRusticlOpenCL.so.1"};
  const auto message = [&](const char *model) {
    const Status status = mesa_device(mesa, model).status();
    CHECK(status.code == Code::no_device);
    return status.message;
  };
  CHECK(message("vangogh") ==
        "there is no libamdgpu_noop_drm_shim.so on this machine: Debian's mesa-drm-shim has it");
  CHECK(message("g57").find("arm64's Mesa") != std::string::npos);
  CHECK(mesa_device(mesa, "nosuch").status().code == Code::bad_argument);
}
