#include "torch_adapter/operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "torch_adapter/collectives.h"
#include "torch_adapter/inputs.h"
#include "torch_adapter/thread_ops.h"

namespace steplens::torch_adapter {

NameKind KindOf(std::string_view name) {
  if (IsCall(name)) return NameKind::kCall;
  if (IsWork(name)) return NameKind::kWork;
  return name.starts_with("autograd::engine::evaluate_function") ? NameKind::kNode
                                                                 : NameKind::kPlain;
}

namespace {

using Scope = at::RecordScope;

// Set before the callbacks are added and read by them only: what every operator needs, in one cache
// line. So the library's function and flag are here as well: elsewhere each would be found through
// a table of addresses, in a line of its own.
struct alignas(64) Settings {
  // Above: the number of the capture. Below: how often an operator was taken out of the framework.
  std::atomic<uint64_t> versions{0};
  bool shapes = false;
  bool tensors = false;
  bool marks = false;
  slt_stack_function stack = nullptr;
  const volatile uint32_t* recording = &sl_recording_;
  void (*record_plain_op)(const sl_plain_op*, sl_ticks, const uint64_t*) = sl_record_plain_op_until;
};
static_assert(sizeof(Settings) == 64);
Settings settings;

inline uint64_t Versions() { return settings.versions.load(std::memory_order_relaxed); }

// What callbacks are made for, so that none asks at every operator.
struct Kind {
  bool only_times = false;  // neither stacks nor shapes are wanted
  bool is_counter = false;  // sl_now_is_counter()
};

template <Kind kKind>
sl_ticks Now() {
  return kKind.is_counter ? sl_read_counter() : sl_now();
}

// An operator that is taken out of the framework (a torch.library that ends) leaves its place to
// the name of another one.
class SchemaListener final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    settings.versions.fetch_add(1, std::memory_order_relaxed);
  }
};

// Listens from the first capture to the end of the process.
void ListenToSchemas() {
  static const auto* const handle = new c10::RegistrationHandleRAII(
      c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<SchemaListener>()));
  static_cast<void>(handle);
}

at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
bool callback_has_inputs = false;

// ---- Operators: they end where they started, one inside the other ------------------------------

// The framework shows a copy of an operator's schema or a name without its place; the schema's own
// name, which stays where it is, saves comparing its letters.
struct FunctionMember {
  using Type = c10::variant<std::string, at::RecordFunction::schema_ref_t> at::RecordFunction::*;
  friend Type MemberOf(FunctionMember);
};
template <typename Tag, typename Tag::Type kMember>
struct Exposed {
  friend typename Tag::Type MemberOf(Tag) { return kMember; }
};
template struct Exposed<FunctionMember, &at::RecordFunction::fn_>;

// nullptr: it has none.
inline const std::string* PlaceOfName(const at::RecordFunction& function) {
  const auto& member = function.*MemberOf(FunctionMember());
  const auto* schema = c10::get_if<at::RecordFunction::schema_ref_t>(&member);
  return __builtin_expect(schema != nullptr, 1) ? &schema->get().name() : nullptr;
}

KnownName NameOf(const at::RecordFunction& function, ThreadOps* ops) {
  const std::string* place = PlaceOfName(function);
  return place ? ops->names.GetByPlace(place) : ops->names.GetByText(function.name());
}

// The engine's range around a node does not know which forward operator the node belongs to; the
// node, which starts inside it, does.
void LinkToNode(const OpenOp& op, ThreadOps* ops) {
  if (ops->node == kNoNode || op.record.sequence < 0) return;
  sl_plain_op& node = ops->at(ops->node).record;
  if (node.sequence >= 0) return;
  node.sequence = op.record.sequence;
  node.forward_thread = op.record.forward_thread;
}

// There is room for one more.
template <Kind kKind>
inline __attribute__((always_inline)) void Push(const at::RecordFunction& function, Scope scope,
                                                KnownName known, ThreadOps* ops) {
  const bool is_backward = scope == Scope::BACKWARD_FUNCTION;
  // What may run Python, and so other operators, comes before this one is pushed.
  sl_string stack = 0;
  sl_string modules = 0;
  if (!kKind.only_times && settings.stack) {
    if (!ops->empty()) stack = ops->at(ops->depth() - 1).stack();
    if (!is_backward) settings.stack(&stack, &modules);
    if (__builtin_expect(!ops->has_room(), 0)) return;  // one of those others runs still
  }
  OpenOp* op = ops->Push();
  const uint32_t first_word = kKind.only_times ? 0 : ops->words.size();
  const bool is_node = known.kind == NameKind::kNode;
  op->function = &function;
  op->record.sequence = function.seqNr();
  op->record.forward_thread = function.forwardThreadId();
  op->record.name = known.id;
  op->record.call_stack = is_backward ? 0 : stack;
  op->record.modules = modules;
  op->SetPlaces(stack, first_word);
  op->SetLast(static_cast<uint8_t>(scope), settings.tensors, is_node, ops->node);
  if (!kKind.only_times && settings.shapes) {
    AddInputs(function.inputs(), settings.tensors, &ops->words);
  }
  op->record.input_words = kKind.only_times ? 0 : ops->words.size() - first_word;
  if (is_backward) LinkToNode(*op, ops);
  if (is_node) ops->node = ops->depth() - 1;
  op->record.start = Now<kKind>();  // last: what is done here is not the operator's time
}

