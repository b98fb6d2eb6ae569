#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing/random.h"
#include "analysis/viewer/metric.h"
#include "server/api/request.h"

namespace steplens::server {

// Requests that a page might send and requests that none would, through every endpoint: a grammar
// whose words are drawn at random, the same for the same seed on every machine.
class RequestMaker {
 public:
  explicit RequestMaker(uint32_t seed) : random_(seed) {
    for (const auto& entry : analysis::viewer::Metrics()) {
      metrics_.push_back('"' + entry.name + '"');
      sources_.push_back("\"metric:" + entry.name + '"');
    }
  }

  Request Make() {
    const Endpoint& endpoint = kEndpoints[Below(std::size(kEndpoints))];
    Request request;
    request.method = endpoint.method;
    request.path = endpoint.path;
    std::map<std::string, std::string, std::less<>> members;
    for (const std::string_view member : Split(endpoint.members, ' ')) {
      if (Below(4) == 0) continue;
      const size_t colon = member.find(':');
      members[std::string(member.substr(0, colon))] =
          Expand(Below(12) == 0 ? "any" : member.substr(colon + 1), 0);
    }
    if (request.method == "GET") {
      for (auto& [name, value] : members) request.query[name] = Unquoted(value);
    } else {
      for (const auto& [name, value] : members)
        request.body += (request.body.empty() ? "{" : ",") + ('"' + name + "\":") + value;
      request.body += request.body.empty() ? "{}" : "}";
    }
    return request;
  }

