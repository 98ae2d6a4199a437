// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kiln_bench/kernels.hpp"
#include "tests/bench/kiln_bench/kernels_report.hpp"

#include "tests/bench/kiln_bench/buffer_commands.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

const ProblemSize kSize{768, 432, 1};

VariantRow row(const char *variant, double nanoseconds) {
  VariantRow row;
  row.variant = variant;
  row.available = true;
  row.rung = "exact";
  row.published = published_ratios("laplace", variant);
  row.measured.check = Check::exact;
  row.measured.checked = kSize;
  row.measured.local = {{16, 4, 1}};
  row.measured.local_from = "guess";
  row.measured.time = {nanoseconds, nanoseconds, 0.02, 11};
  return row;
}

VariantRow missing(const char *variant, const char *reason) {
  VariantRow row;
  row.variant = variant;
  row.reason = reason;
  return row;
}

// Three variants of which one cannot run.
DeviceRow device() {
  SizeRow size{kSize, 1'990'656, "scalar", {}};
  size.variants = {missing("qcom", "needs the extension cl_qcom_x"), row("scalar", 4'000'000),
                   row("vec4_short", 1'000'000)};
  DeviceRow device;
  device.device = "Test: device (driver 1)";
  device.profile = "generic";
  device.driver_version = "1";
  device.copy_bandwidth = 4;
  device.programs = {{"laplace", "scalar", {size}}};
  return device;
}

SizeRow &only_size(DeviceRow &device) { return device.programs[0].sizes[0]; }

}  // namespace

TEST_CASE("published ratios stand at the sizes of the publication") {
  const auto ratios = published_ratios("laplace", "vec4_short");
  REQUIRE(ratios.size() == 5);
  CHECK(ratios[0] == Published{1.7, {768, 432, 1}, "Mali-T604", "scalar"});
  CHECK(ratios[2] == Published{8.8, {2048, 2048, 1}, "Mali-T604", "scalar"});
  CHECK(ratios[4] == Published{7.2, {7680, 4320, 1}, "Mali-T604", "scalar"});
  const auto epsilon = published_ratios("epsilon", "rgba_half_px4_select");
  REQUIRE(epsilon.size() == 3);
  CHECK(epsilon[0] == Published{4.3, {512, 512, 1}, "Adreno 430", "r_half"});
  CHECK(epsilon[2] == Published{5.4, {3264, 2448, 1}, "Adreno 430", "r_half"});
}

TEST_CASE("a ratio that was published for one size is given for that size alone") {
  const auto ratios = published_ratios("epsilon", "rgba_half_px16");
  REQUIRE(ratios.size() == 1);
  CHECK(ratios[0] == Published{0.5, {3264, 2448, 1}, "Adreno 430", "r_half"});
}

TEST_CASE("nothing was published of sobel, nor of variants that are ours") {
  CHECK(published_ratios("sobel", "px16x4").empty());
  CHECK(published_ratios("laplace", "words").empty());
  CHECK(published_ratios("epsilon", "rgba_float_px4_select").empty());
}

TEST_CASE("bandwidth counts the definition's bytes, and the best is the shortest time") {
  DeviceRow d = device();
  const SizeRow &size = only_size(d);
  CHECK(size.gigabytes_per_second(size.variants[2]) == Approx(1.990656));
  CHECK(size.gigabytes_per_second(size.variants[0]) == 0);
  CHECK(size.best() == &size.variants[2]);
}

TEST_CASE("a speed-up needs the first variant's figures by the same clock") {
  DeviceRow d = device();
  SizeRow &size = only_size(d);
  CHECK(size.speedup(size.variants[2], "scalar") == 4.0);
  CHECK_FALSE(size.speedup(size.variants[0], "scalar"));
  CHECK_FALSE(size.speedup(size.variants[2], "qcom"));
  CHECK_FALSE(size.speedup(size.variants[2], "nosuch"));
  size.variants[1].measured.wall = true;
  CHECK_FALSE(size.speedup(size.variants[2], "scalar"));
}

TEST_CASE("a wrong result shows no figure and is never the best") {
  DeviceRow d = device();
  SizeRow &size = only_size(d);
  size.variants[2].measured.check = Check::wrong;
  size.variants[2].measured.time = {};
  size.variants[2].reason = "wrong result: 5 values differ";
  CHECK(size.best() == &size.variants[1]);
  const nlohmann::json json = to_json(d)["programs"][0]["sizes"][0]["variants"][2];
  CHECK(json["check"] == "wrong");
  CHECK(json["reason"] == "wrong result: 5 values differ");
  CHECK_FALSE(json.contains("nanoseconds"));
  CHECK_FALSE(json.contains("gigabytes_per_second"));
  CHECK(to_text(d).find("vec4_short  no figures: wrong result: 5 values differ\n") !=
        std::string::npos);
}

TEST_CASE("a variant that the device lacks something for is no failure, a fault is") {
  DeviceRow d = device();
  CHECK_FALSE(d.failed());
  only_size(d).variants[1].failed = true;
  CHECK(d.failed());
}

