#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/link_part.h"
#include "analysis/cluster/communication/link_texts.h"
#include "analysis/cluster/communication/local_ranks.h"
#include "analysis/cluster/communication/operation_texts.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

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

// Sums of a rank's links in one group.
struct GroupSum {
  std::string step;
  std::string group;
  std::string transport;
  LinkSum sum;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, group, transport, sum);
  }
};

// The links stay bytes until they are asked for: texts that were rendered beside them may be all
// that the answer needs.
struct Part {
  std::vector<GroupUse> used;
  std::vector<GroupSum> sums;
  bool has_links = false;
  std::string rows;  // a LinkPart

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(used, sums, has_links, rows);
  }
};

struct RankPart {
  int64_t rank = 0;
  Part part;
  std::optional<LinkTexts> texts{};
  FilePiece json = "";  // what they are an index of
};

class CommunicationMatrixSum : public RecipeOf<Part> {
 public:
  explicit CommunicationMatrixSum(const Options& options)
      : options_(options),
        keeps_unmapped_(!options.compat && options.Value("strict_reference").empty()) {
    texts_("");
  }

  std::optional<Rendered> Render(const RankFacts& facts, std::string_view part) const override {
    // The reference knows the ends of links only when all ranks were seen.
    if (options_.compat) return std::nullopt;
    const std::optional<Part> read = FromBytes<Part>(part);
    if (!read || !read->has_links) return std::nullopt;
    const std::optional<LinkPart> rows = FromBytes<LinkPart>(read->rows);
    if (!rows) return std::nullopt;
    Rendered out;
    const std::optional<LinkTexts> texts = RenderLinks(facts, *rows, out.text);
    if (!texts) return std::nullopt;
    out.index = ToBytes(*texts);
    return out;
  }
  void AddRendered(std::string_view index, uint64_t text, uint64_t text_size) override {
    ranks_.back().texts = FromBytes<LinkTexts>(index);
    ranks_.back().json = FilePiece(text, 0, text_size);
  }

  Result<Answer> Finish(Form form) override {
    Answer answer;
    const bool is_rendered = form == Form::kFiles && TakeTexts();
    if (!is_rendered) FoldLinks();
    const bool has_operations =
        is_rendered ? !file_.empty() : !links_.empty() || !operations_without_links_.empty();
    if (form != Form::kTables && has_operations) {
      answer.files.push_back(
          {"cluster_communication_matrix.json", [this, is_rendered](const ResultFile::Sink& sink) {
             if (!is_rendered) RenderFolded();
             return file_.Write(book_, options_.compat, sink);
           }});
    }
    const bool has_file = !answer.files.empty();
    if ((!links_.empty() || !options_.compat) && !(has_file && form == Form::kFiles))
      answer.tables.push_back({Matrix(), "cluster_communication_matrix.csv"});
    if (has_sums_)
      answer.tables.push_back({RankTotals(), "cluster_communication_matrix_by_rank.csv"});
    if (without_links_ > 0 && !options_.compat) {
      answer.notes.push_back(
          fmt::format("{} of {} ranks {} no links (communication_matrix.json, CommAnalyzerMatrix)",
                      without_links_, ranks_.size(), without_links_ == 1 ? "has" : "have"));
    }
    if (unmapped_ > 0) {
      answer.notes.push_back(fmt::format(
          "{} link{} an end whose rank nobody says; {}", unmapped_,
          unmapped_ == 1 ? " has" : "s have",
          keeps_unmapped_ ? "its rank inside the group is shown" : "they are left out"));
    }
    if (has_sums_) {
      answer.notes.push_back(
          "groups of more than 64 ranks show sums by rank and their slowest links; --full_matrix "
          "shows every link");
    }
    answer.suggestion = Message{"suggestion.communication_matrix_sum"};
    return answer;
  }

 protected:
  Part MapWithFacts(const store::TraceStore& rank, const RankFacts& facts) const override {
    const bool all_links = options_.compat || !options_.Value("full_matrix").empty();
    LinkPart rows = ReadLinks(rank, facts, options_, all_links);
    Part part;
    part.used = std::move(rows.used);
    for (const LinkSum& sum : rows.sums) {
      part.sums.push_back(
          {rows.Text(sum.step), rows.Text(sum.group), rows.Text(sum.transport), sum});
    }
    rows.sums.clear();
    part.has_links = !rows.links.empty();
    part.rows = ToBytes(rows);
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    book_.Add(facts, part.used);
    has_sums_ |= !part.sums.empty();
    // Who has no communication results at all is counted elsewhere.
    if (facts.has_communication_results && !part.has_links && part.sums.empty()) ++without_links_;
    ranks_.push_back({facts.rank, std::move(part)});
  }

 private:
  // Whether every rank's links are there as text, and put together.
  bool TakeTexts() {
    std::vector<RankLinkTexts> texts;
    for (const RankPart& rank : ranks_) {
      if (rank.part.has_links && !rank.texts) return false;
      if (rank.texts) texts.push_back({rank.rank, &*rank.texts, rank.json});
    }
    if (!AreGuessesRight(texts, book_)) return false;
    if (AddLinkTexts(texts, file_)) return true;
    file_ = OperationTexts();
    return false;
  }

  void FoldLinks() {
    for (const RankPart& rank : ranks_) {
      if (const auto rows = FromBytes<LinkPart>(rank.part.rows)) AddLinks(rank.rank, *rows);
    }
    MergeLinks();
    MapEnds();
  }

