// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/mnn.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "builder/caches/cache_formats.hpp"
#include "builder/caches/export.hpp"
#include "tests/builder/caches/cache_samples.hpp"
#include "tests/builder/caches/mnn_samples.hpp"
#include "tests/packs/sample.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;
using flatbuffers::Table;
using packs::Code;
using test::mnn_sample_file;
using test::MnnSampleEntry;

namespace {

constexpr char kSampleMd5[] = "b59aeb7165d8fac82970f58cc0f74d06";  // of the sample's source
constexpr char kOtherMd5[] = "00000000000000000000000000000001";
constexpr char kAdreno[] = "Adreno(TM) 750";
constexpr char kAdrenoDriver[] =
    "QUALCOMM Adreno(TM) OpenCL 3.0 Adreno(TM) 750 OpenCL 3.0 QUALCOMM build: 0800.40 Compiler "
    "E031.45.02.06";

runtime::Facts with(runtime::Facts device, const char *name, const std::string &value) {
  device = test::without(std::move(device), name);
  device.emplace_back(name, value);
  return device;
}

// Another device's entry, from which the name of the sample is learnt.
MnnSampleEntry teacher(std::optional<std::string> driver = "a driver") {
  return {"Mali-G710", {{"conv_2d", "-DOTHER", kSampleMd5, "theirs"}}, std::move(driver), "theirs"};
}

std::string content(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_at(const Table *table, int slot) {
  const auto *text = table->GetPointer<const flatbuffers::String *>(
      static_cast<flatbuffers::voffset_t>(4 + 2 * slot));
  return text == nullptr ? "-" : text->str();
}

std::string words_at(const Table *table, int slot) {
  const auto *words = table->GetPointer<const flatbuffers::Vector<std::uint32_t> *>(
      static_cast<flatbuffers::voffset_t>(4 + 2 * slot));
  std::string out;
  for (const std::uint32_t word : *words) out += std::to_string(word) + " ";
  return out;
}

std::string word_at(const Table *table, int slot) {
  return std::to_string(
      table->GetField<std::uint32_t>(static_cast<flatbuffers::voffset_t>(4 + 2 * slot), 0));
}

template <typename Show>
std::string tables_at(const Table *table, int slot, const Show &show) {
  const auto *tables = table->GetPointer<const flatbuffers::Vector<flatbuffers::Offset<Table>> *>(
      static_cast<flatbuffers::voffset_t>(4 + 2 * slot));
  std::string out;
  for (flatbuffers::uoffset_t i = 0; tables != nullptr && i < tables->size(); ++i) {
    out += show(tables->Get(i));
  }
  return out;
}

std::string entry_text(const Table *entry) {
  return text_at(entry, 0) + ", driver " + text_at(entry, 4) + "\n" +
         tables_at(entry, 1,
                   [](const Table *one) {
                     return "  program " + text_at(one, 1) + " " + text_at(one, 3) + " " +
                            text_at(one, 4) + " " + text_at(one, 0) + "\n";
                   }) +
         tables_at(entry, 2,
                   [](const Table *one) {
                     return "  tuning " + text_at(one, 0) + " " + words_at(one, 1) +
                            words_at(one, 2) + word_at(one, 3) + " " + text_at(one, 4) + " " +
                            text_at(one, 5) + "\n";
                   }) +
         tables_at(entry, 3, [](const Table *one) {
           return "  gemm " + words_at(one, 0) + words_at(one, 1) + text_at(one, 2) + "\n";
         });
}

// All that is in a file, by FlatBuffers' own accessors.
std::string file_text(const std::string &file) {
  const auto shape = [](const Table *one) { return " [" + words_at(one, 0) + "]"; };
  const auto *root = flatbuffers::GetRoot<Table>(file.data());
  return tables_at(root, 0, entry_text) + tables_at(root, 1, [&](const Table *one) {
           return text_at(one, 0) + " " + word_at(one, 1) + tables_at(one, 2, shape) + " to" +
                  tables_at(one, 3, shape) + "\n";
         });
}

// Stores the sample for the Adreno.
void store_sample(const std::string &path, const std::string &learn, const std::string &binary) {
  const auto cache = open_mnn_cache(path, learn);
  REQUIRE(cache.ok());
  REQUIRE((*cache)->store(test::cached_sample(), test::adreno(), test::view_of(binary), "").ok());
  REQUIRE((*cache)->finish().ok());
}

Status status_of(const std::string &file) {
  return MnnFile::read({file.begin(), file.end()}).status();
}

}  // namespace

TEST_CASE("MNN names a device by one of its strings, and a driver by three") {
  const auto adreno = mnn_device(test::adreno());
  REQUIRE(adreno.ok());
  CHECK(adreno->name == kAdreno);
  CHECK(adreno->driver == kAdrenoDriver);
  const auto name_of = [](const char *name, const char *vendor, const char *version) {
    return mnn_device({{"device_name", name},
                       {"device_vendor", vendor},
                       {"device_version", version},
                       {"driver_version", "1"}})
        ->name;
  };
  CHECK(name_of("Qualcomm X", "QUALCOMM", "OpenCL 2.0") == "OpenCL 2.0");
  CHECK(name_of("QUALCOMM", "QUALCOMM", "OpenCL 2.0") == "QUALCOMM");
  CHECK(name_of("Mali-G710", "Intel", "OpenCL 3.0") == "Mali-G710");
  CHECK(name_of("gfx1100", "Advanced Micro Devices, Inc.", "OpenCL 2.0") ==
        "Advanced Micro Devices, Inc.");
  CHECK(name_of("Arc", "Intel(R) Corporation", "OpenCL 3.0") == "Intel(R) Corporation");
  CHECK(name_of("NVIDIA H200", "NVIDIA Corporation", "OpenCL 3.0") == "NVIDIA H200");
  for (const char *field : {"device_name", "device_vendor", "device_version", "driver_version"}) {
    CHECK(mnn_device(test::without(test::adreno(), field)).status().code == Code::requirement);
  }
}

TEST_CASE("MNN's cache is written under the names that an MNN gave to its sources") {
  const test::TemporaryFolder folder;
  const std::string learn = folder.write("learn", mnn_sample_file({teacher()}));
  const std::string path = folder.path() / "made" / "cache";
  const auto cache = open_mnn_cache(path, learn);
  REQUIRE(cache.ok());
  test::check_round_trip(cache->get());
  CHECK_FALSE(std::filesystem::exists(path));
  REQUIRE((*cache)->finish().ok());
  CHECK(file_text(content(path)) == std::string(kAdreno) + ", driver " + kAdrenoDriver +
                                        "\n  program conv_2d -cl-mad-enable " + kSampleMd5 +
                                        " binary\n");
  const auto again = open_mnn_cache(path, "");
  REQUIRE(again.ok());
  CHECK(test::text_of(*(*again)->find(test::cached_sample(), test::adreno())) == "binary");
}

TEST_CASE("A driver stands in a file of MNN's where it stands in the one that was learnt from") {
  const test::TemporaryFolder folder;
  const std::string learn = folder.write("learn", mnn_sample_file({teacher(std::nullopt)}));
  const std::string path = folder.path() / "cache";
  store_sample(path, learn, "binary");
  CHECK(file_text(content(path)) == std::string(kAdreno) +
                                        ", driver -\n  program conv_2d -cl-mad-enable " +
                                        kSampleMd5 + " binary\n");
  // Whose binary it is is not known then.
  const auto cache = open_mnn_cache(path, "");
  CHECK((*cache)->find(test::cached_sample(), with(test::adreno(), "driver_version", "2")).ok());
}

TEST_CASE("What is in a file of MNN's stays but for what is written") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write(
      "cache", mnn_sample_file({teacher(),
                                {kAdreno,
                                 {{"conv_2d", "-cl-mad-enable", kSampleMd5, "earlier"},
                                  {"conv_2d", "", kSampleMd5, "other options"},
                                  {"softmax", "-cl-mad-enable", kOtherMd5, "other source"}},
                                 kAdrenoDriver,
                                 "ours"}}));
  store_sample(path, "", "binary");
  const std::string theirs =
      std::string("Mali-G710, driver a driver\n  program conv_2d -DOTHER ") + kSampleMd5 +
      " theirs\n  tuning theirs 64 32 1 8 4 1 17 conv of conv\n  gemm 7 8 9 1 of gemm\n";
  const std::string measured =
      "  tuning ours 64 32 1 8 4 1 17 conv of conv\n  gemm 7 8 9 1 of gemm\n";
  const std::string tuned = "softmax 5 [1 3 224 224 ] to\n";
  const std::string sample =
      std::string("  program conv_2d -cl-mad-enable ") + kSampleMd5 + " binary\n";
  CHECK(file_text(content(path)) == theirs + kAdreno + ", driver " + kAdrenoDriver +
                                        "\n  program conv_2d - " + kSampleMd5 +
                                        " other options\n  program softmax -cl-mad-enable " +
                                        kOtherMd5 + " other source\n" + sample + measured + tuned);
  SECTION("and a file without news is written byte for byte as before") {
    const std::string before = content(path);
    store_sample(path, "", "binary");
    CHECK(content(path) == before);
  }
}