TEST_CASE("the text has a line for each variant, with figures or the reason for none") {
  DeviceRow d = device();
  only_size(d).variants[1].measured.checked = {641, 479, 1};
  only_size(d).variants[1].measured.wall = true;
  CHECK(to_text(d) ==
        "Test: device (driver 1)\n"
        "  times by the device's clock; copies 4.0 GB/s, bytes read and written\n"
        "\n"
        "laplace 768x432: 1990656 bytes; the runtime takes scalar\n"
        "  variant              us  spread     GB/s  of copy speed-up published  check, rung, "
        "work-groups\n"
        "  qcom        not available on this device: needs the extension cl_qcom_x\n"
        "  scalar           4000.0    2.0%     0.50     0.12     1.00       1.0  exact at 641x479, "
        "exact, 16x4 guess, by the host's clock\n"
        "* vec4_short       1000.0    2.0%     1.99     0.50        -       1.7  exact, exact, "
        "16x4 guess\n");
}

TEST_CASE("the runtime's choice stands beside the best, by the same clock") {
  DeviceRow d = device();
  SizeRow &size = only_size(d);
  CHECK(size.choice_loss() == 4.0);
  CHECK(to_text(d).find("; the runtime takes scalar, 4.00 of the best's time (goal 1.05)\n") !=
        std::string::npos);
  CHECK(to_json(d)["programs"][0]["sizes"][0]["choice_loss"] == 4.0);
  size.chosen = "vec4_short";
  CHECK(size.choice_loss() == 1.0);
  size.variants[1].measured.wall = true;
  size.chosen = "scalar";
  CHECK_FALSE(size.choice_loss());
  size.chosen = "qcom";
  CHECK_FALSE(size.choice_loss());
  CHECK(to_json(d)["programs"][0]["sizes"][0]["choice_loss"].is_null());
}

TEST_CASE("a program of outputs alone has the driver's fill beside its variants") {
  DeviceRow d = device();
  SizeRow &size = only_size(d);
  CHECK(to_json(d)["programs"][0]["sizes"][0]["fill"].is_null());
  size.fill = FillTime{500'000, 16, false, {}};
  CHECK(to_text(d).find("\n  clEnqueueFillBuffer        500.0       -     3.98     1.00        -"
                        "         -  a constant 16-byte pattern\n") != std::string::npos);
  const nlohmann::json fill = to_json(d)["programs"][0]["sizes"][0]["fill"];
  CHECK(fill["nanoseconds"] == 500'000);
  CHECK(fill["pattern_bytes"] == 16);
  CHECK(fill["gigabytes_per_second"] == Approx(3.981312));
  CHECK(fill["copy_share"] == Approx(0.995328));
  size.fill->status = {Code::opencl, "the device does not fill"};
  CHECK(to_text(d).find("\n  clEnqueueFillBuffer  no figures: the device does not fill\n") !=
        std::string::npos);
  CHECK(to_json(d)["programs"][0]["sizes"][0]["fill"]["error"] == "the device does not fill");
}

TEST_CASE("a launch during which a GPU draws no frame is remarked upon") {
  DeviceRow d = device();
  const char *const remark = "16x4 guess, over 30 ms a launch: split the NDRange\n";
  CHECK(to_text(d).find(remark) == std::string::npos);
  only_size(d).variants[1].measured.time.median = 30.1e6;
  CHECK(to_text(d).find(remark) != std::string::npos);
  CHECK(to_json(d)["programs"][0]["sizes"][0]["variants"][1]["long_launch"] == true);
  CHECK(to_json(d)["programs"][0]["sizes"][0]["variants"][2]["long_launch"] == false);
  d.cpu = true;
  CHECK(to_text(d).find(remark) == std::string::npos);
}

TEST_CASE("JSON has null for a share or a speed-up that cannot be told") {
  DeviceRow d = device();
  d.copy_bandwidth = 0;
  d.copied = {Code::opencl, "the device does not copy"};
  d.programs[0].baseline = "qcom";
  const nlohmann::json json = to_json(d);
  CHECK(json["copy_bandwidth"].is_null());
  CHECK(json["copy_error"] == "the device does not copy");
  const nlohmann::json variant = json["programs"][0]["sizes"][0]["variants"][1];
  CHECK(variant["copy_share"].is_null());
  CHECK(variant["speedup"].is_null());
  CHECK(variant["local"] == nlohmann::json::parse("[[16, 4, 1]]"));
  CHECK(variant["published"].size() == 5);
}

TEST_CASE("a device that cannot be opened has an error and nothing else to show") {
  DeviceRow d = device();
  d.status = {Code::opencl, "the device is gone"};
  CHECK(to_text(d) == "Test: device (driver 1)\n  no figures: the device is gone\n");
  CHECK_FALSE(to_json(d).contains("programs"));
}

TEST_CASE("large problems are checked at a smaller size of the same kind") {
  CHECK(check_size({2560, 1562, 1}) == ProblemSize{2560, 1562, 1});
  CHECK(check_size({3264, 2448, 1}) == ProblemSize{641, 479, 1});
  CHECK(check_size({16777216, 1, 1}) == ProblemSize{307039, 1, 1});
  CHECK(check_size({1024, 1024, 1024}) == ProblemSize{641, 479, 65});
  CHECK(check_size({64, 1024, 1024}) == ProblemSize{64, 479, 65});
}

TEST_CASE("a device's time is taken only where the host waited as long") {
  CHECK(sensible_time(900, 1000));
  CHECK(sensible_time(1009, 1000));
  CHECK_FALSE(sensible_time(1011, 1000));
  CHECK_FALSE(sensible_time(0, 1000));
}
