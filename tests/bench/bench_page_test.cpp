// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kiln_bench/page.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

using kiln::builder::bench_page;
using nlohmann::json;

namespace {

std::size_t count(const std::string &page, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = page.find(part); at != page.npos; at = page.find(part, at + 1)) ++n;
  return n;
}

json with_device(const std::string &name) {
  return {{"schema", 1}, {"devices", {{{"device", name}, {"programs", json::array()}}}}};
}

// What lies between the data's <script> and the next `</script`.
std::string embedded(const std::string &page) {
  const std::string_view open = R"(<script type="application/json" id="data">)";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script", start) - start);
}

const char *const kHostile =
    "</script><script>alert(1)</script><!--<script> ]]> {{page.js}} &amp; \" ' \\ \xe2\x80\xa8";

}  // namespace

TEST_CASE("a page holds its documents unchanged") {
  const json kernels = with_device(kHostile);
  const json tuning = with_device("tuned");
  const json page = json::parse(embedded(bench_page(kernels, tuning, nullptr)));
  CHECK(page["kernels"] == kernels);
  CHECK(page["tuning"] == tuning);
  CHECK(page["startup"].is_null());
}

TEST_CASE("no text of a document adds markup to the page") {
  const std::string plain = bench_page(with_device("plain"), nullptr, nullptr);
  const std::string hostile = bench_page(with_device(kHostile), nullptr, nullptr);
  for (const char *part : {"<", ">", "&", "function build("}) {
    INFO(part);
    CHECK(count(hostile, part) == count(plain, part));
  }
  CHECK(embedded(hostile).find_first_of("<>&") == std::string::npos);
}

TEST_CASE("text that is not UTF-8 is replaced and no error") {
  const json page = json::parse(embedded(bench_page(with_device("a\xff"), nullptr, nullptr)));
  CHECK(page["kernels"]["devices"][0]["device"] == "a\xef\xbf\xbd");
}

TEST_CASE("a page is complete in itself") {
  const std::string page = bench_page(nullptr, nullptr, nullptr);
  CHECK(count(page, "{{") == 0);
  CHECK(count(page, "</html>") == 1);
  CHECK(count(page, " src=") == 0);
  CHECK(count(page, "<link") == 1);  // an empty icon, so that none is asked for
  CHECK(count(page, "href=\"data:,\"") == 1);
  CHECK(count(page, "@import") == 0);
  CHECK(count(page, "url(") == 0);
  CHECK(count(page, "default-src 'none'") == 1);
  for (const char *part : {"documents = JSON.parse", "function build(", "function barPlot(",
                           "function heatMap(", "function table(", "start();", "color-scheme"}) {
    INFO(part);
    CHECK(count(page, part) >= 1);
  }
}
