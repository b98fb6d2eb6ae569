#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/json_number.h"
#include "analysis/cluster/communication/link_part.h"
#include "analysis/cluster/recipes/recipes.h"
#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

constexpr std::string_view kTotal = "Total Op Info";

// One end of a link: a global rank, or a rank of the group whose global number nobody knows.
struct End {
  int64_t rank = 0;
  bool is_mapped = false;
  auto operator<=>(const End&) const = default;
  std::string ToText() const { return is_mapped ? std::to_string(rank) : fmt::format("L{}", rank); }
};

// Traffic from one end to the other in one operation, summed over the ranks that report it. Texts
// are numbers into CommunicationMatrixSum::texts_.
struct Link {
  uint32_t group = 0;  // into groups_
  uint32_t step = 0;
  uint32_t op = 0;  // "allreduce-top1"
  int64_t src = 0;  // ranks of the group until MapEnds
  int64_t dst = 0;
  bool src_mapped = false;
  bool dst_mapped = false;
  uint32_t transport = 0;
  uint32_t picked_op = 0;
  double size_mb = 0;
  double time_ms = 0;

  std::tuple<uint32_t, uint32_t, uint32_t> operation() const { return {group, step, op}; }
  std::pair<End, End> ends() const { return {{src, src_mapped}, {dst, dst_mapped}}; }
  void Add(const Link& other) {
    size_mb += other.size_mb;
    time_ms += other.time_ms;
  }
};

// Consecutive equal numbers for equal texts or groups, in the order of first sight.
template <typename T>
class Numbering {
 public:
  uint32_t operator()(const T& value) {
    const auto [place, is_new] = numbers_.try_emplace(value, static_cast<uint32_t>(values_.size()));
    if (is_new) values_.push_back(value);
    return place->second;
  }
  const T& operator[](uint32_t number) const { return values_[number]; }
  size_t size() const { return values_.size(); }

 private:
  std::map<T, uint32_t> numbers_;
  std::vector<T> values_;
};

class CommunicationMatrixSum : public RecipeOf<LinkPart> {
 public:
  explicit CommunicationMatrixSum(const Options& options)
      : options_(options),
        keeps_unmapped_(!options.compat && options.Value("strict_reference").empty()) {
    texts_("");
  }

  Result<Answer> Finish(Form form) override {
    Answer answer;
    MergeLinks();
    MapEnds();
    if (form != Form::kTables && (!links_.empty() || !operations_without_links_.empty())) {
      answer.files.push_back({"cluster_communication_matrix.json",
                              [this](const ResultFile::Sink& sink) { return WriteJson(sink); }});
    }
    const bool has_file = !answer.files.empty();
    if ((!links_.empty() || !options_.compat) && !(has_file && form == Form::kFiles))
      answer.tables.push_back({Matrix(), "cluster_communication_matrix.csv"});
    if (!rank_totals_.empty())
      answer.tables.push_back({RankTotals(), "cluster_communication_matrix_by_rank.csv"});
    if (unmapped_ > 0) {
      answer.notes.push_back(fmt::format(
          "{} link{} an end whose rank nobody says; {}", unmapped_,
          unmapped_ == 1 ? " has" : "s have",
          keeps_unmapped_ ? "its rank inside the group is shown" : "they are left out"));
    }
    if (!rank_totals_.empty()) {
      answer.notes.push_back(
          "groups of more than 64 ranks show sums by rank and their slowest links; --full_matrix "
          "shows every link");
    }
    answer.suggestion_en =
        "Compare bandwidth between links of the same transport_type: a slow row is a slow sender, "
        "a slow column a slow receiver, a single slow cell a slow link.";
    answer.suggestion_zh =
        "比较相同 transport_type "
        "链路的带宽：整行慢说明发送端慢，整列慢说明接收端慢，单点慢说明链路慢。";
    return answer;
  }

 protected:
  LinkPart MapWithFacts(const store::TraceStore& rank, const RankFacts& facts) const override {
    const bool all_links = options_.compat || !options_.Value("full_matrix").empty();
    return ReadLinks(rank, facts, options_, all_links);
  }

