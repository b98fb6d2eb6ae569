#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdint>

// What the stand-in libraries share: the call log and the faults that the environment asks for
// (README.md).
namespace standin {

// Appends a line to the log. One write: lines of threads do not mix.
void Log(const char* format, ...) __attribute__((format(printf, 1, 2)));

// A number from the environment, or `otherwise`.
int64_t Setting(const char* name, int64_t otherwise);

// The code that this call of `function` is to give, `otherwise` if no fault is planted for it.
// `calls` counts them.
int Planted(const char* function, std::atomic<int>& calls, int otherwise);

// Logs the call and returns from the enclosing function if a fault is planted for it.
#define STANDIN_CALL(function, ...)                                          \
  do {                                                                       \
    static std::atomic<int> standin_calls{0};                                \
    ::standin::Log(__VA_ARGS__);                                             \
    const int standin_code = ::standin::Planted(function, standin_calls, 0); \
    if (standin_code != 0) return standin_code;                              \
  } while (false)

}  // namespace standin
