#include "server/api/slice_matches.h"

#include <fmt/format.h>

#include "base/cancel.h"
#include "server/api/slice_args.h"

namespace steplens::server {
namespace {

// Args are read from the trace one by one, some microseconds each.
constexpr size_t kMaxArgsRead = 50'000;

SliceFilter::Truth TruthOf(bool holds) {
  return holds ? SliceFilter::Truth::kYes : SliceFilter::Truth::kNo;
}

// The step a slice begins in; on the device steps begin later than on the host.
bool HoldsStep(const SliceFilter::Term& term, const ShownRank& rank, const Lane& lane,
               int64_t begin_ns) {
  const bool on_device = (lane.flags & kDeviceLane) != 0;
  for (const analysis::StepRange& step : rank.timeline->steps()) {
    const int64_t from_ns = on_device ? step.begin_ns : step.host_begin_ns;
    const int64_t to_ns = on_device ? step.end_ns : step.host_end_ns;
    if (begin_ns >= from_ns && begin_ns < to_ns) return term.Holds(step.step);
  }
  return false;  // in no step
}

}  // namespace

// What is known about the texts of one rank's store.
struct SliceMatches::RankTables {
  const ShownRank* rank = nullptr;
  std::vector<uint8_t> by_name{};                      // [StringId]: Truth by name and rank alone
  std::vector<std::vector<uint8_t>> category_holds{};  // [term][StringId], of terms about them
};

SliceMatches::SliceMatches(const Ask& ask, const SliceFilter& filter,
                           const std::vector<const Lane*>& lanes, Window window)
    : ask_(ask), filter_(filter), window_(window) {
  const auto& terms = filter.terms();
  name_holds_.resize(terms.size());
  lane_holds_.resize(terms.size());
  std::vector<const Lane*> asked;
  for (const Lane* lane : lanes) {
    if (lane->parts.empty() && !lane->is_query()) asked.push_back(lane);
    for (const uint32_t part : lane->parts) asked.push_back(ask.view.FindLane(part));
  }
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].field == Field::kName) {
      name_holds_[t].resize(ask.view.names().size());
      for (uint32_t id = 0; id < name_holds_[t].size(); ++id)
        name_holds_[t][id] = terms[t].Holds(ask.view.names().Text(id));
    } else if (terms[t].field == Field::kLane) {
      lane_holds_[t].resize(ask.view.lane_count() + 1);
      for (const Lane* lane : asked)
        lane_holds_[t][lane->id] = terms[t].Holds(LaneTitle(ask, *lane) + " " + lane->path);
    }
  }
  may_.assign(ask.view.lane_count() + 1, false);
  for (const Lane* lane : asked) {
    may_[lane->id] = filter.Evaluate([&](uint32_t t) {
      if (terms[t].field == Field::kRank)
        return TruthOf(terms[t].Holds(ask.view.RankOf(*lane).rank));
      return terms[t].field == Field::kLane ? TruthOf(lane_holds_[t][lane->id]) : Truth::kUnknown;
    }) != Truth::kNo;
  }
}

// What a name decides on a rank.
SliceMatches::Truth SliceMatches::TruthOfName(const ShownRank& rank, uint32_t name) const {
  const auto& terms = filter_.terms();
  return filter_.Evaluate([&](uint32_t t) {
    if (terms[t].field == Field::kRank) return TruthOf(terms[t].Holds(rank.rank));
    return terms[t].field == Field::kName ? TruthOf(name_holds_[t][name]) : Truth::kUnknown;
  });
}

SliceMatches::RankTables SliceMatches::TablesOf(const ShownRank& rank) const {
  RankTables out;
  out.rank = &rank;
  const auto& terms = filter_.terms();
  const auto& name_ids = rank.timeline->name_ids();
  out.by_name.resize(name_ids.size());
  for (size_t i = 0; i < name_ids.size(); ++i) {
    out.by_name[i] = static_cast<uint8_t>(TruthOfName(rank, name_ids[i]));
  }
  out.category_holds.resize(terms.size());
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].field != Field::kCategory) continue;
    out.category_holds[t].resize(rank.store->strings.size());
    for (uint32_t i = 0; i < out.category_holds[t].size(); ++i)
      out.category_holds[t][i] = terms[t].Holds(rank.store->Text(StringId{i})) ? 1 : 0;
  }
  return out;
}

