// SPDX-License-Identifier: Apache-2.0
#include "builder/layer/layer_environment.hpp"

#include <cstdlib>

#include "builder/process/run_tool.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

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
        "KILN_A=\"a 'b' \\\"c\\\" \\\\ \\$HOME `d` 100% e\"\n");
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