  void AddLinks(int64_t rank, const LinkPart& part) {
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
    }
    local_ranks_.Add(rank, part);
  }

  // One link of an operation is reported by several ranks: sums, and the first one's names. In the
  // order of operations and ends or, as the reference has it, of first sight.
  void MergeLinks() {
    if (options_.compat) {
      links_ = SumBySight(links_, [](const Link& link) {
        return std::tuple(link.operation(), link.src, link.dst);
      });
      return;
    }
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

  // Sums of links with equal keys, in the order of first sight.
  template <typename KeyOf>
  static std::vector<Link> SumBySight(const std::vector<Link>& links, const KeyOf& key_of) {
    std::map<decltype(key_of(links.front())), size_t> places;
    std::vector<Link> out;
    for (const Link& link : links) {
      const auto [place, is_new] = places.try_emplace(key_of(link), out.size());
      if (is_new) {
        out.push_back(link);
      } else {
        out[place->second].Add(link);
      }
    }
    return out;
  }

  // Local ranks as global ones.
  void MapEnds() {
    std::vector<std::vector<int64_t>> global_of(groups_.size());
    for (uint32_t group = 0; group < groups_.size(); ++group)
      global_of[group] = local_ranks_.Of(groups_[group].name, book_, options_.compat);
    std::vector<Link> mapped;
    mapped.reserve(links_.size());
    for (Link link : links_) {
      const std::vector<int64_t>& ranks = global_of[link.group];
      const auto global = [&](int64_t local) {
        return local >= 0 && local < static_cast<int64_t>(ranks.size())
                   ? ranks[static_cast<size_t>(local)]
                   : store::kNone;
      };
      const int64_t src = global(link.src);
      const int64_t dst = global(link.dst);
      link.src_mapped = src != store::kNone;
      link.dst_mapped = dst != store::kNone;
      const bool is_mapped = link.src_mapped && link.dst_mapped;
      if (!is_mapped) ++unmapped_;
      if (!is_mapped && !keeps_unmapped_) {
        operations_without_links_.insert(link.operation());
        continue;
      }
      if (link.src_mapped) link.src = src;
      if (link.dst_mapped) link.dst = dst;
      mapped.push_back(link);
    }
    links_ = std::move(mapped);
    for (const Link& link : links_) operations_without_links_.erase(link.operation());
  }

  // The sums of each (group, step) over its totals, by ends.
  std::vector<Link> Totals() const {
    std::vector<Link> totals;
    std::vector<bool> is_total(texts_.size());
    for (uint32_t i = 0; i < texts_.size(); ++i) is_total[i] = IsTotalOperation(texts_[i]);
    for (const Link& link : links_) {
      if (!is_total[link.op]) continue;
      totals.push_back(link);
      totals.back().op = 0;
    }
    const auto key = [](const Link& link) {
      return std::tuple(link.group, link.step, link.ends());
    };
    if (options_.compat) return SumBySight(totals, key);
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
    for (const Link& link : Totals()) AppendRow(table, kTotalOperation, link);
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
    // The reference divides totals by no time, too.
    const bool is_divided = link.time_ms > 0 || (options_.compat && op == kTotalOperation);
    table.AppendDouble(9, is_divided ? link.size_mb / link.time_ms : 0);
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
    for (const RankPart& rank : ranks_) {
      for (const auto& [step, group, transport, sum] : rank.part.sums) {
        table.AppendText(0, step);
        table.AppendText(1, group);
        table.AppendInt(2, rank.rank);
        table.AppendText(3, transport);
        table.AppendInt(4, sum.links);
        table.AppendDouble(5, sum.size_mb);
        table.AppendDouble(6, sum.time_ms);
        table.AppendDouble(7, sum.time_ms > 0 ? sum.size_mb / sum.time_ms : 0);
        table.AppendDouble(8, sum.min_gbps);
      }
    }
    return table;
  }

  // The folded links as texts of the file.
  void RenderFolded() {
    const auto add = [&](const Link& link, bool is_total) {
      const auto [src, dst] = link.ends();
      std::string& text = folded_texts_.emplace_back();
      AppendLink(text, src.ToText() + "-" + dst.ToText(), texts_[link.transport],
                 texts_[link.picked_op], link.size_mb, link.time_ms);
      const GroupUse& use = groups_[link.group];
      const uint32_t group = file_.Number(use.name);
      const uint32_t step = file_.Number(texts_[link.step]);
      if (!is_total) return file_.Add(group, use.is_p2p, step, file_.Number(texts_[link.op]), text);
      file_.AddTotal(store::kNone, group,
                     use.is_p2p ? OperationTexts::kP2p : OperationTexts::kCollective, step, text);
    };
    file_ = OperationTexts();
    folded_texts_.clear();
    for (const auto& [group, step, op] : operations_without_links_) {
      file_.Add(file_.Number(groups_[group].name), groups_[group].is_p2p,
                file_.Number(texts_[step]), file_.Number(texts_[op]), "");
    }
    for (const Link& link : links_) add(link, false);
    for (const Link& link : Totals()) add(link, true);
  }

  Options options_;
  bool keeps_unmapped_;
  GroupBook book_;
  Numbering<std::string> texts_;
  Numbering<GroupUse> groups_;
  std::vector<Link> links_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> operations_without_links_;
  LocalRanks local_ranks_;
  std::vector<RankPart> ranks_;
  bool has_sums_ = false;
  OperationTexts file_;
  std::deque<std::string> folded_texts_;  // file_ refers to them
  size_t unmapped_ = 0;
  size_t without_links_ = 0;  // ranks that have other communication results
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