TEST_CASE("Of another driver's entry of the same device in a file of MNN's the measurements stay") {
  const test::TemporaryFolder folder;
  const MnnSampleEntry old{kAdreno, {{"softmax", "", kOtherMd5, "stale"}}, "an old driver", "one"};
  const MnnSampleEntry unknown{kAdreno, {{"softmax", "", kOtherMd5, "?"}}, std::nullopt, "two"};
  const std::string path = folder.write("cache", mnn_sample_file({old, teacher(), unknown}));
  store_sample(path, "", "binary");
  const std::string text = file_text(content(path));
  const std::string expected = std::string(kAdreno) + ", driver " + kAdrenoDriver +
                               "\n  program conv_2d -cl-mad-enable " + kSampleMd5 +
                               " binary\n"
                               "  tuning one 64 32 1 8 4 1 17 conv of conv\n"
                               "  tuning two 64 32 1 8 4 1 17 conv of conv\n";
  CHECK(text.find(expected) != std::string::npos);
  CHECK(text.find(kAdreno) == text.rfind(std::string(kAdreno) + ", driver"));
}

TEST_CASE("A source that has two names in MNN is written under both") {
  const test::TemporaryFolder folder;
  MnnSampleEntry both = teacher();
  both.programs.push_back({"conv_2d_copy", "", kSampleMd5, "theirs"});
  both.programs.push_back({"unsound", "", "no digest", "theirs"});
  const std::string path = folder.path() / "cache";
  store_sample(path, folder.write("learn", mnn_sample_file({both})), "binary");
  const std::string text = file_text(content(path));
  CHECK(text.find("program conv_2d -cl-mad-enable") != std::string::npos);
  CHECK(text.find("program conv_2d_copy -cl-mad-enable") != std::string::npos);
}

