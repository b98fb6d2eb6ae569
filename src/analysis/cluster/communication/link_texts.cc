#include "analysis/cluster/communication/link_texts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cluster/communication/json_number.h"
#include "analysis/cluster/communication/local_ranks.h"
#include "analysis/cluster/group_name.h"
#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

// A row with its ends as global ranks.
struct Link {
  int64_t src = 0;
  int64_t dst = 0;
  const LinkRow* row = nullptr;
};

// Members of the groups that the rank's own metadata name, and of those that it can guess.
class Members {
 public:
  Members(const RankFacts& facts, const LinkPart& part) : ranks_(part.texts.size()) {
    std::map<std::string, const GroupFact*> by_name;
    for (const GroupFact& fact : facts.groups) by_name.try_emplace(GroupName(fact.id), &fact);
    for (size_t i = 0; i < part.texts.size(); ++i) {
      const auto found = by_name.find(part.texts[i]);
      if (found != by_name.end()) ranks_[i] = found->second->ranks.ranks();
    }
    for (const GroupSight& sight : part.sights) {
      const bool is_itself =
          std::find(sight.selves.begin(), sight.selves.end(), facts.rank) != sight.selves.end();
      if (is_itself && sight.group < ranks_.size() && ranks_[sight.group].empty())
        guessed_.push_back(sight.group);
    }
  }
  std::optional<int64_t> Find(uint32_t group, int64_t local) const {
    if (group >= ranks_.size() || local < 0) return std::nullopt;
    if (std::find(guessed_.begin(), guessed_.end(), group) != guessed_.end()) return local;
    if (local >= static_cast<int64_t>(ranks_[group].size())) return std::nullopt;
    return ranks_[group][static_cast<size_t>(local)];
  }
  const std::vector<uint32_t>& guessed() const { return guessed_; }

 private:
  std::vector<std::vector<int64_t>> ranks_;  // by text
  std::vector<uint32_t> guessed_;            // texts; few
};

using Key = std::tuple<uint32_t, bool, uint32_t, uint32_t>;  // group, use, step, operation

std::string Ends(const Link& link) {
  return std::to_string(link.src) + "-" + std::to_string(link.dst);
}

// Sums of links with equal ends, by ends.
std::vector<LinkRow> SumByEnds(std::vector<Link>& links, std::vector<std::string>& ends) {
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
  });
  std::vector<LinkRow> sums;
  for (size_t i = 0; i < links.size(); ++i) {
    if (i > 0 && links[i].src == links[i - 1].src && links[i].dst == links[i - 1].dst) {
      sums.back().size_mb += links[i].row->size_mb;
      sums.back().time_ms += links[i].row->time_ms;
    } else {
      sums.push_back(*links[i].row);
      ends.push_back(Ends(links[i]));
    }
  }
  return sums;
}

}  // namespace

bool IsTotalOperation(std::string_view op) {
  return !op.empty() && op.find("top") == op.npos && op.find("middle") == op.npos &&
         op.find("bottom") == op.npos;
}

void AppendLink(std::string& out, std::string_view ends, std::string_view transport,
                std::string_view picked_op, double size_mb, double time_ms) {
  out += '"';
  out += ends;
  out += "\": {\"Transport Type\": ";
  AppendJsonString(out, transport);
  out += ", \"Transit Time(ms)\": ";
  AppendJsonFloat(out, time_ms);
  out += ", \"Transit Size(MB)\": ";
  AppendJsonFloat(out, size_mb);
  out += ", \"Op Name\": ";
  AppendJsonString(out, picked_op);
  out += ", \"Bandwidth(GB/s)\": ";
  AppendJsonFloat(out, Ratio4(size_mb, time_ms));
  out += '}';
}

