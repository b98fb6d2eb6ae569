#include "readers/framework/python_calls.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "readers/framework/sheet_builder.h"

namespace steplens::readers {
namespace {

using store::TrackId;

constexpr uint32_t kReturn = ~uint32_t{0};

// The records of a thread, as two columns to save space: when, and which function is called (an
// index into the functions), or kReturn.
struct Thread {
  std::vector<int64_t> ts_ns;
  std::vector<uint32_t> function;

  void Add(int64_t at_ns, uint32_t called) {
    ts_ns.push_back(at_ns);
    function.push_back(called);
  }

  // Frames that were open at the start are written at the end, so some threads are out of order.
  void Sort() {
    if (std::is_sorted(ts_ns.begin(), ts_ns.end())) return;
    std::vector<uint32_t> order(ts_ns.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return ts_ns[a] < ts_ns[b]; });
    Thread sorted;
    for (const uint32_t i : order) sorted.Add(ts_ns[i], function[i]);
    *this = std::move(sorted);
  }
};

bool IsCall(uint8_t tag) { return tag == format::kPythonCall || tag == format::kPythonCCall; }

// Names the modules of one thread.
class ModuleNames {
 public:
  explicit ModuleNames(FrameworkContext& ctx) : ctx_(ctx) {}

  // The name to show for a function's text.
  StringId operator()(StringId text) {
    const auto [place, is_new] = shown_.insert({static_cast<uint32_t>(text), text});
    if (!is_new) return place->second;
    constexpr std::string_view kMark = "######";
    const std::string_view raw = ctx_.out.Text(text);
    const size_t at = raw.find(kMark);
    if (at == std::string_view::npos) return text;
    const std::string type(raw.substr(0, at));
    place.value() =
        ctx_.out.strings.Intern(fmt::format("nn.Module: {}_{}", type, objects_[type]++));
    return place->second;
  }

 private:
  FrameworkContext& ctx_;
  tsl::robin_map<uint32_t, StringId> shown_;
  std::map<std::string, uint32_t> objects_;
};

void Replay(TrackId track, const Thread& thread, const std::vector<StringId>& functions,
            FrameworkContext& ctx) {
  const StringId category = ctx.out.strings.Intern("python_function");
  ModuleNames names(ctx);
  std::vector<uint32_t> open;  // records of the calls that run
  const auto close = [&](int64_t end_ns) {
    const uint32_t call = open.back();
    open.pop_back();
    store::SliceTable::Row row;
    row.track = track;
    row.name = names(functions[thread.function[call]]);
    row.category = category;
    row.correlation = call;
    ctx.AppendSlice(row, thread.ts_ns[call], end_ns);
  };
  for (uint32_t i = 0; i < thread.ts_ns.size(); ++i) {
    if (thread.function[i] != kReturn) {
      open.push_back(i);
    } else if (!open.empty()) {
      close(thread.ts_ns[i]);
    }
  }
  while (!open.empty()) close(thread.ts_ns.back());
}

}  // namespace

struct PythonCalls::Impl {
  explicit Impl(FrameworkContext& context) : ctx(context) {}

  FrameworkContext& ctx;
  tsl::robin_map<uint64_t, uint32_t> index_of_key;
  std::vector<StringId> functions;    // text by index; empty: not known (yet)
  std::map<TrackId, Thread> threads;  // in order of track, so the result is always the same
  struct Place {
    TrackId track;
    size_t record;
  };
  std::vector<Place> old_records;  // where the records of the 2024 file went
  struct OldModule {
    uint64_t index;
    StringId name;
  };
  std::vector<OldModule> old_modules;
  struct Parameters {
    uint64_t key;
    StringId module;
    StringId optimizer;
  };
  std::vector<Parameters> parameters;
  TrackId last_track = store::kNoTrack;
  Thread* last_thread = nullptr;

  uint32_t IndexOf(uint64_t key) {
    const auto [place, is_new] =
        index_of_key.insert({key, static_cast<uint32_t>(functions.size())});
    if (is_new) functions.push_back(StringId::kEmpty);
    return place->second;
  }

  Thread& ThreadOf(TrackId track) {
    if (last_thread == nullptr || track != last_track) {
      last_track = track;
      last_thread = &threads[track];
    }
    return *last_thread;
  }

  // A module call of 2024 names the record of the call it belongs to.
  void NameOldModules() {
    for (const OldModule& module : old_modules) {
      if (module.index >= old_records.size()) continue;
      const Place place = old_records[module.index];
      uint32_t& function = threads[place.track].function[place.record];
      if (function == kReturn) continue;
      function = static_cast<uint32_t>(functions.size());
      functions.push_back(module.name);
    }
  }

  void AppendParameters() {
    SheetBuilder sheet("framework_params",
                       {"Key", "Name", "Module Parameters", "Optimizer Parameters"});
    for (const Parameters& row : parameters) {
      const auto known = index_of_key.find(row.key);
      const StringId name = known == index_of_key.end() ? StringId::kEmpty  //
                                                        : functions[known->second];
      sheet.Text(ctx.out.strings.Intern(fmt::to_string(row.key)))
          .Text(name)
          .Text(row.module)
          .Text(row.optimizer);
    }
    sheet.Finish(ctx.out);
  }
};

