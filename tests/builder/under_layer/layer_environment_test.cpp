// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/layer_environment.hpp"

#include <cstdlib>
#include <optional>

#include "builder/process/run_tool.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

// Unsets what the tests of Mesa's variables set, and puts back what was there.
class MesaEnvironment {
 public:
  MesaEnvironment() {
    for (const char *name : kNames) {
      const char *value = std::getenv(name);
      before_.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
      unsetenv(name);
    }
  }
  MesaEnvironment(const MesaEnvironment &) = delete;
  MesaEnvironment &operator=(const MesaEnvironment &) = delete;
  ~MesaEnvironment() {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      before_[i] ? setenv(kNames[i], before_[i]->c_str(), 1) : unsetenv(kNames[i]);
    }
  }

 private:
  static constexpr const char *kNames[] = {"HOME",
                                           "XDG_CACHE_HOME",
                                           "MESA_SHADER_CACHE_DIR",
                                           "MESA_SHADER_CACHE_DISABLE",
                                           "MESA_DISK_CACHE_SINGLE_FILE",
                                           "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS"};
  std::vector<std::optional<std::string>> before_;
};

const Variables kHard = {{"KILN_A", "a 'b' \"c\" \\ $HOME `d` 100% e"}};

}  // namespace

TEST_CASE("variables name what is set, and keep other layers and preloaded libraries",
          "[layer_environment]") {
  LayerEnvironment environment;
  environment.layer = "/l.so";
  environment.packs = {"/p", "/q"};
  environment.overlay = "/o";
  unsetenv("OPENCL_LAYERS");
  unsetenv("LD_PRELOAD");
  CHECK(*layer_variables(environment) ==
        Variables{{"OPENCL_LAYERS", "/l.so"}, {"KILN_PACK", "/p:/q"}, {"KILN_OVERLAY", "/o"}});
  environment = {};
  environment.layer = "/l.so";
  environment.preload = "/i.so";
  environment.spool = "/s";
  environment.report = "/r:r";
  setenv("OPENCL_LAYERS", "/m.so", 1);
  setenv("LD_PRELOAD", "/j.so", 1);
  CHECK(*layer_variables(environment) == Variables{{"OPENCL_LAYERS", "/m.so:/l.so"},
                                                   {"LD_PRELOAD", "/i.so:/j.so"},
                                                   {"KILN_SPOOL", "/s"},
                                                   {"KILN_REPORT", "/r:r"}});
  unsetenv("OPENCL_LAYERS");
  unsetenv("LD_PRELOAD");
}

TEST_CASE("a colon in a listed path is refused", "[layer_environment]") {
  for (auto member : {&LayerEnvironment::layer, &LayerEnvironment::preload}) {
    LayerEnvironment environment;
    environment.*member = "/a:b";
    CHECK(layer_variables(environment).status().message ==
          "/a:b: a path with a colon cannot be handed to the layer");
  }
  LayerEnvironment environment;
  environment.packs = {"/p", "/a:b"};
  CHECK(layer_variables(environment).status().code == Code::bad_argument);
}

TEST_CASE("Mesa's folder is the one that its variables name, or the user's",
          "[layer_environment]") {
  const MesaEnvironment environment;
  setenv("HOME", "/h", 1);
  CHECK(mesa_folder() == "/h/.cache");
  setenv("XDG_CACHE_HOME", "/x", 1);
  CHECK(mesa_folder() == "/x");
  setenv("MESA_SHADER_CACHE_DIR", "/m", 1);
  CHECK(mesa_folder() == "/m");
  for (const char *name : {"HOME", "XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR"}) unsetenv(name);
  CHECK(mesa_folder().empty());
}

TEST_CASE("Mesa reads Kiln's database after the user's own", "[layer_environment]") {
  const MesaEnvironment environment;
  CHECK(*mesa_variables("") == Variables{{"MESA_DISK_CACHE_SINGLE_FILE", "1"},
                                         {"MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", "kiln"}});
  setenv("MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", "mine,kilns", 1);
  setenv("MESA_DISK_CACHE_SINGLE_FILE", "True", 1);
  setenv("MESA_SHADER_CACHE_DISABLE", "false", 1);
  CHECK(*mesa_variables("/f") == Variables{{"MESA_DISK_CACHE_SINGLE_FILE", "True"},
                                           {"MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", "mine,kilns,kiln"},
                                           {"MESA_SHADER_CACHE_DIR", "/f"}});
}

TEST_CASE("what keeps Mesa from Kiln's database is named", "[layer_environment]") {
  const MesaEnvironment environment;
  setenv("MESA_DISK_CACHE_SINGLE_FILE", "0", 1);
  CHECK(mesa_variables("/f").status().message ==
        "MESA_DISK_CACHE_SINGLE_FILE=0: Mesa looks for rusticl's final code elsewhere");
  setenv("MESA_SHADER_CACHE_DISABLE", "TRUE", 1);
  CHECK(mesa_variables("/f").status().message ==
        "MESA_SHADER_CACHE_DISABLE=TRUE: Mesa does not read rusticl's final code");
}

TEST_CASE("a shell reads the values as they are", "[layer_environment]") {
  ProcessRequest request;
  request.program = "sh";
  request.arguments = {"-c", variables_text(kHard, "sh") + "printf %s \"$KILN_A\""};
  CHECK(run_tool(request).out == kHard[0].second);
}

TEST_CASE("a command is quoted only where a shell needs it", "[layer_environment]") {
  CHECK(shell_command({"kiln", "serve", "--pack", "a b.kiln", "--", "./app", "-x=1", "it's", ""}) ==
        "kiln serve --pack 'a b.kiln' -- ./app -x=1 'it'\\''s' ''");
}

TEST_CASE("each form quotes as its reader unquotes", "[layer_environment]") {
  CHECK(variables_text(kHard, "environment.d") ==
        "KILN_A=\"a 'b' \\\"c\\\" \\\\ $$HOME `d` 100% e\"\n");
  CHECK(variables_text(kHard, "container") ==
        "ENV KILN_A=\"a 'b' \\\"c\\\" \\\\ \\$HOME `d` 100% e\"\n");
  CHECK(variables_text(kHard, "systemd") ==
        "[Service]\nEnvironment=\"KILN_A=a 'b' \\\"c\\\" \\\\ $HOME `d` 100%% e\"\n");
  CHECK(variables_text(kHard, "desktop") ==
        "Exec=env \"KILN_A=a 'b' \\\\\"c\\\\\" \\\\\\\\ \\\\$HOME \\\\`d\\\\` 100%% e\" "
        "APPLICATION\n");
  CHECK(environment_forms().size() == 5);
}

}  // namespace kiln::builder
