// SPDX-License-Identifier: Apache-2.0
// Answers of the driver that stay the same while the process lives.
#pragma once

#include <map>
#include <mutex>
#include <utility>

namespace kiln::layer {

// Answers by what was asked. Thread-safe. Holds no lock while the driver is asked: a thread that is
// cancelled in there must not stop the others. Threads that ask at once may all ask the driver.
template <typename Key, typename Answer>
class AskedOnce {
 public:
  // Returns the answer to `key`, by `ask()` the first time.
  template <typename Ask>
  Answer find(const Key &key, const Ask &ask) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = known_.find(key);
      if (found != known_.end()) return found->second;
    }
    Answer answer = ask();
    const std::lock_guard<std::mutex> lock(mutex_);
    return known_.try_emplace(key, std::move(answer)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Answer> known_;
};

}  // namespace kiln::layer
