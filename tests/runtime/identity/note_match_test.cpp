// SPDX-License-Identifier: Apache-2.0
// Which devices and variants a known-bad note is about.
#include "runtime/identity/note_match.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::runtime;
using kiln::packs::NoteText;
using kiln::packs::NoteView;

namespace {

struct OneKernel {
  std::string_view name;
};

bool fits_adreno(NoteView note, const char *compiler) {
  Identity identity;
  identity.set(Field::device_version, "OpenCL 3.0 Adreno(TM) 730");
  identity.set(Field::device_vendor, "QUALCOMM");
  identity.set(Field::driver_version,
               std::string("OpenCL 3.0 QUALCOMM build: 1 Compiler ") + compiler);
  return fits_device(note, identity, describe(identity));
}

bool fits(const NoteView &note, std::string_view program, std::string_view variant,
          std::vector<OneKernel> kernels) {
  return fits_variant(note, program, variant, kernels,
                      [](OneKernel kernel) { return kernel.name; });
}

}  // namespace

TEST_CASE("a range of versions has its first and not its last", "[known-bad]") {
  const struct {
    const char *version;
    const char *from;
    const char *below;
    bool between;
  } rows[] = {{"22.43.24595", "", "", true},
              {"22.43.24595", "22.43", "24", true},
              {"22.43.24595", "22.43.24595", "22.43.24596", true},
              {"22.43.24595", "22.43.24596", "", false},
              {"22.43.24595", "", "22.43.24595", false},
              {"r32p1-01eac0", "r32", "r33", true},
              {"r9p0-01eac0", "r32", "", false},  // numbers, not texts
              {"E031.38.11.14", "E031.38.11.14", "E031.38.11.15", true},
              {"3.1+debian", "3.1", "3.2", true},
              {"", "", "7", true},
              {"", "1", "", false}};
  for (const auto &row : rows) {
    CAPTURE(row.version, row.from, row.below);
    CHECK(is_between(row.version, row.from, row.below) == row.between);
  }
}

TEST_CASE("a note is about a device if everything that it says fits", "[known-bad]") {
  NoteView note;
  CHECK(fits_adreno(note, "E031.38.11.14"));
  note[NoteText::profile] = "adreno";
  note[NoteText::family] = "Adreno 7*";
  note[NoteText::model] = "73?";
  note[NoteText::compiler_from] = "E031.38.11.14";
  note[NoteText::compiler_below] = "E031.38.11.15";
  CHECK(fits_adreno(note, "E031.38.11.14"));
  CHECK_FALSE(fits_adreno(note, "E031.38.11.13"));
  CHECK_FALSE(fits_adreno(note, "E031.38.11.15"));
  for (const NoteText which : {NoteText::profile, NoteText::family, NoteText::model,
                               NoteText::driver_from, NoteText::compiler_from}) {
    NoteView other = note;
    other[which] = "999";
    CHECK_FALSE(fits_adreno(other, "E031.38.11.14"));
  }
}

TEST_CASE("a note is about a variant by program, variant and any of its kernels", "[known-bad]") {
  NoteView note;
  CHECK(fits(note, "p", "v", {{"k"}}));
  note[NoteText::kernel] = "mul_*";
  CHECK(fits(note, "p", "v", {{"k"}, {"mul_mat"}}));
  CHECK_FALSE(fits(note, "p", "v", {{"k"}}));
  note[NoteText::program] = "gemm_*";
  CHECK_FALSE(fits(note, "p", "v", {{"mul_mat"}}));
  CHECK(fits(note, "gemm_f32", "v", {{"mul_mat"}}));
  note[NoteText::variant] = "fast";
  CHECK_FALSE(fits(note, "gemm_f32", "v", {{"mul_mat"}}));
  CHECK(fits(note, "gemm_f32", "fast", {{"mul_mat"}}));
}