TEST_CASE("A source that no MNN was seen to name is left out, and nothing is written") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "cache";
  const auto cache = open_mnn_cache(path, "");
  REQUIRE(cache.ok());
  const auto stored =
      (*cache)->store(test::cached_sample(), test::adreno(), test::view_of("b"), "");
  CHECK(stored.status().code == Code::requirement);
  CHECK(stored.status().message ==
        "no MNN was seen to cache it, so the name of its kernel file is not known");
  REQUIRE((*cache)->finish().ok());
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("Of two drivers of one device a file of MNN's has the first") {
  const test::TemporaryFolder folder;
  const std::string learn = folder.write("learn", mnn_sample_file({teacher()}));
  const auto cache = open_mnn_cache(folder.path() / "cache", learn);
  const auto store = [&](const runtime::Facts &device) {
    return (*cache)->store(test::cached_sample(), device, test::view_of("b"), "").status();
  };
  CHECK(store(test::adreno()).ok());
  CHECK(store(with(test::adreno(), "driver_version", "2")).message ==
        "MNN calls the device Adreno(TM) 750, and one of that name with another driver is written; "
        "a file has room for one: choose with --target");
  CHECK(store(with(test::adreno(), "device_version", "OpenCL 3.0 Adreno(TM) 840")).ok());
  CHECK(store(test::adreno()).ok());
}