  void AddRank(const RankFacts& facts, LinkPart part) override {
    book_.Add(facts, part.used);
    std::vector<uint32_t> numbers;
    for (const std::string& text : part.texts) numbers.push_back(texts_(text));
    const auto number = [&](uint32_t id) { return numbers[id < numbers.size() ? id : 0]; };
    for (const LinkRow& row : part.links) {
      Link link;
      link.group = groups_({part.Text(row.group), row.is_p2p});
      link.step = number(row.step);
      link.op = number(row.op);
      link.src = row.src;
      link.dst = row.dst;
      link.transport = number(row.transport);
      link.picked_op = number(row.picked_op);
      link.size_mb = row.size_mb;
      link.time_ms = row.time_ms;
      links_.push_back(link);
      if (row.src == row.dst) self_links_[part.Text(row.group)].try_emplace(row.src, facts.rank);
    }
    for (const LinkSum& sum : part.sums) {
      rank_totals_.emplace_back(facts.rank, part.Text(sum.step), part.Text(sum.group),
                                part.Text(sum.transport), sum);
    }
  }

 private:
  // One link of an operation is reported by several ranks: sums, and the first one's names.
  void MergeLinks() {
    std::stable_sort(links_.begin(), links_.end(), [&](const Link& a, const Link& b) {
      return std::tuple(a.operation(), a.src, a.dst) < std::tuple(b.operation(), b.src, b.dst);
    });
    size_t kept = 0;
    for (const Link& link : links_) {
      Link* last = kept > 0 ? &links_[kept - 1] : nullptr;
      if (last != nullptr && last->operation() == link.operation() && last->src == link.src &&
          last->dst == link.dst) {
        last->Add(link);
      } else {
        links_[kept++] = link;
      }
    }
    links_.resize(kept);
  }

  // Local ranks as global ones: by the metadata, else by the links that ranks have with themselves.
  void MapEnds() {
    std::vector<std::map<int64_t, int64_t>> global_of(groups_.size());
    for (uint32_t group = 0; group < groups_.size(); ++group) {
      const std::string& name = groups_[group].name;
      if (const auto self = self_links_.find(name); self != self_links_.end())
        global_of[group] = self->second;
      if (options_.compat) continue;
      const GroupFact* fact = book_.FindFact(name);
      if (fact == nullptr) continue;
      const std::vector<int64_t> members = fact->ranks.ranks();
      for (size_t i = 0; i < members.size(); ++i)
        global_of[group][static_cast<int64_t>(i)] = members[i];
    }
    std::vector<Link> mapped;
    mapped.reserve(links_.size());
    for (Link link : links_) {
      const std::map<int64_t, int64_t>& ranks = global_of[link.group];
      const auto src = ranks.find(link.src);
      const auto dst = ranks.find(link.dst);
      link.src_mapped = src != ranks.end();
      link.dst_mapped = dst != ranks.end();
      const bool is_mapped = link.src_mapped && link.dst_mapped;
      if (!is_mapped) ++unmapped_;
      if (!is_mapped && !keeps_unmapped_) {
        operations_without_links_.insert(link.operation());
        continue;
      }
      if (link.src_mapped) link.src = src->second;
      if (link.dst_mapped) link.dst = dst->second;
      mapped.push_back(link);
    }
    links_ = std::move(mapped);
    for (const Link& link : links_) operations_without_links_.erase(link.operation());
  }

  static bool IsTotal(std::string_view op) {
    return op.find("top") == op.npos && op.find("middle") == op.npos &&
           op.find("bottom") == op.npos;
  }

