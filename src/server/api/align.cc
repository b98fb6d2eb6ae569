#include "analysis/clocks/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.h"
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

std::vector<int64_t> DefaultOffsets(const Ask& ask) {
  std::vector<int64_t> out;
  for (size_t slot = 0; slot < ask.view.ranks().size(); ++slot)
    out.push_back(SubtractSaturating(*ask.view.BaseNs(slot, 0), ask.view.origin_ns()));
  return out;
}

// From the order of job.ranks to slots. Ranks that could not be aligned keep the offset they have.
Aligned BySlot(const Ask& ask, const analysis::RankOffsets& found, std::vector<int64_t> kept_ns) {
  Aligned out;
  out.offset_ns = std::move(kept_ns);
  const std::vector<size_t> slots = ask.view.SlotsByRank();
  for (size_t index = 0; index < slots.size(); ++index) {
    const int64_t rank = ask.view.ranks()[slots[index]]->rank;
    if (!found.failed[index].empty()) {
      out.failed[rank] = found.failed[index];
      continue;
    }
    out.offset_ns[slots[index]] = found.offset_ns[index];
    // Collectives that contradict each other leave every offset as uncertain as they disagree.
    if (found.residual_ns[index] != store::kNone)
      out.residual_ns[rank] = std::max(found.residual_ns[index], found.violation_ns);
  }
  return out;
}

// Starts from the default, not from the alignment in force: the answer is always the same.
Result<Aligned> AlignByCollectives(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  std::vector<int64_t> offset_ns = DefaultOffsets(ask);
  std::vector<int64_t> start_ns;
  for (const size_t slot : ask.view.SlotsByRank()) start_ns.push_back(offset_ns[slot]);
  return BySlot(ask, analysis::AlignByCollectives(*job, start_ns), std::move(offset_ns));
}

Result<Aligned> AlignByOperator(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  SL_ASSIGN_OR_RETURN(const std::string side, ask.params.TextOr("side", "left"));
  if (side != "left" && side != "right")
    return Error{ErrorCode::kInvalidArgument, "'side' must be left or right"};
  if (ref.lane->is_derived())
    return Error{ErrorCode::kInvalidArgument, "a derived lane cannot be aligned by"};
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  std::vector<int64_t> offset_ns = CurrentOffsets(ask);
  SL_ASSIGN_OR_RETURN(const analysis::RankOffsets found,
                      analysis::AlignBySlice(
                          *job, JobIndex(ask, *ref.lane), static_cast<store::SliceId>(ref.slice),
                          side == "left" ? analysis::AlignSide::kLeft : analysis::AlignSide::kRight,
                          offset_ns[ref.lane->rank_slot]));
  return BySlot(ask, found, std::move(offset_ns));
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
                     fmt::format("'offsets': '{}' is not a rank, or its offset no number", key)};
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
    out.offset_ns = DefaultOffsets(ask);
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
