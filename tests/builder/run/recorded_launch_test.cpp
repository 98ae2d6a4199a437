// SPDX-License-Identifier: Apache-2.0
#include "builder/run/recorded_launch.hpp"

#include "builder/finish/launch_sizes.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;
using kiln::runtime::NDSize;

namespace {

using Kind = RecordedArgument::Kind;

const std::string kLine =
    R"({"kernel":"copy","dimensions":2,"local":[8,4,1],"wide":false,"moved":true,)"
    R"("global":[64,32,1],"offset":[1,2,0],"arguments":[{"value":[7,0,0,0]},{"local":256},)"
    R"({"buffer":4096},{"image":{"type":4337,"order":4277,"data_type":4306,"width":640,)"
    R"("height":480,"depth":0,"layers":0}},{"unknown":"a sampler"},)"
    R"({"unknown":"a sampler","sampler":{"normalized":true,"addressing":4400,"filter":4417}}]})"
    "\n";

std::string line(const char *kernel, const char *local, const char *global) {
  return std::string(R"({"kernel":")") + kernel + R"(","dimensions":1,"local":)" + local +
         R"(,"wide":false,"moved":false,"global":)" + global +
         R"(,"offset":[0,0,0],"arguments":[]})" + "\n";
}

}  // namespace

TEST_CASE("a recorded launch is read as it was written", "[recorded]") {
  const auto launches = parse_launches(kLine);
  REQUIRE(launches.ok());
  REQUIRE(launches->size() == 1);
  const RecordedLaunch &launch = (*launches)[0];
  CHECK(launch.kernel == "copy");
  CHECK(launch.dimensions == 2);
  CHECK(launch.global == NDSize{64, 32, 1});
  CHECK(launch.local == NDSize{8, 4, 1});
  CHECK(launch.offset == NDSize{1, 2, 0});
  REQUIRE(launch.arguments.size() == 6);
  CHECK(launch.arguments[0].kind == Kind::value);
  CHECK(launch.arguments[0].value == kiln::packs::Bytes{7, 0, 0, 0});
  CHECK(launch.arguments[1].kind == Kind::local);
  CHECK(launch.arguments[1].size == 256);
  CHECK(launch.arguments[2].kind == Kind::buffer);
  CHECK(launch.arguments[2].size == 4096);
  CHECK(launch.arguments[3].kind == Kind::image);
  CHECK(launch.arguments[3].image.width == 640);
  CHECK(launch.arguments[4].kind == Kind::unknown);
  CHECK(launch.arguments[4].what == "a sampler");
  CHECK(launch.arguments[5].kind == Kind::sampler);
  CHECK(launch.arguments[5].sampler.normalized);
  CHECK(launch.arguments[5].sampler.addressing == 4400);
  CHECK(launch.arguments[5].sampler.filter == 4417);
}

TEST_CASE("a line that is no launch fails, and is shown", "[recorded]") {
  for (
      const char *wrong :
      {"{", "[]", "{}", R"({"kernel":3})",
       R"({"kernel":"k","dimensions":4,"local":[0,0,0],"global":[1,1,1],"offset":[0,0,0],"arguments":[]})",
       R"({"kernel":"k","dimensions":1,"local":[0,0],"global":[1,1,1],"offset":[0,0,0],"arguments":[]})",
       R"({"kernel":"k","dimensions":1,"local":[0,0,0],"global":[1,1,1],"offset":[0,0,0],"arguments":[{}]})",
       R"({"kernel":"k","dimensions":1,"local":[0,0,0],"global":[1,1,1],"offset":[0,0,0],"arguments":[{"unknown":"","sampler":{}}]})",
       R"({"kernel":"k","dimensions":1,"local":[0,0,0],"global":[1,1,1],"offset":[0,0,0],"arguments":[{"value":[256]}]})"}) {
    const auto launches = parse_launches(kLine + wrong);
    INFO(wrong);
    REQUIRE(!launches.ok());
    CHECK(launches.status().message.find("no recorded launch: ") == 0);
  }
}

TEST_CASE("a variant without recorded launches has none", "[recorded]") {
  const auto launches = recorded_launches({});
  REQUIRE(launches.ok());
  CHECK(launches->empty());
}

TEST_CASE("recorded sizes are those that the application gave", "[recorded]") {
  const auto launches =
      parse_launches(line("a", "[64,1,1]", "[1024,1,1]") + line("b", "[64,1,1]", "[2048,1,1]") +
                     line("b", "[64,1,1]", "[131072,1,1]") + line("b", "[0,0,0]", "[1024,1,1]"));
  REQUIRE(launches.ok());
  CHECK(recorded_sizes(*launches) ==
        std::vector<LaunchSize>{{{64, 1, 1}, false}, {{64, 1, 1}, true}});
}