  // The sums of each (group, step) over its totals, by ends.
  std::vector<Link> Totals() const {
    std::vector<Link> totals;
    std::vector<bool> is_total(texts_.size());
    for (uint32_t i = 0; i < texts_.size(); ++i)
      is_total[i] = IsTotal(texts_[i]) && !texts_[i].empty();
    for (const Link& link : links_) {
      if (!is_total[link.op]) continue;
      totals.push_back(link);
      totals.back().op = 0;
    }
    const auto key = [](const Link& link) {
      return std::tuple(link.group, link.step, link.ends());
    };
    std::stable_sort(totals.begin(), totals.end(),
                     [&](const Link& a, const Link& b) { return key(a) < key(b); });
    size_t kept = 0;
    for (const Link& link : totals) {
      if (kept > 0 && key(totals[kept - 1]) == key(link)) {
        totals[kept - 1].Add(link);
      } else {
        totals[kept++] = link;
      }
    }
    totals.resize(kept);
    return totals;
  }

  table::Table Matrix() const {
    table::Table table("ClusterCommunicationMatrix");
    for (const char* name : {"step", "hccl_op_name", "group_name"})
      table.AddColumn(name, CellType::kText);
    table.AddColumn("src_rank", CellType::kInt);
    table.AddColumn("dst_rank", CellType::kInt);
    for (const char* name : {"transport_type", "op_name"}) table.AddColumn(name, CellType::kText);
    for (const char* name : {"transit_size", "transit_time", "bandwidth"})
      table.AddColumn(name, CellType::kDouble);
    if (!options_.compat) table.AddColumn("mapped", CellType::kInt);
    for (const Link& link : links_) AppendRow(table, texts_[link.op], link);
    for (const Link& link : Totals()) AppendRow(table, kTotal, link);
    return table;
  }

  void AppendRow(table::Table& table, std::string_view op, const Link& link) const {
    table.AppendText(0, texts_[link.step]);
    table.AppendText(1, op);
    table.AppendText(2, groups_[link.group].name);
    table.AppendInt(3, link.src);
    table.AppendInt(4, link.dst);
    table.AppendText(5, texts_[link.transport]);
    table.AppendText(6, texts_[link.picked_op]);
    table.AppendDouble(7, link.size_mb);
    table.AppendDouble(8, link.time_ms);
    table.AppendDouble(9, link.time_ms > 0 ? link.size_mb / link.time_ms : 0);
    if (!options_.compat) table.AppendInt(10, link.src_mapped && link.dst_mapped ? 1 : 0);
  }

  table::Table RankTotals() const {
    table::Table table("ClusterCommunicationMatrixByRank");
    table.AddColumn("step", CellType::kText);
    table.AddColumn("group_name", CellType::kText);
    table.AddColumn("rank_id", CellType::kInt);
    table.AddColumn("transport_type", CellType::kText);
    table.AddColumn("links", CellType::kInt);
    for (const char* name : {"transit_size", "transit_time", "bandwidth", "min_bandwidth"})
      table.AddColumn(name, CellType::kDouble);
    for (const auto& [rank, step, group, transport, sum] : rank_totals_) {
      table.AppendText(0, step);
      table.AppendText(1, group);
      table.AppendInt(2, rank);
      table.AppendText(3, transport);
      table.AppendInt(4, sum.links);
      table.AppendDouble(5, sum.size_mb);
      table.AppendDouble(6, sum.time_ms);
      table.AppendDouble(7, sum.time_ms > 0 ? sum.size_mb / sum.time_ms : 0);
      table.AppendDouble(8, sum.min_gbps);
    }
    return table;
  }

  // Links of one operation, or of the totals of a group and step.
  struct Operation {
    uint32_t group = 0;
    uint32_t step = 0;
    std::string key;  // "allreduce-top1@group"
    std::span<const Link> links;
  };

  // Splits sorted links into operations; `op` names totals.
  void AddOperations(std::span<const Link> links, std::string_view op,
                     std::vector<Operation>& out) const {
    for (size_t first = 0; first < links.size();) {
      size_t last = first;
      while (last < links.size() && links[last].operation() == links[first].operation()) ++last;
      const Link& link = links[first];
      const std::string_view name = op.empty() ? std::string_view(texts_[link.op]) : op;
      out.push_back({link.group, link.step, fmt::format("{}@{}", name, groups_[link.group].name),
                     links.subspan(first, last - first)});
      first = last;
    }
  }