bool SliceMatches::IsInWindow(const Lane& lane, uint32_t slice) const {
  const int64_t begin = ask_.ToShown(lane, lane.rows.columns().begin(slice));
  return begin <= window_.t1 && AddSaturating(begin, lane.rows.columns().dur(slice)) >= window_.t0;
}

SliceMatches::Truth SliceMatches::TermTruth(const RankTables& tables, const Lane& lane,
                                            uint32_t slice, uint32_t t) const {
  const SliceFilter::Term& term = filter_.terms()[t];
  const SliceColumns& columns = lane.rows.columns();
  switch (term.field) {
    case Field::kName:
      return TruthOf(name_holds_[t][columns.name_of(slice)]);
    case Field::kLane:
      return TruthOf(lane_holds_[t][lane.id]);
    case Field::kRank:
      return TruthOf(term.Holds(tables.rank->rank));
    case Field::kDur:
      return TruthOf(term.Holds(columns.dur(slice)));
    case Field::kSelf:
      return TruthOf(term.Holds(lane.rows.SelfNs(lane.rows.RowOf(slice), slice)));
    case Field::kStep:
      return TruthOf(HoldsStep(term, *tables.rank, lane, columns.begin(slice)));
    case Field::kCategory: {
      if (lane.is_derived()) return TruthOf(term.Holds(std::string_view()));
      const StringId category = tables.rank->store->slices.category[slice];
      return TruthOf(tables.category_holds[t][static_cast<size_t>(category)] != 0);
    }
    case Field::kArg:
      return lane.is_derived() ? TruthOf(term.negated) : Truth::kUnknown;
  }
  return Truth::kUnknown;
}

// Where arguments decide, and only there, they are read.
Result<bool> SliceMatches::DecideByArgs(const RankTables& tables, const Lane& lane,
                                        uint32_t slice) const {
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "the client has disconnected"};
  if (args_read_.fetch_add(1) >= kMaxArgsRead)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("arguments are read from the trace, and more than {} slices are left "
                             "by the other terms; name a lane, a rank, a name or a range",
                             kMaxArgsRead)};
  return filter_.Evaluate([&](uint32_t t) {
    const Truth known = TermTruth(tables, lane, slice, t);
    if (known != Truth::kUnknown) return known;
    const SliceFilter::Term& term = filter_.terms()[t];
    return TruthOf(term.HoldsArg(ArgText(ask_.open.args, *tables.rank->store, slice, term.arg)));
  }) == Truth::kYes;
}

Status SliceMatches::ForEach(size_t slot, const Visit& visit) const {
  const ShownRank& rank = *ask_.view.ranks()[slot];
  const RankTables tables = TablesOf(rank);
  // For slices that their name does not decide.
  const auto consider = [&](const Lane& lane, uint32_t slice) -> Status {
    Truth truth = filter_.Evaluate([&](uint32_t t) { return TermTruth(tables, lane, slice, t); });
    if (truth == Truth::kUnknown) {  // arguments decide
      SL_ASSIGN_OR_RETURN(const bool holds, DecideByArgs(tables, lane, slice));
      truth = TruthOf(holds);
    }
    if (truth == Truth::kYes) visit(lane, slice);
    return {};
  };
  const auto names = rank.store->slices.name.span();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto known = static_cast<Truth>(tables.by_name[static_cast<size_t>(names[i])]);
    if (known == Truth::kNo) continue;
    const auto slice = static_cast<uint32_t>(i);
    const Lane* lane = rank.timeline->LaneOf(*rank.store, slice);
    if (lane == nullptr || !may_[lane->id] || !IsInWindow(*lane, slice)) continue;
    if (known == Truth::kYes) {
      visit(*lane, slice);
    } else {
      SL_RETURN_IF_ERROR(consider(*lane, slice));
    }
  }
  for (const auto& lane : rank.timeline->lanes()) {
    if (!lane->is_derived() || lane->kind != LaneKind::kSlices || !may_[lane->id]) continue;
    // All slices of a derived lane have one name.
    const Truth known = TruthOfName(rank, lane->rows.columns().name_of(0));
    if (known == Truth::kNo) continue;
    for (uint32_t slice = 0; slice < lane->rows.columns().size(); ++slice) {
      if (IsInWindow(*lane, slice)) SL_RETURN_IF_ERROR(consider(*lane, slice));
    }
  }
  return {};
}

}  // namespace steplens::server
