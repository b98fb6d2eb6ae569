#include "server/events.h"

#include <fmt/format.h>

namespace steplens::server {
namespace {
constexpr size_t kMaxWaiting = 1000;
}

std::optional<std::string> EventHub::Listener::Next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return closed_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  std::string event = std::move(queue_.front());
  queue_.pop_front();
  return event;
}

bool EventHub::Listener::is_closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::shared_ptr<EventHub::Listener> EventHub::Listen() {
  const std::lock_guard lock(mutex_);
  if (closed_ || listeners_.size() >= kMaxListeners) return nullptr;
  return listeners_.emplace_back(std::make_shared<Listener>());
}

void EventHub::Leave(const std::shared_ptr<Listener>& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.remove(listener);
}

void EventHub::Publish(const std::string& event, const std::string& json) {
  const std::string text = fmt::format("event: {}\ndata: {}\n\n", event, json);
  const std::lock_guard lock(mutex_);
  for (const auto& listener : listeners_) {
    const std::lock_guard listener_lock(listener->mutex_);
    listener->queue_.push_back(text);
    if (listener->queue_.size() > kMaxWaiting) listener->queue_.pop_front();
    listener->changed_.notify_all();
  }
}

void EventHub::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& listener : listeners_) {
    const std::lock_guard listener_lock(listener->mutex_);
    listener->closed_ = true;
    listener->changed_.notify_all();
  }
}

}  // namespace steplens::server