  // {"(0, 1)": {"step50": {"allreduce-top1@group": {"0-1": {...}}, ..., "Total Op Info@group":
  // ...}}}
  Status WriteJson(const ResultFile::Sink& sink) const {
    const std::vector<Link> totals = Totals();
    std::vector<Operation> operations;
    AddOperations(links_, "", operations);
    for (const auto& [group, step, op] : operations_without_links_) {
      operations.push_back(
          {group, step, fmt::format("{}@{}", texts_[op], groups_[group].name), {}});
    }
    AddOperations(totals, kTotal, operations);
    // Members seen -> step -> operations of it.
    std::map<std::string, std::map<std::string, std::vector<const Operation*>>> sets;
    for (const Operation& operation : operations) {
      const GroupBook::Group* group = book_.Find(groups_[operation.group]);
      const std::string set = group == nullptr ? "()" : group->seen.ToText(", ");
      sets[set][texts_[operation.step]].push_back(&operation);
    }
    SL_RETURN_IF_ERROR(sink("{"));
    bool is_first_set = true;
    for (const auto& [set, steps] : sets) {
      SL_RETURN_IF_ERROR(sink(fmt::format("{}\"{}\": {{", is_first_set ? "" : ", ", set)));
      is_first_set = false;
      bool is_first_step = true;
      for (const auto& [step, of_step] : steps) {
        JsonWriter key;
        key.String(step);
        SL_RETURN_IF_ERROR(sink(fmt::format("{}{}: {{", is_first_step ? "" : ", ", key.text())));
        is_first_step = false;
        for (size_t i = 0; i < of_step.size(); ++i)
          SL_RETURN_IF_ERROR(WriteOperation(sink, *of_step[i], i == 0));
        SL_RETURN_IF_ERROR(sink("}"));
      }
      SL_RETURN_IF_ERROR(sink("}"));
    }
    return sink("}");
  }

  Status WriteOperation(const ResultFile::Sink& sink, const Operation& operation,
                        bool is_first) const {
    JsonWriter json;
    json.BeginObject().Key(operation.key).BeginObject();
    for (const Link& link : operation.links) {
      const auto [src, dst] = link.ends();
      json.Key(src.ToText() + "-" + dst.ToText()).BeginObject();
      json.Key("Transport Type").String(texts_[link.transport]);
      json.Key("Transit Time(ms)").Raw(JsonFloat(link.time_ms));
      json.Key("Transit Size(MB)").Raw(JsonFloat(link.size_mb));
      json.Key("Op Name").String(texts_[link.picked_op]);
      json.Key("Bandwidth(GB/s)").Raw(JsonFloat(Ratio4(link.size_mb, link.time_ms)));
      json.EndObject();
    }
    json.EndObject().EndObject();
    const std::string_view object = json.text();
    if (!is_first) SL_RETURN_IF_ERROR(sink(", "));
    return sink(object.substr(1, object.size() - 2));
  }

  Options options_;
  bool keeps_unmapped_;
  GroupBook book_;
  Numbering<std::string> texts_;
  Numbering<GroupUse> groups_;
  std::vector<Link> links_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> operations_without_links_;
  std::map<std::string, std::map<int64_t, int64_t>> self_links_;  // group -> local -> global
  std::vector<std::tuple<int64_t, std::string, std::string, std::string, LinkSum>> rank_totals_;
  size_t unmapped_ = 0;
};

}  // namespace

RecipeSpec CommunicationMatrixSumRecipe() {
  RecipeSpec spec;
  spec.name = "communication_matrix_sum";
  spec.folder = "CommMatrixSum";
  spec.summary = "Traffic and bandwidth between any two ranks";
  spec.needs.communication = true;
  spec.options = {"full_matrix", "strict_reference"};
  spec.make = MakeRecipe<CommunicationMatrixSum>;
  return spec;
}

}  // namespace steplens::analysis::cluster
