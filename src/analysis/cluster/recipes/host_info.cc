#include <map>

#include "analysis/cluster/recipes/recipes.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

struct Part {
  template <typename Archive>
  void Fields(Archive&) {}
};

// {"world_size": 8, "rank": 3, ...} without "rank", which differs between ranks.
std::string WithoutRank(const std::string& distributed_args) {
  const Result<JsonDocument> document = JsonDocument::Parse(distributed_args, "distributed_args");
  if (!document.ok() || !document->root().IsObject()) return {};
  JsonWriter json;
  json.BeginObject();
  document->root().ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "rank") return;
    json.Key(key);
    if (value.IsString()) {
      json.String(value.ToText());
    } else {
      json.Raw(value.ToText());
    }
  });
  return json.EndObject().Take();
}

// HostInfo, RankDeviceMap and ClusterBaseInfo: where the ranks ran.
class HostInfo : public RecipeOf<Part> {
 public:
  explicit HostInfo(const Options& options) : options_(options) {
    device_map_.AddColumn("rankId", CellType::kInt);
    device_map_.AddColumn("deviceId", CellType::kInt);
    device_map_.AddColumn("hostUid", CellType::kText);
    device_map_.AddColumn("profilePath", CellType::kText);
  }

  Result<Answer> Finish(Form form) override {
    Answer answer;
    if (options_.compat && form != Form::kTables) return answer;
    table::Table hosts("HostInfo");
    hosts.AddColumn("hostUid", CellType::kText);
    hosts.AddColumn("hostName", CellType::kText);
    for (const auto& [uid, name] : hosts_) {
      hosts.AppendText(0, uid);
      hosts.AppendText(1, name);
    }
    answer.tables.push_back({std::move(hosts), "host_info.csv"});
    answer.tables.push_back({std::move(device_map_), "rank_device_map.csv"});
    table::Table base("ClusterBaseInfo");
    base.AddColumn("key", CellType::kText);
    base.AddColumn("value", CellType::kText);
    if (!distributed_args_.empty()) {
      base.AppendText(0, "distributed_args");
      base.AppendText(1, distributed_args_);
    }
    answer.tables.push_back({std::move(base), "cluster_base_info.csv"});
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore&) const override { return {}; }

  void AddRank(const RankFacts& facts, Part) override {
    if (distributed_args_.empty() && !facts.distributed_args.empty())
      distributed_args_ = WithoutRank(facts.distributed_args);
    // The reference leaves out a rank that lacks one of the two.
    const bool is_known = !facts.host_uid.empty() && facts.device != store::kNone;
    if (options_.compat && !is_known) return;
    if (!facts.host_uid.empty()) hosts_.try_emplace(facts.host_uid, facts.host_name);
    device_map_.AppendInt(0, facts.rank);
    device_map_.AppendInt(1, facts.device);
    device_map_.AppendText(2, facts.host_uid);
    device_map_.AppendText(3, facts.path);
  }

 private:
  Options options_;
  std::map<std::string, std::string> hosts_;
  table::Table device_map_{"RankDeviceMap"};
  std::string distributed_args_;
};

}  // namespace

RecipeSpec HostInfoRecipe() {
  RecipeSpec spec;
  spec.name = "host_info";
  spec.folder = "HostInfo";
  spec.summary = "Where the ranks ran";
  spec.is_part_of_mode = true;
  spec.make = MakeRecipe<HostInfo>;
  return spec;
}

}  // namespace steplens::analysis::cluster