 private:
  struct Endpoint {
    std::string_view method;
    std::string_view path;
    std::string_view members;  // name:word ...
  };
  static constexpr Endpoint kEndpoints[] = {
      {"GET", "/info", ""},
      {"GET", "/fs", "path:text"},
      {"POST", "/open", "path:text"},
      {"POST", "/upload", "name:text at:int data:text"},
      {"POST", "/tiles", "ds:ds keys:keys align:align shade:shade rules:rules"},
      {"GET", "/ds/d", ""},
      {"GET", "/ds/d/tracks", "align:align"},
      {"GET", "/ds/d/strings", "top:int"},
      {"POST", "/ds/d/strings", "ids:ints"},
      {"GET", "/ds/d/tile", "track:track level:int index:int shade:shade"},
      {"GET", "/ds/d/modules", "rank:rank"},
      {"GET", "/ds/d/slice", "track:track i:int align:align"},
      {"GET", "/ds/d/at", "track:track t:time row:int w:int"},
      {"GET", "/ds/d/peers", "track:track i:int"},
      {"POST", "/ds/d/merge", "tracks:tracks"},
      {"POST", "/ds/d/lanes", "tracks:tracks t0:time t1:time"},
      {"POST", "/ds/d/range", "tracks:tracks t0:time t1:time clip:bool by:by rows:int"},
      {"POST", "/ds/d/hist",
       "name:text q:query filter:tree tracks:tracks t0:time t1:time bins:int log:bool by:by"},
      {"POST", "/ds/d/search",
       "q:query mode:mode filter:tree tracks:tracks t0:time t1:time limit:int cursor:text"},
      {"POST", "/ds/d/next", "track:track i:int dir:dir same:same q:query"},
      {"POST", "/ds/d/flows", "tracks:tracks t0:time t1:time cats:texts max:int"},
      {"POST", "/ds/d/table",
       "source:source args:args filter:conditions group:columns measures:measures sort:sort "
       "cols:columns offset:int limit:int align:align"},
      {"POST", "/ds/d/export",
       "source:source args:args filter:conditions group:columns measures:measures sort:sort "
       "cols:columns format:format"},
      {"POST", "/ds/d/sql", "query:sql limit:int timeout_ms:short"},
      {"POST", "/ds/d/sql_lanes", "query:sql name:text timeout_ms:short"},
      {"GET", "/ds/d/schema", ""},
      {"POST", "/ds/d/metric", "name:metric args:args align:align"},
      {"POST", "/ds/d/align", "mode:alignment side:text track:track i:int offsets:offsets"},
      {"POST", "/ds/d/explain",
       "kind:kind track:track i:int t:time name:metric column:column row:row args:args"},
      {"POST", "/ds/d/compare", "a:side b:side group_by:grouping key:text core:text"},
      {"POST", "/ds/d/snapshot", "tracks:tracks t0:time t1:time"},
      {"POST", "/ds/d/trace", "tracks:tracks t0:time t1:time"},
      {"POST", "/ds/d/focus", "ranks:ints"},
      {"POST", "/ds/d/ranks", "ranks:offsets"},
      {"POST", "/ds/d/view", "t:time"},
      {"GET", "/ds/d/view/0123456789abcdef", ""},
  };
  // What a word can be; $x is the word x again.
  struct Word {
    std::string_view name;
    std::string_view choices;  // separated by |
  };
  static constexpr Word kWords[] = {
      {"any", "null|true|[]|{}|\"\"|[[]]|$int|$text|$time|[$any,$any]|{\"col\":$any,\"op\":$any}"},
      {"int",
       "0|1|2|3|5|10|100|-1|255|65536|4294967295|4294967296|9223372036854775807|"
       "-9223372036854775808|1e300|0.5|-0.0"},
      {"short", "1|20|50"},
      {"time", "0|1|50|400|1000|1500|2000|4000|100000|-1|9223372036854775807|$int"},
      {"text",
       "\"\"|\"kernel\"|\"aten::op\"|\"a/b.json\"|\"../x\"|\"/\"|\"\\u0000\"|\"0\"|\"e\\u0301\""},
      {"texts", "[]|[$text]|[\"async_npu\"]|[$text,$text]"},
      {"bool", "true|false"},
      {"ds", "\"d\"|\"d\"|\"d\"|$text"},
      {"align", "0|0|0|1|2|$int"},
      {"rank", "0|1|1|$int"},
      {"ints", "[]|[0]|[$rank,$rank]|[$int]"},
      {"track", "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|2000000000|3000000000|$int"},
      {"tracks", "[]|[$track]|[$track]|[$track,$track]|[$track,$track,$track,$track]"},
      {"keys", "[]|[[$track,$level,$int]]|[[$track,5,0],[$track,$level,1]]"},
      {"level", "0|1|5|10|20|40|$int"},
      {"shade", "\"none\"|\"percentile\"|\"module\"|\"rules\""},
      {"rules", "[]|[{\"q\":$query,\"color\":$int}]"},
      {"by", "\"name\"|\"rank\"|\"lane\"|\"cat\"|\"none\""},
      {"mode", "\"contains\"|\"case\"|\"whole\"|\"exact\"|\"regex\""},
      {"query",
       "\"\"|\"kernel\"|\"dur>1us\"|\"rank=0 or name~op\"|\"not "
       "(lane:hw\"|\"self<5ns\"|\"arg.x=1\""},
      {"tree",
       "{\"field\":\"name\",\"op\":\"~\",\"value\":$text}|{\"and\":[$tree,$tree]}|"
       "{\"field\":\"dur\",\"op\":\">\",\"value\":$int}|{\"not\":$tree}|$any"},
      {"dir", "1|-1|\"next\"|\"prev\"|\"forward\"|\"back\""},
      {"same", "\"name\"|\"row\"|\"filter\"|\"lane\"|true"},
      {"source",
       "\"events\"|\"events\"|\"slices\"|\"kernels\"|\"breakdown\"|\"flows\"|\"ranks\"|$metric_"
       "source"},
      {"args",
       "{}|{\"tracks\":$tracks}|{\"tracks\":$tracks,\"rank\":$rank,\"t0\":$time,\"t1\":$time}|"
       "{\"rank\":$rank,\"step\":$int,\"group_by\":$grouping,\"top\":$int}|"
       "{\"tp\":$int,\"pp\":$int,\"dp\":$int,\"ep\":$int,\"layers\":$int,\"width\":$int}|"
       "{\"live_at\":$time,\"min_mb\":$int,\"type\":$text,\"name\":$text,\"ranks\":\"0-1\"}"},
      {"column",
       "\"name\"|\"start_ns\"|\"dur_ns\"|\"rank\"|\"count\"|\"sum(dur_ns)\"|\"Type\"|\"Rank\"|"
       "\"id\"|$text"},
      {"columns", "[]|[]|[$column]|[$column,$column]"},
      {"conditions",
       "[]|[]|[{\"col\":$column,\"op\":\"=\",\"value\":$any}]|"
       "[{\"col\":$column,\"op\":\"regex\",\"value\":$text}]|"
       "[{\"col\":$column,\"op\":\"<\",\"value\":$int},{\"col\":$column,\"op\":\"in\",\"value\":$"
       "texts}]"},
      {"function", "\"sum\"|\"avg\"|\"min\"|\"max\"|\"count\"|\"p50\"|\"p90\"|\"p99\"|$text"},
      {"measures",
       "[]|[{\"col\":$column,\"fn\":$function}]|[{\"col\":\"dur_ns\",\"fn\":$function}]"},
      {"sort", "[]|[]|[{\"col\":$column,\"desc\":$bool}]|[{\"col\":$column},{\"col\":$column}]"},
      {"format", "\"csv\"|\"tsv\"|\"json\"|$text"},
      {"sql",
       "\"SELECT 1\"|\"SELECT * FROM slices\"|\"SELECT begin_ns, dur_ns, name FROM slices\"|"
       "\"SELECT name, count(*) FROM kernels GROUP BY 1\"|\"DELETE FROM slices\"|\"SELECT\"|"
       "\"SELECT begin_ns, -5 AS dur_ns, NULL AS name, 99 AS rank FROM slices\"|\"PRAGMA x\""},
      {"alignment",
       "\"none\"|\"slice\"|\"collectives\"|\"offsets\"|\"start\"|\"first\"|\"slices\""},
      {"offsets", "{}|{\"0\":$int}|{\"0\":$time,\"1\":$time}|{\"x\":1}"},
      {"kind", "\"slice\"|\"gap\"|\"wait\"|\"number\"|$text"},
      {"row", "{}|{\"path\":$text}|{\"Name\":\"kernel\",\"Type\":\"MatMul\"}|{\"name\":$text}"},
      {"side", "{}|{\"rank\":$rank}|{\"rank\":$rank,\"step\":1}|{\"ds\":$ds,\"step\":$int}"},
      {"grouping", "\"name\"|\"type\"|\"name,shape\"|\"core,stream\"|\"module\"|$text"},
  };

  size_t Below(size_t limit) {
    return static_cast<size_t>(analysis::RandomBelow(random_, static_cast<int64_t>(limit)));
  }

  static std::vector<std::string_view> Split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
      parts.push_back(text.substr(0, text.find(by)));
      text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
    }
    return parts;
  }

  std::string_view Choose(std::string_view word) {
    if (word == "metric") return metrics_[Below(metrics_.size())];
    if (word == "metric_source") return sources_[Below(sources_.size())];
    for (const Word& known : kWords) {
      if (known.name != word) continue;
      const std::vector<std::string_view> choices = Split(known.choices, '|');
      return choices[Below(choices.size())];
    }
    return "null";
  }

  std::string Expand(std::string_view word, int depth) {
    const std::string_view text = depth > 8 ? "0" : Choose(word);
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '$') {
        out += text[i];
        continue;
      }
      const size_t end =
          std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", i + 1), text.size());
      out += Expand(text.substr(i + 1, end - i - 1), depth + 1);
      i = end - 1;
    }
    return out;
  }

  static std::string Unquoted(const std::string& text) {
    return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
  }

  std::mt19937 random_;
  std::vector<std::string> metrics_;
  std::vector<std::string> sources_;
};

}  // namespace steplens::server
