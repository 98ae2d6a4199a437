// SPDX-License-Identifier: Apache-2.0
// Files of MNN's OpenCL cache, written by FlatBuffers' builder alone, with the numbers of the
// slots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <flatbuffers/flatbuffers.h>

namespace kiln::test {

struct MnnSampleProgram {
  std::string name;
  std::string options;
  std::string md5;
  std::string binary;
};

struct MnnSampleEntry {
  std::string device;
  std::vector<MnnSampleProgram> programs;
  std::optional<std::string> driver = std::nullopt;
  std::string measured = {};  // the key of a tuning, with which a gemm comes; empty: neither
};

// Tables by slot; a table's fields are added in the order of the calls.
class MnnSampleWriter {
 public:
  using Offset = flatbuffers::uoffset_t;
  using Fields = std::vector<std::pair<int, Offset>>;

  Offset text(const std::string &value) { return builder_.CreateString(value).o; }
  Offset bytes(const std::string &value) {
    return builder_.CreateVector(std::vector<std::int8_t>(value.begin(), value.end())).o;
  }
  Offset words(const std::vector<std::uint32_t> &value) { return builder_.CreateVector(value).o; }
  Offset tables(const std::vector<Offset> &values) {
    return builder_
        .CreateVector(std::vector<flatbuffers::Offset<void>>(values.begin(), values.end()))
        .o;
  }
  Offset table(const Fields &fields, std::optional<std::pair<int, std::uint32_t>> word = {}) {
    const Offset start = builder_.StartTable();
    for (const auto &[slot, offset] : fields) {
      builder_.AddOffset(at(slot), flatbuffers::Offset<void>(offset));
    }
    if (word) builder_.AddElement(at(word->first), word->second);
    return builder_.EndTable(start);
  }
  std::string finish(Offset root) {
    builder_.Finish(flatbuffers::Offset<void>(root));
    return {reinterpret_cast<const char *>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  static flatbuffers::voffset_t at(int slot) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * slot);
  }

  flatbuffers::FlatBufferBuilder builder_;
};

inline MnnSampleWriter::Offset mnn_sample_entry(const MnnSampleEntry &entry, MnnSampleWriter *out) {
  std::vector<MnnSampleWriter::Offset> programs;
  for (const MnnSampleProgram &program : entry.programs) {
    const auto buffer = out->bytes(program.binary);
    const auto name = out->text(program.name);
    MnnSampleWriter::Fields fields{{0, buffer}, {1, name}, {4, out->text(program.md5)}};
    if (!program.options.empty()) fields.emplace_back(3, out->text(program.options));
    programs.push_back(out->table(fields));
  }
  MnnSampleWriter::Fields fields{{0, out->text(entry.device)}, {1, out->tables(programs)}};
  if (!entry.measured.empty()) {
    const auto tuning = out->table({{0, out->text(entry.measured)},
                                    {1, out->words({64, 32, 1})},
                                    {2, out->words({8, 4, 1})},
                                    {4, out->text("conv")},
                                    {5, out->text("of conv")}},
                                   {{3, 17}});
    fields.emplace_back(2, out->tables({tuning}));
    const auto gemm =
        out->table({{0, out->words({7, 8, 9})}, {1, out->words({1})}, {2, out->text("of gemm")}});
    fields.emplace_back(3, out->tables({gemm}));
  }
  if (entry.driver) fields.emplace_back(4, out->text(*entry.driver));
  return out->table(fields);
}

// With one operator that was tuned.
inline std::string mnn_sample_file(const std::vector<MnnSampleEntry> &entries) {
  MnnSampleWriter out;
  std::vector<MnnSampleWriter::Offset> backends;
  for (const MnnSampleEntry &entry : entries) backends.push_back(mnn_sample_entry(entry, &out));
  const auto shape = out.table({{0, out.words({1, 3, 224, 224})}});
  const auto inputs = out.tables({shape}), outputs = out.tables({});
  const auto name = out.text("softmax");
  const auto operation = out.table({{0, name}, {2, inputs}, {3, outputs}}, {{1, 5}});
  return out.finish(out.table({{0, out.tables(backends)}, {1, out.tables({operation})}}));
}

}  // namespace kiln::test