std::optional<LinkTexts> RenderLinks(const RankFacts& facts, const LinkPart& part,
                                     std::string& json) {
  const Members members(facts, part);
  std::map<Key, std::vector<Link>> operations;
  std::map<Key, std::vector<Link>> totals;
  std::vector<bool> is_total(part.texts.size());
  for (size_t i = 0; i < part.texts.size(); ++i) is_total[i] = IsTotalOperation(part.texts[i]);
  for (const LinkRow& row : part.links) {
    const auto src = members.Find(row.group, row.src);
    const auto dst = members.Find(row.group, row.dst);
    if (!src || !dst) return std::nullopt;
    const Link link{*src, *dst, &row};
    operations[{row.group, row.is_p2p, row.step, row.op}].push_back(link);
    if (row.op < is_total.size() && is_total[row.op])
      totals[{row.group, row.is_p2p, row.step, 0}].push_back(link);
  }
  LinkTexts out;
  out.texts = part.texts;
  out.guessed = members.guessed();
  out.sights = part.sights;
  json.reserve(part.links.size() * 256);
  for (auto* keyed : {&operations, &totals}) {
    for (auto& [key, links] : *keyed) {
      const auto all = [&](int64_t Link::* end) {
        return std::all_of(links.begin(), links.end(),
                           [&](const Link& link) { return link.*end == facts.rank; });
      };
      const bool is_sent = all(&Link::src);
      if (!is_sent && !all(&Link::dst)) return std::nullopt;
      std::vector<std::string> ends;
      const std::vector<LinkRow> sums = SumByEnds(links, ends);
      const size_t begin = json.size();
      for (size_t i = 0; i < sums.size(); ++i) {
        if (i > 0) json += ", ";
        AppendLink(json, ends[i], part.Text(sums[i].transport), part.Text(sums[i].picked_op),
                   sums[i].size_mb, sums[i].time_ms);
      }
      const auto& [group, is_p2p, step, op] = key;
      (keyed == &operations ? out.operations : out.totals)
          .push_back({group, step, op, is_p2p, !is_sent, json.size() - begin});
    }
  }
  return out;
}

bool AddLinkTexts(const std::vector<RankLinkTexts>& ranks, OperationTexts& file) {
  // A link that both of its ends report would be there twice.
  struct Reports {
    size_t all = 0;
    size_t received = 0;
  };
  std::map<Key, Reports> reports;
  const bool any_received = std::any_of(ranks.begin(), ranks.end(), [](const RankLinkTexts& rank) {
    return std::any_of(rank.index->operations.begin(), rank.index->operations.end(),
                       [](const LinkTexts::Operation& one) { return one.is_received; });
  });
  const auto is_twice = [&](const Key& key, bool is_received) {
    if (!any_received) return false;
    Reports& of_key = reports[key];
    of_key.received += is_received ? 1 : 0;
    return ++of_key.all > 1 && of_key.received > 0;
  };
  for (const auto& [rank, texts, json] : ranks) {
    std::vector<uint32_t> numbers;
    for (const std::string& text : texts->texts) numbers.push_back(file.Number(text));
    const auto number = [&](uint32_t id) { return numbers[id < numbers.size() ? id : 0]; };
    if (numbers.empty()) return texts->operations.empty();
    PieceCutter cutter(json);
    for (const LinkTexts::Operation& one : texts->operations) {
      const auto [group, step, op] =
          std::tuple(number(one.group), number(one.step), number(one.op));
      if (is_twice({group, one.is_p2p, step, op}, one.is_received)) return false;
      file.Add(group, one.is_p2p, step, op, cutter.Take(one.size));
    }
    for (const LinkTexts::Operation& one : texts->totals) {
      const auto [group, step] = std::pair(number(one.group), number(one.step));
      if (is_twice({group, one.is_p2p, step, UINT32_MAX}, one.is_received)) return false;
      const auto uses = one.is_p2p ? OperationTexts::kP2p : OperationTexts::kCollective;
      file.AddTotal(store::kNone, group, uses, step, cutter.Take(one.size));
    }
    if (!cutter.is_used_up()) return false;
  }
  return true;
}

bool AreGuessesRight(const std::vector<RankLinkTexts>& ranks, const GroupBook& book) {
  const auto text_of = [](const LinkTexts& texts, uint32_t id) {
    return id < texts.texts.size() ? texts.texts[id] : std::string();
  };
  std::set<std::string> guessed;
  for (const RankLinkTexts& one : ranks) {
    for (const uint32_t group : one.index->guessed) guessed.insert(text_of(*one.index, group));
  }
  if (guessed.empty()) return true;
  LocalRanks local_ranks;
  std::map<std::string, int64_t> largest;
  for (const RankLinkTexts& one : ranks) {
    for (const GroupSight& sight : one.index->sights) {
      const std::string group = text_of(*one.index, sight.group);
      if (!guessed.contains(group)) continue;
      local_ranks.Add(one.rank, group, sight);
      int64_t& of_group = largest[group];
      of_group = std::max(of_group, sight.largest);
    }
  }
  return std::all_of(guessed.begin(), guessed.end(), [&](const std::string& group) {
    const std::vector<int64_t> members = local_ranks.Of(group, book, /*compat=*/false);
    if (static_cast<int64_t>(members.size()) <= largest[group]) return false;
    for (size_t local = 0; local < members.size(); ++local) {
      if (members[local] != static_cast<int64_t>(local)) return false;
    }
    return true;
  });
}

}  // namespace steplens::analysis::cluster
