#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.h"
#include "server/align_ranks.h"
#include "server/api/handlers.h"

namespace steplens::server {
namespace {

struct Aligned {
  std::vector<int64_t> offset_ns;          // by slot
  std::map<int64_t, int64_t> residual_ns;  // by rank
  std::map<int64_t, std::string> failed;   // by rank
};

std::vector<int64_t> CurrentOffsets(const Ask& ask) {
  std::vector<int64_t> out;
  for (size_t slot = 0; slot < ask.view.ranks().size(); ++slot)
    out.push_back(SubtractSaturating(ask.BaseNs(slot), ask.view.origin_ns()));
  return out;
}

// Offsets under which no collective ends on one rank before another has begun it.
Aligned AlignByCollectives(const Ask& ask) {
  std::vector<RankCollectives> ranks;
  std::vector<int64_t> current = CurrentOffsets(ask);
  for (const auto& rank : ask.view.ranks()) ranks.push_back(CollectivesOf(*rank->store));
  const AutoAlignment found = AlignCollectives(ranks, current);
  Aligned out;
  out.offset_ns = found.offset_ns;
  for (size_t slot = 0; slot < ranks.size(); ++slot) {
    const int64_t rank = ask.view.ranks()[slot]->rank;
    if (found.matched[slot] == 0) {
      out.failed[rank] = "it shares no collective with another rank";
    } else {
      out.residual_ns[rank] = found.residual_ns[slot];
    }
  }
  return out;
}

// The lane of another rank that corresponds to `lane`: same path below the rank, else the first
// lane of the same kind that has the name.
std::vector<uint32_t> Occurrences(const Ask& ask, size_t slot, const Lane& like, uint32_t name) {
  const bool on_device = (like.flags & kDeviceLane) != 0;
  std::vector<std::pair<int64_t, uint32_t>> found;
  const auto& timeline = *ask.view.ranks()[slot]->timeline;
  for (const auto& lane : timeline.lanes()) {
    if (lane->kind != LaneKind::kSlices || lane->is_derived()) continue;
    if (((lane->flags & kDeviceLane) != 0) != on_device) continue;
    for (size_t i = 0; i < lane->rows.size(); ++i) {
      const uint32_t slice = lane->rows.slice_at(i);
      if (lane->rows.columns().name_of(slice) == name)
        found.emplace_back(lane->rows.columns().begin(slice), slice);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<uint32_t> out;
  for (const auto& [begin_ns, slice] : found) out.push_back(slice);
  return out;
}

// The k-th occurrence of the slice's name, in order of time, comes to lie where it is on the base.
Result<Aligned> AlignByOperator(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  SL_ASSIGN_OR_RETURN(const std::string side, ask.params.TextOr("side", "left"));
  if (side != "left" && side != "right")
    return Error{ErrorCode::kInvalidArgument, "'side' must be left or right"};
  if (ref.lane->is_derived())
    return Error{ErrorCode::kInvalidArgument, "a derived lane cannot be aligned by"};
  const bool left = side == "left";
  const size_t base = ref.lane->rank_slot;
  const uint32_t name = ref.lane->rows.columns().name_of(ref.slice);
  const std::vector<uint32_t> own = Occurrences(ask, base, *ref.lane, name);
  const auto k = static_cast<size_t>(std::find(own.begin(), own.end(), ref.slice) - own.begin());
  Aligned out;
  out.offset_ns = CurrentOffsets(ask);
  const auto anchor = [&](size_t slot, uint32_t slice) {
    const auto& slices = ask.view.ranks()[slot]->store->slices;
    return left ? slices.begin_ns[slice]
                : AddSaturating(slices.begin_ns[slice], slices.dur_ns[slice]);
  };
  const int64_t base_anchor_ns = anchor(base, ref.slice);
  for (size_t slot = 0; slot < out.offset_ns.size(); ++slot) {
    if (slot == base) continue;
    const int64_t rank = ask.view.ranks()[slot]->rank;
    const std::vector<uint32_t> others = Occurrences(ask, slot, *ref.lane, name);
    if (others.empty()) {
      out.failed[rank] = "it has no slice of that name";
    } else if (others.size() <= k) {
      out.failed[rank] =
          fmt::format("it has {} slices of that name, needed {}", others.size(), k + 1);
    } else {
      out.offset_ns[slot] = AddSaturating(
          SubtractSaturating(anchor(slot, others[k]), base_anchor_ns), out.offset_ns[base]);
      out.residual_ns[rank] = 0;
    }
  }
  return out;
}

Result<Aligned> AlignByHand(const Ask& ask) {
  Aligned out;
  out.offset_ns = CurrentOffsets(ask);
  const JsonValue offsets = ask.params.Raw("offsets");
  if (!offsets.IsObject())
    return Error{ErrorCode::kInvalidArgument, "'offsets' must be an object {rank: ns}"};
  Status status;
  offsets.ForEachMember([&](std::string_view key, JsonValue value) {
    const auto rank = ParseInt64(key);
    const auto slot = rank ? ask.view.SlotOf(*rank) : std::nullopt;
    const auto ns = WholeNumber(value);
    if (!slot || !ns || *ns > int64_t{1} << 61 || *ns < -(int64_t{1} << 61)) {
      status = Error{ErrorCode::kInvalidArgument,
                     fmt::format("'offsets': '{}' is no rank, or its offset no number", key)};
      return;
    }
    out.offset_ns[*slot] = *ns;
  });
  SL_RETURN_IF_ERROR(status);
  return out;
}

Result<Aligned> Align(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string mode, ask.params.Text("mode"));
  if (mode == "auto") return AlignByCollectives(ask);
  if (mode == "op") return AlignByOperator(ask);
  if (mode == "manual") return AlignByHand(ask);
  if (mode == "reset") {
    Aligned out;
    for (size_t slot = 0; slot < ask.view.ranks().size(); ++slot)
      out.offset_ns.push_back(SubtractSaturating(*ask.view.BaseNs(slot, 0), ask.view.origin_ns()));
    return out;
  }
  return Error{ErrorCode::kInvalidArgument, "'mode' must be auto, op, manual or reset"};
}

}  // namespace

Result<Response> PostAlign(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const Aligned aligned, Align(ask));
  SL_ASSIGN_OR_RETURN(const uint32_t id, ask.view.KeepAlignment(aligned.offset_ns));
  JsonWriter json;
  json.BeginObject().Key("align").Int(id).Key("offsets").BeginObject();
  for (const size_t slot : ask.view.SlotsByRank())
    json.Key(std::to_string(ask.view.ranks()[slot]->rank)).Int(aligned.offset_ns[slot]);
  json.EndObject().Key("residual_ns").BeginObject();
  for (const auto& [rank, ns] : aligned.residual_ns) json.Key(std::to_string(rank)).Int(ns);
  json.EndObject().Key("failed").BeginObject();
  for (const auto& [rank, why] : aligned.failed) json.Key(std::to_string(rank)).String(why);
  json.EndObject().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
