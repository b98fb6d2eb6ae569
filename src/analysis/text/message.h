#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::analysis {

struct Message;

// What fills one placeholder of a message: a text as shown, or another message.
struct MessageArg {
  MessageArg(std::string arg_name, std::string arg_text);
  MessageArg(std::string arg_name, Message arg_message);

  std::string name;
  std::string text;
  std::vector<Message> message;  // at most one; it wins over `text`
};

// A sentence, or a part of one, as a key of the catalogue (en.json, zh.json) and what goes into it.
// Analyses make messages; they become words where something is rendered, in the reader's language.
struct Message {
  std::string key{};  // "gap.host_bound"; empty: nothing to say
  std::vector<MessageArg> args{};

  bool empty() const { return key.empty(); }
};

enum class Language : uint8_t { kEnglish, kChinese };

// The words of a message. A key that no catalogue has shows itself, and a placeholder without an
// argument stays, so that a mistake is seen. For many threads at once.
std::string Render(const Message& message, Language language);
std::string English(const Message& message);
std::string Chinese(const Message& message);

// A sentence that exists in one language only, such as a note that quotes a file.
Message Note(std::string_view text);

}  // namespace steplens::analysis
