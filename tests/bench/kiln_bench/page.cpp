// SPDX-License-Identifier: Apache-2.0
// Puts scripts, style and measurements into page.html; the files are embedded in the program.
#include "tests/bench/kiln_bench/page.hpp"

#include <cassert>
#include <string_view>

#include "bench_page_css.h"
#include "bench_page_elements.h"
#include "bench_page_figures.h"
#include "bench_page_heat.h"
#include "bench_page_html.h"
#include "bench_page_page.h"
#include "bench_page_plots.h"
#include "bench_page_tables.h"

namespace kiln::builder {
namespace {

using nlohmann::json;

std::string_view text(const unsigned char *data, std::size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

// JSON that is safe within <script>: no character of it can open or close markup.
std::string script_json(const json &document) {
  std::string safe;
  for (const char c : document.dump(-1, ' ', true, json::error_handler_t::replace)) {
    switch (c) {
      case '<': safe += "\\u003c"; break;
      case '>': safe += "\\u003e"; break;
      case '&': safe += "\\u0026"; break;
      default: safe += c;
    }
  }
  return safe;
}

struct Part {
  std::string_view name;
  std::string_view text;
};

// The files of bench_page/, by the names that page.html has for them.
const Part kParts[] = {
    {"page.css", text(bench_page_css_data, bench_page_css_size)},
    {"elements.js", text(bench_page_elements_data, bench_page_elements_size)},
    {"figures.js", text(bench_page_figures_data, bench_page_figures_size)},
    {"plots.js", text(bench_page_plots_data, bench_page_plots_size)},
    {"heat.js", text(bench_page_heat_data, bench_page_heat_size)},
    {"tables.js", text(bench_page_tables_data, bench_page_tables_size)},
    {"page.js", text(bench_page_page_data, bench_page_page_size)},
};

std::string_view part(std::string_view name) {
  for (const Part &candidate : kParts) {
    if (candidate.name == name) return candidate.text;
  }
  assert(false && "page.html names a part that is not embedded");
  return {};
}

}  // namespace

std::string bench_page(const json &kernels, const json &tuning, const json &startup) {
  const std::string data =
      script_json({{"kernels", kernels}, {"tuning", tuning}, {"startup", startup}});
  std::string_view rest = text(bench_page_html_data, bench_page_html_size);
  std::string page;
  // One pass: what is put in is not searched for names again.
  for (;;) {
    const std::size_t open = rest.find("{{");
    const std::size_t close = rest.find("}}", open);
    if (open == rest.npos || close == rest.npos) break;
    const std::string_view name = rest.substr(open + 2, close - open - 2);
    page += rest.substr(0, open);
    page += name == "data" ? std::string_view(data) : part(name);
    rest.remove_prefix(close + 2);
  }
  page += rest;
  return page;
}

}  // namespace kiln::builder
