#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace steplens {

enum class ErrorCode : uint8_t {
  kInvalidArgument,  // The user asked for something impossible. Exit code 2.
  kNotFound,         // Input path, rank, step or column is absent. Exit 3.
  kCorruptData,      // The bytes do not follow their format. Exit 4.
  kUnsupported,      // Known format or version we do not read yet. Exit 5.
  kIo,               // The operating system refused. Exit 6.
  kOutOfMemory,      // More than --max-memory, or than there is. Exit 7.
  kCancelled,        // Ctrl-C or the client went away. Exit 130.
  kInternal,         // A bug of ours; always ask for a report. Exit 70.
};

// What went wrong, in words a user can act on.
struct Error {
  ErrorCode code;
  std::string message;  // "kernel_details.csv:17: column 'Duration(us)' is not a number: 'abc'"

  // Prefixes the message with what the caller was doing.
  Error During(std::string_view action) && {
    message.insert(0, std::string(action) + ": ");
    return std::move(*this);
  }
};

// Success or an Error. [[nodiscard]]: dropping one is a compile error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error e) : error_(std::move(e)) {}  // NOLINT: implicit by design
  bool ok() const { return !error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

// A T or an Error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::move(value)) {}  // NOLINT: implicit by design
  Result(Error e) : v_(std::move(e)) {}      // NOLINT: implicit by design
  bool ok() const { return v_.index() == 0; }
  T& operator*() & { return std::get<0>(v_); }
  const T& operator*() const& { return std::get<0>(v_); }
  T&& operator*() && { return std::get<0>(std::move(v_)); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  const Error& error() const& { return std::get<1>(v_); }
  Error&& error() && { return std::get<1>(std::move(v_)); }

 private:
  std::variant<T, Error> v_;
};

}  // namespace steplens

#define SL_CONCAT_INNER_(a, b) a##b
#define SL_CONCAT_(a, b) SL_CONCAT_INNER_(a, b)

// Returns the error of a Status or Result expression to the caller.
#define SL_RETURN_IF_ERROR(expr)                      \
  do {                                                \
    if (auto sl_status_ = (expr); !sl_status_.ok()) { \
      return std::move(sl_status_).error();           \
    }                                                 \
  } while (false)

// Declares `decl` from the value of a Result expression, or returns its error.
#define SL_ASSIGN_OR_RETURN(decl, expr) \
  SL_ASSIGN_OR_RETURN_(SL_CONCAT_(sl_result_, __LINE__), decl, expr)
#define SL_ASSIGN_OR_RETURN_(tmp, decl, expr)   \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  decl = *std::move(tmp)