TEST_CASE("Where a file of MNN's cannot be written, all that was to be in it is left out") {
  const test::TemporaryFolder folder;
  const std::string learn = folder.write("learn", mnn_sample_file({teacher()}));
  folder.write("file", "not a folder");
  const auto cache = open_mnn_cache(folder.path() / "file" / "cache", learn);
  REQUIRE(cache.ok());
  packs::Contents contents;
  contents.programs.emplace_back().name = "p";
  contents.programs[0].variants = {test::variant("v", test::cached_sample().source)};
  contents.targets = {test::target("first")};
  contents.targets[0].binaries = {
      test::binary(contents.programs[0].variants[0], test::bytes_of("binary"))};
  const auto outcomes = export_binaries(contents, {{"phone", test::adreno(), &contents.targets[0]}},
                                        "", cache->get());
  REQUIRE(outcomes.size() == 1);
  CHECK(outcomes[0].status.code == Code::io_error);
  CHECK(outcomes[0].file.empty());
}

TEST_CASE("A binary in a file of MNN's is found by each byte of source, options and driver") {
  const test::TemporaryFolder folder;
  const auto find = [&](const MnnSampleEntry &entry) {
    const std::string path = folder.write("cache", mnn_sample_file({entry}));
    return (*open_mnn_cache(path, ""))->find(test::cached_sample(), test::adreno()).status().code;
  };
  const MnnSampleEntry right{
      kAdreno, {{"conv_2d", "-cl-mad-enable", kSampleMd5, "b"}}, kAdrenoDriver};
  CHECK(find(right) == Code::ok);
  for (const auto &change : std::vector<void (*)(MnnSampleEntry *)>{
           [](MnnSampleEntry *entry) { entry->device.back() = '1'; },
           [](MnnSampleEntry *entry) { entry->driver->back() = '1'; },
           [](MnnSampleEntry *entry) { entry->driver = ""; },
           [](MnnSampleEntry *entry) { entry->programs[0].options.back() = 'f'; },
           [](MnnSampleEntry *entry) { entry->programs[0].options += ' '; },
           [](MnnSampleEntry *entry) { entry->programs[0].md5.back() = '0'; }}) {
    MnnSampleEntry wrong = right;
    change(&wrong);
    CHECK(find(wrong) == Code::not_found);
  }
}

TEST_CASE("A program without options has no text of them in a file of MNN's") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write(
      "cache", mnn_sample_file({{kAdreno, {{"conv_2d", "", kSampleMd5, "b"}}, kAdrenoDriver}}));
  const auto cache = open_mnn_cache(path, "");
  REQUIRE(cache.ok());
  CHECK((*cache)->find({test::cached_sample().source, ""}, test::adreno()).ok());
}

TEST_CASE("A file of MNN's that is cut short is refused") {
  const std::string file = mnn_sample_file({teacher()});
  REQUIRE(status_of(file).ok());
  // The last thing in it, a binary, is filled up with zeros.
  std::size_t filling = 0;
  while (filling < 3 && status_of(file.substr(0, file.size() - filling - 1)).ok()) ++filling;
  CHECK(file.find_last_not_of('\0') + 1 + filling == file.size());
  for (std::size_t size = 0; size < file.size() - filling; ++size) {
    CHECK(status_of(file.substr(0, size)).code == Code::bad_input);
  }
}

TEST_CASE("A damaged file of MNN's is refused, or what can be read of it is written again") {
  const std::string file = mnn_sample_file({teacher(), teacher()});
  std::mt19937 random(1);
  std::size_t read_again = 0;
  for (int round = 0; round < 5000; ++round) {
    packs::Bytes bytes(file.begin(), file.end());
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    const auto damaged = MnnFile::read(std::move(bytes));
    if (!damaged.ok()) continue;
    const auto written = damaged->bytes();
    REQUIRE(written.ok());
    const auto again = MnnFile::read({written->begin(), written->end()});
    REQUIRE(again.ok());
    if (*again->bytes() == *written) ++read_again;
  }
  CHECK(read_again > 100);
}

