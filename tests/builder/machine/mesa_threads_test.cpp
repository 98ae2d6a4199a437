// SPDX-License-Identifier: Apache-2.0
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <pthread.h>

#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

// A thread that works for a while, as one that writes a cache, and then waits for more.
class Worker {
 public:
  explicit Worker(std::string name) : thread_([this, name] { run(name); }) {}
  ~Worker() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    more_.notify_one();
    thread_.join();
  }
  bool wrote() const { return wrote_; }

 private:
  void run(const std::string &name) {
    if (!name.empty()) pthread_setname_np(pthread_self(), name.c_str());
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < end) {
    }
    wrote_ = true;
    std::unique_lock<std::mutex> lock(mutex_);
    more_.wait(lock, [this] { return over_; });
  }

  std::mutex mutex_;
  std::condition_variable more_;
  bool over_ = false;
  std::atomic<bool> wrote_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("what Mesa's threads have to write is waited for") {
  const Worker worker("kiln:disk$0");
  await_mesa();
  CHECK(worker.wrote());
}

TEST_CASE("a thread that did not come to name itself yet may be one of Mesa's") {
  const Worker worker("");
  await_mesa();
  CHECK(worker.wrote());
}
