#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::analysis::cluster {

// Traffic from one rank to another, of one kind of operation over one kind of link.
struct LinkTotal {
  int64_t src = 0;
  int64_t dst = 0;
  std::string_view transport;  // texts of whoever has the links
  std::string_view op;         // "allreduce-total"
  double size_mb = 0;
  double time_ms = 0;
  std::string_view group{};  // where it was sent
  double gbps() const { return time_ms > 0 ? size_mb / time_ms : 0; }
};

enum class LinkClass : uint8_t {
  kSender,    // most links from a rank are slow: a row of the matrix
  kReceiver,  // most links to a rank: a column
  kLink,      // a single one
};

// What a slow link took longer in the calls of one kind in one group, over all steps.
struct LinkExtra {
  int64_t src = 0;
  int64_t dst = 0;
  std::string group;
  std::string op;  // "allreduce-total"
  double ms = 0;
};

struct SlowLink {
  LinkClass kind = LinkClass::kLink;
  int64_t src = -1;  // -1: any
  int64_t dst = -1;
  std::string transport;
  size_t links = 0;       // how many of them are slow
  double gbps = 0;        // their bandwidth
  double usual_gbps = 0;  // the median of links of the same kind
  double lost_ms = 0;     // longest extra time of one of them, per step
  std::vector<LinkExtra> extras;
};

// Links with less than 60 % of the median bandwidth of the same transport and operation, over all
// of the `steps` that `links` are of. A link that a rank has with itself does not count. Largest
// loss first.
std::vector<SlowLink> FindSlowLinks(const std::vector<LinkTotal>& links, size_t steps);

}  // namespace steplens::analysis::cluster
