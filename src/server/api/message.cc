#include "server/api/message.h"

namespace steplens::server {

void WriteMessage(JsonWriter& json, const analysis::Message& message) {
  json.Key("key").String(message.key).Key("args").BeginObject();
  for (const analysis::MessageArg& arg : message.args) {
    json.Key(arg.name);
    if (arg.message.empty()) {
      json.String(arg.text);
      continue;
    }
    json.BeginObject();
    WriteMessage(json, arg.message.front());
    json.EndObject();
  }
  json.EndObject().Key("text").String(analysis::English(message));
}

}  // namespace steplens::server