TEST_CASE("A file whose tables are not those of MNN's is refused") {
  const std::string not_mnn = "it is not as MNN writes its OpenCL cache: ";
  using Offset = test::MnnSampleWriter::Offset;
  const auto message_of = [](const auto &make_root) {
    test::MnnSampleWriter out;
    const Offset root = make_root(&out);
    return status_of(out.finish(root)).message;
  };
  CHECK(status_of("").message == not_mnn + "its tables lead out of the file");
  CHECK(status_of(std::string(64, '\0')).code == Code::bad_input);
  CHECK(message_of([](auto *out) { return out->table({}); }) ==
        not_mnn + "it has no list of devices");
  CHECK(message_of([](auto *out) {
          return out->table({{0, out->tables({out->table({})})}});
        }) == not_mnn + "a device or program has no name, or a zero in its texts");
  // As MNN wrote it before it had a list of devices.
  CHECK(message_of([](auto *out) {
          const Offset program = out->table({{0, out->bytes("b")}, {1, out->text("conv_2d")}});
          return out->table({{0, out->tables({program})}, {1, out->tables({})}});
        }) == not_mnn + "its tables lead out of the file");
  CHECK(message_of([](auto *out) {
          return out->table({{0, out->tables({})}, {3, out->tables({})}});
        }) == not_mnn + "a table has a field that is not known, as that of another version");
  // As it wrote it when the list had MNN's version.
  CHECK(message_of([](auto *out) {
          const Offset name = out->text("Mali-G710"), none = out->tables({});
          const Offset entry =
              out->table({{0, out->text("2.9.0")}, {1, name}, {2, none}, {3, none}, {4, none}});
          return out->table({{0, out->tables({entry})}});
        }) == not_mnn + "its tables lead out of the file");
  MnnSampleEntry zero = teacher();
  zero.programs[0].options[2] = '\0';
  CHECK(status_of(mnn_sample_file({zero})).code == Code::bad_input);
  zero = teacher();
  zero.programs[0].name[2] = '\0';
  CHECK(status_of(mnn_sample_file({zero})).message ==
        not_mnn + "a device or program has no name, or a zero in its texts");
}

TEST_CASE("A file of MNN's with more tables than it has room for is refused") {
  // One program, as often as a list of 4096 entries names it, and that list as often as 4096
  // devices have it.
  test::MnnSampleWriter out;
  const auto program = out.table({{1, out.text("conv_2d")}, {3, out.text("")}});
  const auto programs = out.tables(std::vector<test::MnnSampleWriter::Offset>(4096, program));
  const auto entry = out.table({{0, out.text("Mali-G710")}, {1, programs}});
  const auto entries = out.tables(std::vector<test::MnnSampleWriter::Offset>(4096, entry));
  CHECK(status_of(out.finish(out.table({{0, entries}}))).code == Code::bad_input);
  // A list that says that it is huge.
  std::string file = mnn_sample_file({});
  const auto *root = flatbuffers::GetRoot<Table>(file.data());
  const auto *list = root->GetPointer<const std::uint8_t *>(4);
  for (const char count : {'\x7f', '\xff'}) {
    std::string huge = file;
    huge.replace(static_cast<std::size_t>(reinterpret_cast<const char *>(list) - file.data()), 4,
                 std::string("\xff\xff\xff", 3) + count);
    CHECK(status_of(huge).code == Code::bad_input);
  }
}

TEST_CASE("A file that is not MNN's stays as it is, and so does one to learn from") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("cache", "something else");
  CHECK(open_mnn_cache(path, "").status().message ==
        path + ": it is not as MNN writes its OpenCL cache: its tables lead out of the file");
  CHECK(open_mnn_cache(folder.path() / "new", path).status().code == Code::failed);
  CHECK(open_mnn_cache(folder.path() / "new", folder.path() / "nosuch").status().code ==
        Code::not_found);
  CHECK(open_mnn_cache(folder.path(), "").status().message ==
        folder.path().string() + ": MNN's cache is one file, and this is a folder");
  CHECK(content(path) == "something else");
  CHECK(recognise_cache(path).status().code == Code::failed);
  CHECK(*recognise_cache(folder.write("cache", mnn_sample_file({teacher()}))) == "mnn");
}