PythonCalls::PythonCalls(FrameworkContext& ctx) : impl_(std::make_unique<Impl>(ctx)) {}
PythonCalls::~PythonCalls() = default;

Status PythonCalls::ReadNames(RecordReader& reader) {
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    format::Keyed keyed;
    std::string_view name;
    const bool is_whole =
        Decode(reader.value(), &keyed) && ForEachField(reader.value(), format::Keyed::kFixedBytes,
                                                       [&](uint16_t tag, std::string_view text) {
                                                         if (tag == format::kKeyText) name = text;
                                                       });
    if (is_whole) {
      impl_->functions[impl_->IndexOf(keyed.key)] = impl_->ctx.Text(name);
    } else {
      reader.Reject("the name of a Python function is damaged");
    }
  }
}

Status PythonCalls::ReadCalls(RecordReader& reader) {
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFixed(format::PythonCall::kFixedBytes));
    if (!has_record) return {};
    format::PythonCall call;
    if (!Decode(reader.value(), &call) || call.tag > format::kPythonCReturn) {
      reader.Reject(fmt::format("a Python event has the unknown tag {}", call.tag));
      continue;
    }
    const TrackId track = impl_->ctx.PythonThread(call.process_id, call.thread_id);
    impl_->ThreadOf(track).Add(impl_->ctx.Ns(call.time),
                               IsCall(call.tag) ? impl_->IndexOf(call.key) : kReturn);
  }
}

Status PythonCalls::ReadOldCalls(RecordReader& reader) {
  constexpr size_t kFixedBytes = 25;  // time, thread, process: u64; tag: u8
  constexpr uint16_t kName = 2;
  tsl::robin_map<uint32_t, uint32_t> index_of_text;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    const format::Bytes value = reader.value();
    std::string_view name;
    const bool is_whole =
        value.size() >= kFixedBytes &&
        ForEachField(value, kFixedBytes, [&](uint16_t tag, std::string_view text) {
          if (tag == kName) name = text;
        });
    if (!is_whole) {
      reader.Reject("a Python event is too short, or its fields are damaged");
      continue;
    }
    uint32_t function = kReturn;
    if (IsCall(format::Load<uint8_t>(value, 24))) {
      const StringId text = impl_->ctx.Text(name);
      const auto [place, is_new] = index_of_text.insert(
          {static_cast<uint32_t>(text), static_cast<uint32_t>(impl_->functions.size())});
      if (is_new) impl_->functions.push_back(text);
      function = place->second;
    }
    const TrackId track = impl_->ctx.PythonThread(format::Load<uint64_t>(value, 16),
                                                  format::Load<uint64_t>(value, 8));
    Thread& thread = impl_->ThreadOf(track);
    impl_->old_records.push_back({track, thread.ts_ns.size()});
    thread.Add(impl_->ctx.Ns(format::Load<uint64_t>(value, 0)), function);
  }
}

Status PythonCalls::ReadOldModules(RecordReader& reader) {
  constexpr size_t kFixedBytes = 24;  // index, thread, process: u64
  constexpr uint16_t kModuleId = 2;
  constexpr uint16_t kModuleName = 3;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    const format::Bytes value = reader.value();
    std::string_view id;
    std::string_view name;
    const bool is_whole =
        value.size() >= kFixedBytes &&
        ForEachField(value, kFixedBytes, [&](uint16_t tag, std::string_view text) {
          if (tag == kModuleId) id = text;
          if (tag == kModuleName) name = text;
        });
    if (!is_whole) {
      reader.Reject("a module call is too short, or its fields are damaged");
      continue;
    }
    impl_->old_modules.push_back(
        {format::Load<uint64_t>(value, 0), impl_->ctx.Text(fmt::format("{}######{}", name, id))});
  }
}

Status PythonCalls::ReadParameters(RecordReader& reader) {
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    format::Keyed keyed;
    std::string_view module;
    std::string_view optimizer;
    const bool is_whole =
        Decode(reader.value(), &keyed) && ForEachField(reader.value(), format::Keyed::kFixedBytes,
                                                       [&](uint16_t tag, std::string_view text) {
                                                         if (tag == format::kParamModule)
                                                           module = text;
                                                         if (tag == format::kParamOptimizer)
                                                           optimizer = text;
                                                       });
    if (!is_whole) {
      reader.Reject("the parameters of a module are damaged");
      continue;
    }
    impl_->parameters.push_back({keyed.key, impl_->ctx.Text(module), impl_->ctx.Text(optimizer)});
  }
}

void PythonCalls::Finish() {
  Impl& self = *impl_;
  self.NameOldModules();
  const StringId unknown = self.ctx.out.strings.Intern("N/A");
  for (StringId& name : self.functions) {
    if (name == StringId::kEmpty) name = unknown;
  }
  for (auto& [track, thread] : self.threads) {
    thread.Sort();
    Replay(track, thread, self.functions, self.ctx);
    thread = {};
  }
  self.AppendParameters();
}

}  // namespace steplens::readers
