#include "collect/writer.h"

#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>

#include "collect/thread_state.h"

namespace steplens::collect {
namespace {

// One for the process and never destroyed: a thread may knock while the writer ends.
struct Doorbell {
  Doorbell() { sem_init(&semaphore, 0, 0); }
  sem_t semaphore;
  std::atomic<bool> rung{false};
};

Doorbell& TheDoorbell() {
  static Doorbell* const doorbell = new Doorbell;
  return *doorbell;
}

void WaitAtDoor(uint32_t period_ms) {
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);  // wall clock changes do not matter
  until.tv_sec += period_ms / 1000;
  until.tv_nsec += static_cast<long>(period_ms % 1000) * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  Doorbell& door = TheDoorbell();
  while (sem_clockwait(&door.semaphore, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
  door.rung.store(false, std::memory_order_release);
}

}  // namespace

void HurryWriter() {
  Doorbell& door = TheDoorbell();
  if (door.rung.exchange(true, std::memory_order_acq_rel)) return;
  sem_post(&door.semaphore);
}

Writer::Writer(uint32_t period_ms, std::function<void()> pass)
    : period_ms_(period_ms), pass_(std::move(pass)) {
  TheDoorbell();
}

bool Writer::Start() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, &attributes, Run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) return false;
  pthread_setname_np(thread_, "steplens");
  return true;
}

void* Writer::Run(void* self) {
  static_cast<Writer*>(self)->Loop();
  return nullptr;
}

void Writer::Loop() {
  while (true) {
    uint64_t asked = 0;
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      asked = asked_;
      stopping = stopping_;
    }
    pass_();
    {
      const std::lock_guard lock(mutex_);
      answered_ = asked;
      pass_ended_.notify_all();
      if (stopping) return;
      if (asked_ != asked || stopping_) continue;
    }
    WaitAtDoor(period_ms_);
  }
}

void Writer::WaitForPass() {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++asked_;
  HurryWriter();
  pass_ended_.wait(lock, [&] { return answered_ >= mine || stopping_; });
}

void Writer::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    pass_ended_.notify_all();
  }
  HurryWriter();
  pthread_join(thread_, nullptr);
}

}  // namespace steplens::collect
