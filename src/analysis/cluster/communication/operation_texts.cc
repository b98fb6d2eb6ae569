#include "analysis/cluster/communication/operation_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

// "key": {text, text}
Status WriteObject(std::string_view key, std::span<const FilePiece> texts,
                   const ResultFile::Sink& sink) {
  SL_RETURN_IF_ERROR(sink(Quoted(key) + ": {"));
  bool is_first = true;
  for (const FilePiece& text : texts) {
    if (!is_first) SL_RETURN_IF_ERROR(sink(", "));
    is_first = false;
    SL_RETURN_IF_ERROR(sink(text));
  }
  return sink("}");
}

}  // namespace

uint32_t TextNumbering::operator()(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.push_back(&numbers_.emplace(text, number).first->first);
  return number;
}

void OperationTexts::Add(uint32_t group, bool is_p2p, uint32_t step, uint32_t op, FilePiece text) {
  const Key key{uint64_t{group} << 32 | step, uint64_t{op} << 1 | (is_p2p ? 1 : 0)};
  const auto [place, is_new] = index_.try_emplace(key, operations_.size());
  if (is_new) operations_.push_back({group, step, op, is_p2p, {}});
  if (text.size > 0) operations_[place->second].texts.push_back(text);
}

void OperationTexts::AddTotal(int64_t rank, uint32_t group, Uses uses, uint32_t step,
                              FilePiece text) {
  totals_[{group, step}].push_back({rank, uses, text});
}

// Operations as the file has them: sets of members, then steps, then operations.
std::vector<OperationTexts::Place> OperationTexts::Order(const GroupBook& book, bool by_first_sight,
                                                         std::vector<std::string>& sets) const {
  std::map<std::string, size_t> set_numbers;
  const auto set_of = [&](const std::string& text) {
    const auto [place, is_new] = set_numbers.try_emplace(text, sets.size());
    if (is_new) sets.push_back(text);
    return place->second;
  };
  std::map<std::pair<std::string, bool>, std::pair<size_t, size_t>> uses;  // -> (set, order)
  const std::vector<GroupBook::Group>& groups = book.groups();
  std::vector<std::string> set_texts;
  for (size_t i = 0; i < groups.size(); ++i) {
    set_texts.push_back(groups[i].seen.ToText(", "));
    uses[{groups[i].use.name, groups[i].use.is_p2p}] = {
        by_first_sight ? SIZE_MAX : set_of(set_texts.back()), i};
  }
  std::map<std::pair<uint32_t, bool>, std::pair<size_t, size_t>> known;
  std::vector<Place> places;
  places.reserve(operations_.size());
  for (const Operation& operation : operations_) {
    const auto [place, is_new] = known.try_emplace({operation.group, operation.is_p2p});
    if (is_new) {
      const auto use = uses.find({numbers_[operation.group], operation.is_p2p});
      const bool is_known = use != uses.end();
      const size_t order = is_known ? use->second.second : groups.size();
      const bool has_set = is_known && !by_first_sight;
      place->second = {
          has_set ? use->second.first : set_of(is_known ? set_texts[order] : std::string("()")),
          order};
    }
    places.push_back({place->second.first, operation.step, place->second.second, &operation});
  }
  if (by_first_sight) {
    // Operations come by first sight already; their sets and steps stay together.
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.set, a.step) < std::tie(b.set, b.step);
    });
    return places;
  }
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    if (a.set != b.set) return a.set < b.set;
    if (a.step != b.step) return numbers_[a.step] < numbers_[b.step];
    if (a.use != b.use) return a.use < b.use;
    return numbers_[a.operation->op] < numbers_[b.operation->op];
  });
  return places;
}

Status OperationTexts::Write(const GroupBook& book, bool by_first_sight,
                             const ResultFile::Sink& sink) const {
  std::vector<std::string> sets;
  const std::vector<Place> places = Order(book, by_first_sight, sets);
  SL_RETURN_IF_ERROR(sink("{"));
  for (size_t first = 0; first < places.size();) {
    const bool is_new_set = first == 0 || places[first].set != places[first - 1].set;
    if (is_new_set) {
      SL_RETURN_IF_ERROR(
          sink(fmt::format("{}{}: {{", first == 0 ? "" : "}, ", Quoted(sets[places[first].set]))));
    }
    size_t last = first;
    while (last < places.size() && places[last].set == places[first].set &&
           places[last].step == places[first].step) {
      ++last;
    }
    SL_RETURN_IF_ERROR(sink(
        fmt::format("{}{}: {{", is_new_set ? "" : ", ", Quoted(numbers_[places[first].step]))));
    SL_RETURN_IF_ERROR(WriteStep(std::span(places).subspan(first, last - first), sink));
    SL_RETURN_IF_ERROR(sink("}"));
    first = last;
  }
  return sink(places.empty() ? "}" : "}}");
}

Status OperationTexts::WriteStep(std::span<const Place> places,
                                 const ResultFile::Sink& sink) const {
  for (size_t i = 0; i < places.size(); ++i) {
    if (i > 0) SL_RETURN_IF_ERROR(sink(", "));
    const Operation& operation = *places[i].operation;
    SL_RETURN_IF_ERROR(WriteObject(numbers_[operation.op] + "@" + numbers_[operation.group],
                                   operation.texts, sink));
  }
  return WriteTotals(places, sink);
}

Status OperationTexts::WriteTotals(std::span<const Place> places,
                                   const ResultFile::Sink& sink) const {
  std::vector<uint32_t> groups;  // as they come
  std::map<uint32_t, int> uses_of;
  for (const Place& place : places) {
    const auto [uses, is_new] = uses_of.try_emplace(place.operation->group, 0);
    if (is_new) groups.push_back(place.operation->group);
    uses->second |= place.operation->is_p2p ? kP2p : kCollective;
  }
  for (const uint32_t group : groups) {
    const auto totals = totals_.find({group, places.front().step});
    if (totals == totals_.end()) continue;
    std::vector<FilePiece> texts;
    size_t of_rank = 0;  // where those of the last rank begin
    int64_t rank = store::kNone;
    for (const Total& total : totals->second) {
      if ((total.uses & ~uses_of[group]) != 0) continue;
      if (total.rank != rank) of_rank = texts.size();
      rank = total.rank;
      if (total.uses == kBoth)
        texts.erase(texts.begin() + static_cast<int64_t>(of_rank),
                    texts.end());  // holds the rank's others
      texts.push_back(total.text);
    }
    if (texts.empty()) continue;
    SL_RETURN_IF_ERROR(sink(", "));
    SL_RETURN_IF_ERROR(
        WriteObject(fmt::format("{}@{}", kTotalOperation, numbers_[group]), texts, sink));
  }
  return {};
}

}  // namespace steplens::analysis::cluster
