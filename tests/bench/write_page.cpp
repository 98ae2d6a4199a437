// SPDX-License-Identifier: Apache-2.0
// write_page IN.json OUT.html: the page of the documents "kernels", "tuning" and "startup" in
// one file, null where there is none. For page_test.py.
#include <cstdio>
#include <fstream>

#include "tests/bench/kiln_bench/page.hpp"

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fputs("usage: write_page IN.json OUT.html\n", stderr);
    return 2;
  }
  std::ifstream in(argv[1]);
  const nlohmann::json documents = nlohmann::json::parse(in);
  std::ofstream out(argv[2], std::ios::binary);
  out << kiln::builder::bench_page(documents.value("kernels", nlohmann::json()),
                                   documents.value("tuning", nlohmann::json()),
                                   documents.value("startup", nlohmann::json()));
  return out.good() ? 0 : 1;
}
