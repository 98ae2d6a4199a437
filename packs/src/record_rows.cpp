#include "record_rows.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace kiln::packs {
namespace {

template <typename Record>
std::vector<const Record *> sorted(const std::vector<Record> &records) {
  std::vector<const Record *> result;
  for (const Record &record : records) result.push_back(&record);
  std::sort(result.begin(), result.end(),
            [](const Record *a, const Record *b) { return place_of(*a) < place_of(*b); });
  return result;
}

}  // namespace

std::uint64_t text_size(const std::vector<Tuning> &tunings) {
  std::set<std::string_view> texts;
  for (const Tuning &t : tunings) {
    texts.insert({t.program, t.variant, t.kernel, t.profile, t.family, t.model, t.conditions});
  }
  std::uint64_t size = 0;
  for (const std::string_view text : texts) size += text.size();
  return size;
}

CrossCheckRows add_rows(const std::vector<CrossCheck> &checks,
                        flatbuffers::FlatBufferBuilder *root) {
  if (checks.empty()) return 0;
  std::vector<fb::CrossCheck> rows;
  for (const CrossCheck *c : sorted(checks)) rows.emplace_back(c->device, c->target, c->result, 0);
  return root->CreateVectorOfStructs(rows);
}

TuningRows add_rows(const std::vector<Tuning> &tunings, flatbuffers::FlatBufferBuilder *root) {
  if (tunings.empty()) return 0;
  std::vector<flatbuffers::Offset<fb::Tuning>> rows;
  for (const Tuning *t : sorted(tunings)) {
    const auto program = root->CreateSharedString(t->program);
    const auto variant = root->CreateSharedString(t->variant);
    const auto kernel = root->CreateSharedString(t->kernel);
    const auto profile = root->CreateSharedString(t->profile);
    const auto family = root->CreateSharedString(t->family);
    const auto model = root->CreateSharedString(t->model);
    const auto conditions = root->CreateSharedString(t->conditions);
    const fb::Size3 local_size(t->local_size[0], t->local_size[1], t->local_size[2]);
    rows.push_back(fb::CreateTuning(*root, program, variant, kernel,
                                    static_cast<std::uint8_t>(t->size_class), profile, family,
                                    model, t->key_hash, &local_size, t->nanoseconds,
                                    t->default_nanoseconds, t->samples, t->spread, conditions));
  }
  return root->CreateVector(rows);
}

}  // namespace kiln::packs