// ---- Ranges: they may end on another thread ----------------------------------------------------

// All ranges that are open, of any thread: what still runs when the capture ends is recorded up to
// then. There are few of them, so one lock does.
struct Range;
std::mutex open_ranges_mutex;
Range* open_ranges = nullptr;  // guarded by it
pid_t capture_pid = 0;         // of the process that installed the callbacks

struct Range final : at::ObserverContext {
  Range() {
    const std::lock_guard lock(open_ranges_mutex);
    next = open_ranges;
    if (next != nullptr) next->previous = this;
    open_ranges = this;
  }
  ~Range() override {
    const std::lock_guard lock(open_ranges_mutex);
    if (next != nullptr) next->previous = previous;
    (previous != nullptr ? previous->next : open_ranges) = next;
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  sl_op record{};
  Words inputs;
  CollectiveFields collective;
  bool is_work = false;      // of a collective: it ends on another thread
  bool is_started = false;   // all of the above is known
  bool is_recorded = false;  // guarded by the lock, as these two
  Range* next = nullptr;
  Range* previous = nullptr;
};

void RecordRange(Range* range, uint64_t end_thread) {
  sl_op& record = range->record;
  record.end_thread = end_thread;
  record.inputs = range->inputs.data();
  record.input_words = range->inputs.size();
  record.fields = range->collective.fields;
  record.field_count = range->collective.count;
  sl_record_op(&record);
  if (range->collective.mark != 0) sl_mark_end(range->collective.mark);
  range->is_recorded = true;
}

// Not inlined: there are few of them, and they would stand between the lines of operators.
__attribute__((noinline)) std::unique_ptr<at::ObserverContext> StartRange(
    const at::RecordFunction& function, Scope scope, ThreadOps* ops) {
  auto range = std::make_unique<Range>();
  sl_op& record = range->record;
  const char* name = function.name();
  const KnownName known = ops->names.GetByText(name);
  record.name = known.id;
  record.sequence = function.seqNr();
  record.forward_thread = function.forwardThreadId();
  record.scope = static_cast<uint8_t>(scope);
  record.start_thread = ops->thread;
  record.with_tensors = settings.tensors;
  if (settings.shapes) AddInputs(function.inputs(), settings.tensors, &range->inputs);
  if (settings.stack) settings.stack(&record.call_stack, &record.modules);
  if (known.kind == NameKind::kCall) {
    NoteCall(name, function.inputs());
  } else if (known.kind == NameKind::kWork) {
    range->collective = NoteWork(name, function.inputs(), settings.marks);
    range->is_work = true;
  }
  record.start = sl_now();
  const std::lock_guard lock(open_ranges_mutex);
  range->is_started = true;
  return range;
}

__attribute__((noinline)) void EndRange(const at::RecordFunction& function, Range* range) {
  const sl_ticks end = sl_now();
  const std::lock_guard lock(open_ranges_mutex);
  if (range->is_recorded) return;  // when the capture ended
  range->record.end = end;
  range->record.is_async = function.isAsync();
  RecordRange(range, sl_thread());
}

// The capture ends, in the process that began it or in a child of a fork, which is not recorded and
// in which another thread may hold the lock for ever.
void RecordOpenRanges() {
  if (::getpid() != capture_pid) {
    new (&open_ranges_mutex) std::mutex;
    open_ranges = nullptr;
    return;
  }
  const std::lock_guard lock(open_ranges_mutex);
  const sl_ticks end = sl_now();
  for (Range* range = open_ranges; range != nullptr; range = range->next) {
    if (!range->is_started || range->is_recorded) continue;
    range->record.end = end;
    range->record.is_async = range->is_work;
    RecordRange(range, range->record.start_thread);
  }
  for (const WaitingWork& work : TakeWaitingWorks()) {
    sl_op record = {};
    record.name = work.name;
    record.sequence = -1;
    record.scope = static_cast<uint8_t>(Scope::USER_SCOPE);
    record.start_thread = record.end_thread = work.thread;
    record.start = work.called;
    record.end = end;
    record.is_async = true;
    record.fields = work.fields.fields;
    record.field_count = work.fields.count;
    sl_record_op(&record);
  }
}

// ---- The callbacks -----------------------------------------------------------------------------

// Most that happens are operators of the framework that were met before. All else is left to
// functions of their own: so these need few lines of code, each of which has to come from a far
// cache.

template <Kind kKind>
__attribute__((noinline)) std::unique_ptr<at::ObserverContext> StartAny(
    const at::RecordFunction& function) {
  ThreadOps* ops = OpsOfThread();
  if (!ops) return nullptr;
  const Scope scope = function.scope();
  if (scope != Scope::FUNCTION && scope != Scope::BACKWARD_FUNCTION) {
    return StartRange(function, scope, ops);
  }
  ops->CatchUp(Versions());
  if (!ops->has_room() && !ops->Grow()) return nullptr;
  const KnownName known = NameOf(function, ops);
  if (known.kind == NameKind::kCall) NoteCall(function.name(), function.inputs());
  Push<kKind>(function, scope, known, ops);
  return nullptr;
}

template <Kind kKind>
std::unique_ptr<at::ObserverContext> Start(const at::RecordFunction& function) {
  if (*settings.recording == 0) return nullptr;
  ThreadOps* ops = thread_ops;
  const std::string* place = PlaceOfName(function);
  if (__builtin_expect(ops && place, 1)) {
    // All at once: a jump is as long as two of these.
    const uint64_t differs = (ops->versions ^ Versions()) | static_cast<uint64_t>(function.scope());
    static_assert(static_cast<uint64_t>(Scope::FUNCTION) == 0);
    const sl_string* name = ops->names.FindPlain(place);
    if (__builtin_expect(differs == 0 && name && ops->has_room(), 1)) {
      Push<kKind>(function, Scope::FUNCTION, {*name, NameKind::kPlain}, ops);
      return nullptr;
    }
  }
  return StartAny<kKind>(function);
}

__attribute__((noinline)) void EndAny(const at::RecordFunction& function, sl_ticks end,
                                      ThreadOps* ops) {
  const OpenOp* op = ops->PopAny(&function);
  if (!op || !ops->IsOf(Versions())) return;  // of an earlier capture
  if (op->is_node()) ops->node = op->outer_node();
  ops->words.Truncate(op->first_word());
  settings.record_plain_op(&op->record, end, ops->words.data() + op->first_word());
}

template <Kind kKind>
void End(const at::RecordFunction& function, at::ObserverContext* context) {
  if (__builtin_expect(context != nullptr, 0)) {
    return EndRange(function, static_cast<Range*>(context));
  }
  ThreadOps* ops = thread_ops;
  if (!ops || ops->empty()) return;
  const sl_ticks end = Now<kKind>();  // what is done here is not the operator's time
  const OpenOp* op = &ops->at(ops->depth() - 1);
  if (__builtin_expect(op->function != &function || op->is_node() || !ops->IsOf(Versions()), 0)) {
    return EndAny(function, end, ops);
  }
  ops->Pop();
  if (!kKind.only_times) ops->words.Truncate(op->first_word());
  settings.record_plain_op(&op->record, end, ops->words.data() + op->first_word());
}

template <Kind kKind>
at::RecordFunctionCallback CallbackOf() {
  return at::RecordFunctionCallback(&Start<kKind>, &End<kKind>);
}

at::RecordFunctionCallback CallbackOf(Kind kind) {
  if (!kind.is_counter) {
    return kind.only_times ? CallbackOf<Kind{true, false}>() : CallbackOf<Kind{false, false}>();
  }
  return kind.only_times ? CallbackOf<Kind{true, true}>() : CallbackOf<Kind{false, true}>();
}

// One callback for everything, and only for scopes that tell where the time of a training goes: for
// each node of a backward pass the framework makes its lists of callbacks anew, twice, a list for
// each scope. Left out are counters of the mobile build and the two inference-only runtimes.
at::CallbackHandle AddCallback(bool with_inputs) {
  const Kind kind{!settings.shapes && !settings.stack, sl_now_is_counter() != 0};
  return at::addGlobalCallback(CallbackOf(kind)
                                   .needsInputs(with_inputs)
                                   .scopes({Scope::FUNCTION, Scope::BACKWARD_FUNCTION,
                                            Scope::TORCHSCRIPT_FUNCTION, Scope::USER_SCOPE}));
}

}  // namespace

void PrepareOperators() {
  ListenToSchemas();
  PrepareInputs();
}

void InstallOperators(const slt_options& options) {
  settings.versions.fetch_add(uint64_t{1} << 32, std::memory_order_relaxed);
  settings.shapes = options.shapes != 0;
  settings.tensors = options.shapes != 0 && options.tensors != 0;
  settings.marks = options.marks != 0;
  settings.stack = options.stack;
  PrepareOperators();
  ForgetCalls();
  callback_has_inputs = options.shapes != 0 || options.inputs != 0;
  capture_pid = ::getpid();
  callback = AddCallback(callback_has_inputs);
}

void RemoveOperators() {
  if (callback == at::INVALID_CALLBACK_HANDLE) return;
  at::removeCallback(callback);
  callback = at::INVALID_CALLBACK_HANDLE;
  RecordOpenRanges();
}

void AlsoTakeInputs() {
  if (callback == at::INVALID_CALLBACK_HANDLE || callback_has_inputs) return;
  callback_has_inputs = true;
  at::removeCallback(callback);
  callback = AddCallback(true);
}

}  // namespace steplens::torch_adapter
