#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace steplens::server {

// Hands what happens to every listener (server-sent events). Any thread may publish. A listener
// that does not keep up loses its oldest events: each of them only says "look again".
class EventHub {
 public:
  static constexpr size_t kMaxListeners = 16;

  class Listener {
   public:
    // The next event in the form it is sent in; nothing after the timeout or when closed.
    std::optional<std::string> Next(std::chrono::milliseconds timeout);
    bool is_closed();

   private:
    friend class EventHub;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> queue_;
    bool closed_ = false;
  };

  // Null if there are too many. Shared: the hub and the connection hold it, whichever ends first.
  std::shared_ptr<Listener> Listen();
  void Leave(const std::shared_ptr<Listener>& listener);
  void Publish(const std::string& event, const std::string& json);
  void Close();  // wakes all listeners for good

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<Listener>> listeners_;
  bool closed_ = false;
};

}  // namespace steplens::server
