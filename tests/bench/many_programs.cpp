// SPDX-License-Identifier: Apache-2.0
// What a spool and a pack of many programs cost:
//
//     kiln_many_programs [COUNT]
//
// Records 10,000 programs, or COUNT, as the layer does, in a folder that goes with the process;
// reads them as one; and looks each up in the pack of all, with a binary of each. Prints how many
// programs a second were written and read, and the median microseconds that a hit takes besides its
// load: from the application's source and options to the binary's place.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "builder/under_layer/spool.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/source/whole_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kOptions[] = "-cl-std=CL1.2 -DWIDTH=64";
constexpr char kKey[] = "profile=made up";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Some 2,000 bytes, as kernels of libraries have.
std::string source_of(int number) {
  std::string text = "kernel void scale(global float *out, float by) {\n";
  for (int line = 0; line < 24; ++line) {
    text += "  out[get_global_id(0)] = out[get_global_id(0)] * by + " + std::to_string(line) +
            ".0f * " + std::to_string(number) + ".0f;\n";
  }
  return text + "}\n";
}

source::WholeProgram program_of(int number) {
  auto whole = source::whole_program(source_of(number), kOptions);
  if (!whole.ok()) std::abort();
  return *std::move(whole);
}

packs::Contents recorded(const source::WholeProgram &whole) {
  packs::Contents contents;
  contents.programs.resize(1);
  packs::Program &program = contents.programs[0];
  program.name = whole.name;
  program.variants.resize(1);
  packs::Variant &variant = program.variants[0];
  variant.options = whole.options;
  variant.source.emplace(packs::Bytes(whole.source.begin(), whole.source.end()));
  variant.kernels.resize(1);
  variant.kernels[0].name = "scale";
  variant.kernels[0].arguments = 2;
  variant.hash = packs::variant_hash(whole.source, whole.options, {"scale"});
  variant.name = "recorded-" + packs::hex(variant.hash).substr(0, 8);
  return contents;
}

void must(const packs::Status &status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}

// The pack that `kiln build` would make, with bytes that no driver would take.
std::string built(const std::string &folder, packs::Contents contents) {
  packs::Target target;
  target.key = kKey;
  target.profile = "generic";
  for (const packs::Program &program : contents.programs) {
    const packs::Digest &hash = program.variants[0].hash;
    target.binaries.push_back(
        {hash, packs::BlobSource(packs::Bytes(hash.begin(), hash.end())), "", {}, {}, {}});
  }
  contents.targets.push_back(std::move(target));
  const std::string path = folder + "/built";
  must(packs::write_pack(contents, path));
  return path;
}

double hit_microseconds(const packs::Pack &pack, int number) {
  const std::string source = source_of(number);
  const auto start = Clock::now();
  const auto whole = source::whole_program(source, kOptions);
  packs::ProgramRef program;
  packs::TargetRef target;
  const bool found = pack.find_program(whole->name, &program).ok() && program &&
                     pack.find_target(kKey, &target).ok() && target &&
                     target.find_binary(program.variants()[0].hash());
  const double took = 1e6 * seconds_since(start);
  if (!found) std::abort();
  return took;
}

void measure(int count) {
  const test::TemporaryFolder place;
  const std::string folder = place.path().string();
  auto start = Clock::now();
  for (int i = 0; i < count; ++i) {
    const source::WholeProgram whole = program_of(i);
    must(packs::write_pack(recorded(whole), folder + "/" + whole.name + ".kiln"));
  }
  std::printf("written: %.0f programs a second\n", count / seconds_since(start));
  start = Clock::now();
  auto spool = builder::read_spool(folder);
  must(spool.status());
  std::printf("read as one: %.0f programs a second\n", count / seconds_since(start));
  std::shared_ptr<const packs::Pack> pack;
  must(packs::Pack::open_file(built(folder, std::move(spool->contents)).c_str(), &pack));
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(hit_microseconds(*pack, i));
  std::sort(times.begin(), times.end());
  std::printf("a hit besides its load: %.2f us, 99%% under %.2f us\n", times[times.size() / 2],
              times[times.size() * 99 / 100]);
}

}  // namespace
}  // namespace kiln

int main(int count, char **words) {
  kiln::measure(count > 1 ? std::max(1, std::atoi(words[1])) : 10'000);
}
