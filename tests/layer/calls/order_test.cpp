// SPDX-License-Identifier: Apache-2.0
// The order of a program's kernels is the driver's for the text, also on a driver that lists those
// of a binary in another one, as rusticl does.
#include <algorithm>

#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr char kOrdered[] = "kernel void scale() {} kernel void add() {} kernel void blur() {}";
constexpr char kSorted[] = "kernel void a() {} kernel void b() {} kernel void c() {}";
constexpr char kPart[] = "kernel void last() {}";

struct TurningDriver {
  TurningDriver() { driver().turns_kernels = true; }
  TurningDriver(const TurningDriver &) = delete;
  TurningDriver &operator=(const TurningDriver &) = delete;
  ~TurningDriver() { driver() = Driver(); }
};

// Checks both answers.
void check_order(const Application &a, cl_program program, const std::string &order) {
  CHECK(a.text_of(program, CL_PROGRAM_KERNEL_NAMES) == order);
  cl_kernel kernels[8] = {};
  cl_uint count = 0;
  REQUIRE(a.cl.clCreateKernelsInProgram(program, 8, kernels, &count) == CL_SUCCESS);
  std::string made;
  for (cl_uint i = 0; i < count; ++i) {
    made += (made.empty() ? "" : ";") + a.text_of(kernels[i], CL_KERNEL_FUNCTION_NAME);
    a.release(kernels[i]);
  }
  CHECK(made == order);
}

void use_all(const Application &a) {
  const cl_program ordered = a.built(kOrdered);
  check_order(a, ordered, "scale;add;blur");
  const cl_program sorted = a.built(kSorted);
  check_order(a, sorted, "a;b;c");
  const cl_program parts[] = {a.compiled(kOrdered), a.compiled(kPart)};
  const cl_program linked = a.linked({parts[0], parts[1]});
  check_order(a, linked, "scale;add;blur;last");
  for (const cl_program one : {ordered, sorted, parts[0], parts[1], linked}) a.release(one);
}

}  // namespace

TEST_CASE("kernels of programs from the overlay are in the text's order") {
  const TurningDriver turning;
  const TemporaryFolder folder;
  const std::string overlay = (folder.path() / "overlay").string();
  const fs::path report = folder.path() / "report";
  Apart{folder}.run({{"KILN_OVERLAY", overlay}}, use_all);
  build_noted(overlay);
  Apart{folder}.run({{"KILN_OVERLAY", overlay}, {"KILN_REPORT", report.string()}},
                    [](const Application &a) {
                      use_all(a);
                      CHECK(calls_of("clCreateProgramWithSource") == 4);  // the application's own
                    });
  CHECK(outcomes(report) ==
        std::vector<std::string>{"served, exact", "served, exact", "served, exact"});
}

TEST_CASE("packs of before do not have the order, for which the driver is asked if it matters") {
  const TurningDriver turning;
  const TemporaryFolder folder;
  packs::Contents contents = contents_of({{kOrdered, "", {"First"}}, {kSorted, "", {"First"}}});
  for (packs::Program &program : contents.programs) {
    std::vector<packs::Kernel> &kernels = program.variants[0].kernels;
    std::sort(kernels.begin(), kernels.end(),
              [](const packs::Kernel &x, const packs::Kernel &y) { return x.name < y.name; });
  }
  write(contents, folder.path() / "p.kiln");
  const std::string pack = (folder.path() / "p.kiln").string();
  Apart{folder}.run({{"KILN_PACK", pack}}, [](const Application &a) {
    const cl_program ordered = a.built(kOrdered);
    a.release(a.kernel(ordered, "add"));
    const cl_program sorted = a.built(kSorted);
    check_order(a, sorted, "a;b;c");                    // as in the text
    CHECK(calls_of("clCreateProgramWithSource") == 2);  // the application's own
    check_order(a, ordered, "scale;add;blur");
    CHECK(calls_of("clCreateProgramWithSource") == 3);
    check_order(a, ordered, "scale;add;blur");
    CHECK(calls_of("clCreateProgramWithSource") == 3);
    a.release(ordered);
    a.release(sorted);
  });
}

TEST_CASE("an old link's order is the driver's for the parts") {
  const TurningDriver turning;
  const TemporaryFolder folder;
  const std::string overlay = (folder.path() / "overlay").string();
  const std::vector<std::string> texts = {"kernel void z() {}", "kernel void y() {}"};
  const auto link = [&](const Application &a, const std::string &order) {
    const cl_program parts[] = {a.compiled(texts[0], "-DX"), a.compiled(texts[1], "-DX")};
    const cl_program linked = a.linked({parts[0], parts[1]});
    check_order(a, linked, order);
    for (const cl_program one : {parts[0], parts[1], linked}) a.release(one);
  };
  const auto use = [&](const Application &a) { link(a, "z;y"); };
  Apart{folder}.run({{"KILN_OVERLAY", overlay}}, use);
  for (const std::string &file : files_in(overlay)) {  // the note, with its kernels sorted
    if (fs::path(file).extension() != ".kiln") continue;
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    REQUIRE(packs::Pack::open_file((fs::path(overlay) / file).c_str(), &pack).ok());
    REQUIRE(packs::read_contents(pack, &contents).ok());
    std::swap(contents.programs[0].variants[0].kernels[0],
              contents.programs[0].variants[0].kernels[1]);
    write(contents, fs::path(overlay) / file);
  }
  build_noted(overlay);
  Apart{folder}.run({{"KILN_OVERLAY", overlay}}, use);
}

}  // namespace kiln::test
