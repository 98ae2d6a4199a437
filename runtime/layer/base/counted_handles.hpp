// SPDX-License-Identifier: Apache-2.0
// What the layer knows of an application's objects: a value for a handle, which lasts as long as
// the application's references to the object. Not thread-safe: an owner locks around each call.
#pragma once

#include <unordered_map>
#include <utility>

namespace kiln::layer {

template <typename Handle, typename Value>
class CountedHandles {
 public:
  // Replaces what is known of the handle: the driver may have reused it.
  void add(Handle handle, Value value) {
    entries_.insert_or_assign(handle, Entry{std::move(value)});
  }
  // Gives a clone its own copy of the value, if there is one.
  void add_clone(Handle clone, Handle of) {
    const Value *value = find(of);
    if (value == nullptr) return forget(clone);
    add(clone, Value(*value));
  }
  void forget(Handle handle) { entries_.erase(handle); }

  void retain(Handle handle) {
    const auto found = entries_.find(handle);
    if (found != entries_.end()) ++found->second.references;
  }
  // Called before the driver may reuse the handle.
  void release(Handle handle) {
    const auto found = entries_.find(handle);
    if (found != entries_.end() && --found->second.references == 0) entries_.erase(found);
  }

  // Returns null if nothing is known.
  Value *find(Handle handle) {
    const auto found = entries_.find(handle);
    return found == entries_.end() ? nullptr : &found->second.value;
  }
  const Value *find(Handle handle) const {
    const auto found = entries_.find(handle);
    return found == entries_.end() ? nullptr : &found->second.value;
  }
  bool is_empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Value value;
    unsigned references = 1;
  };

  std::unordered_map<Handle, Entry> entries_;
};

}  // namespace kiln::layer
