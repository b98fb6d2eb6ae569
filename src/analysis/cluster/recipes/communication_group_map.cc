#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/recipes/recipes.h"
#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

struct Part {
  std::vector<GroupUse> used;
  std::map<std::string, int64_t> least_members;  // by group: as many as its links show

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(used, least_members);
  }
};

std::string_view TypeName(const GroupUse& use) { return use.is_p2p ? "p2p" : "collective"; }

void WriteRanks(JsonWriter& json, const RankSet& ranks) {
  json.BeginArray();
  for (const int64_t rank : ranks.ranks()) json.Int(rank);
  json.EndArray();
}

class CommunicationGroupMap : public RecipeOf<Part> {
 public:
  explicit CommunicationGroupMap(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form form) override {
    Answer answer;
    answer.tables.push_back({Mapping(), "communication_group_map.csv"});
    if (form != Form::kTables) {
      answer.files.push_back(
          {"communication_group.json", [json = ToJson()](const auto& sink) { return sink(json); }});
    }
    size_t partly_seen = 0;
    for (const GroupBook::Group& group : book_.groups()) {
      if (static_cast<int64_t>(group.seen.size()) < Expected(group)) ++partly_seen;
    }
    if (!options_.compat) {
      answer.Note(partly_seen, "of " + std::to_string(book_.groups().size()) +
                                   " groups {have} members that were not captured");
    }
    answer.suggestion = Message{"suggestion.communication_group_map"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    // The reference knows groups from communication results only.
    if (options_.compat && rank.comm_times.size() == 0) return {};
    return {UsedGroups(rank), LeastMembers(rank)};
  }
  void AddRank(const RankFacts& facts, Part part) override {
    book_.Add(facts, part.used);
    for (const auto& [group, count] : part.least_members)
      least_members_[group] = std::max(least_members_[group], count);
  }

 private:
  int64_t Expected(const GroupBook::Group& group) const {
    const auto members = static_cast<int64_t>(group.members.size());
    const auto found = least_members_.find(group.use.name);
    return found == least_members_.end() ? members : std::max(members, found->second);
  }

  table::Table Mapping() const {
    table::Table table("CommunicationGroupMapping");
    for (const char* name : {"type", "rank_set", "group_name", "group_id", "pg_name"})
      table.AddColumn(name, CellType::kText);
    // Coverage: how many of the members were captured.
    const size_t seen = options_.compat ? 0 : table.AddColumn("seen_ranks", CellType::kInt);
    const size_t expected = options_.compat ? 0 : table.AddColumn("expected_ranks", CellType::kInt);
    for (const GroupBook::Group& group : book_.groups()) {
      table.AppendText(0, TypeName(group.use));
      table.AppendText(1, group.members.ToText(","));
      table.AppendText(2, group.use.name);
      table.AppendText(3, group.id);
      table.AppendText(4, group.pg_name);
      if (options_.compat) continue;
      table.AppendInt(seen, static_cast<int64_t>(group.seen.size()));
      table.AppendInt(expected, Expected(group));
    }
    return table;
  }

  // By type, then by name or, as the reference has it, by first sight.
  std::vector<GroupBook::Group> GroupsInOrder() const {
    std::vector<GroupBook::Group> groups = book_.groups();
    if (!options_.compat) return groups;
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
      return std::tie(a.use.is_p2p, a.sight) < std::tie(b.use.is_p2p, b.sight);
    });
    return groups;
  }

  std::string ToJson() const {
    const std::vector<GroupBook::Group> groups = GroupsInOrder();
    JsonWriter json;
    json.BeginObject();
    for (const bool is_p2p : {false, true}) {
      json.Key(is_p2p ? "p2p" : "collective").BeginArray();
      for (const GroupBook::Group& group : groups) {
        if (group.use.is_p2p == is_p2p) WriteRanks(json, group.seen);
      }
      json.EndArray();
    }
    json.Key("comm_group_parallel_info").BeginArray();
    for (const GroupBook::Group& group : groups) {
      json.BeginObject().Key("type").String(TypeName(group.use)).Key("rank_set");
      WriteRanks(json, group.members);
      json.Key("group_name").String(group.use.name).Key("group_id").String(group.id);
      json.Key("pg_name").String(group.pg_name).EndObject();
    }
    json.EndArray().EndObject();
    return json.Take();
  }

  Options options_;
  GroupBook book_;
  std::map<std::string, int64_t> least_members_;
};

}  // namespace

RecipeSpec CommunicationGroupMapRecipe() {
  RecipeSpec spec;
  spec.name = "communication_group_map";
  spec.folder = "CommunicationGroupMap";
  spec.summary = "Communication groups, their ranks and the parallel dimension they serve";
  spec.needs.communication = true;
  spec.make = MakeRecipe<CommunicationGroupMap>;
  return spec;
}

}  // namespace steplens::analysis::cluster
