#include "torch_adapter/operators.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <new>
#include <unordered_set>

#include "torch_adapter/collectives.h"
#include "torch_adapter/inputs.h"
#include "torch_adapter/text_cache.h"

namespace steplens::torch_adapter {
namespace {

// Set before the callbacks are added and read by them only.
slt_options settings{};
at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
bool callback_has_inputs = false;

struct FreeBlock {
  FreeBlock* next;
};

struct Operator;

// What a thread keeps between operators: texts it met and blocks for contexts.
struct ThreadState {
  NameCache<1024> names;
  FreeBlock* blocks = nullptr;
  unsigned block_count = 0;
  const uint64_t thread = sl_thread();
  Operator* node = nullptr;  // the innermost node of the autograd engine that is evaluated

  ThreadState() = default;
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;
  ~ThreadState() {
    while (FreeBlock* block = blocks) {
      blocks = block->next;
      ::operator delete(block);
    }
  }
};

// A plain pointer is what the hot path reads; the owner ends it with the thread. Operators that
// still run then (static destructors) find no state and are not recorded.
thread_local ThreadState* thread_state = nullptr;
thread_local bool thread_ended = false;
struct ThreadStateOwner {
  std::unique_ptr<ThreadState> state = std::make_unique<ThreadState>();
  ~ThreadStateOwner() {
    thread_state = nullptr;
    thread_ended = true;
  }
};

ThreadState* MakeThreadState() {
  if (thread_ended) return nullptr;
  thread_local ThreadStateOwner owner;
  thread_state = owner.state.get();
  return thread_state;
}

ThreadState* State() { return thread_state ? thread_state : MakeThreadState(); }

// An operator that runs. Made at its start and recorded at its end, which may be on another thread.
struct Operator final : at::ObserverContext {
  sl_op record{};
  Words inputs;
  CollectiveFields collective;
  Operator* outer_node = nullptr;  // what ThreadState::node was before this one
  bool is_node = false;

  static constexpr unsigned kMaxFree = 256;  // blocks a thread keeps
  static void* operator new(size_t size) {
    ThreadState* state = thread_state;
    if (!state || !state->blocks) return ::operator new(size);
    FreeBlock* block = state->blocks;
    state->blocks = block->next;
    --state->block_count;
    return block;
  }
  static void operator delete(void* memory) {
    ThreadState* state = thread_state;
    if (!state || state->block_count >= kMaxFree) {
      ::operator delete(memory);
      return;
    }
    state->blocks = new (memory) FreeBlock{state->blocks};
    ++state->block_count;
  }
};

// Collectives are told apart by their names, which no other operator shares the first letters with.
void AddCollective(std::string_view name, const at::RecordFunction& function, Operator* out) {
  if (IsCall(name)) {
    NoteCall(name, function.inputs());
  } else if (IsWork(name)) {
    out->collective = NoteWork(name, function.inputs(), settings.marks != 0);
  }
}

// The engine's range around a node does not know which forward operator the node belongs to; the
// node, which starts inside it, does.
void LinkNode(std::string_view name, ThreadState* state, Operator* out) {
  if (out->record.scope == static_cast<uint8_t>(at::RecordScope::BACKWARD_FUNCTION)) {
    if (!state->node || state->node->record.sequence >= 0 || out->record.sequence < 0) return;
    state->node->record.sequence = out->record.sequence;
    state->node->record.forward_thread = out->record.forward_thread;
  } else if (name.starts_with("autograd::engine::evaluate_function")) {
    out->is_node = true;
    out->outer_node = state->node;
    state->node = out;
  }
}

std::unique_ptr<at::ObserverContext> Start(const at::RecordFunction& function) {
  if (!sl_recording()) return nullptr;
  ThreadState* state = State();
  if (!state) return nullptr;
  std::unique_ptr<Operator> out(new Operator);
  sl_op& record = out->record;
  const char* name = function.name();
  record.name = state->names.Get(name);
  record.sequence = function.seqNr();
  record.forward_thread = function.forwardThreadId();
  record.scope = static_cast<uint8_t>(function.scope());
  record.start_thread = state->thread;
  if (settings.shapes) AddInputs(function.inputs(), settings.tensors != 0, &out->inputs);
  if (settings.stack && function.scope() != at::RecordScope::BACKWARD_FUNCTION) {
    settings.stack(&record.call_stack, &record.modules);
  }
  // Most operators are aten::*; what is special has another begin.
  if (name[0] == 'c' || name[0] == 'g') AddCollective(name, function, out.get());
  if (record.scope != 0 || (name[0] == 'a' && name[1] == 'u')) LinkNode(name, state, out.get());
  record.start = sl_now();  // last: what is done here is not the operator's time
  return out;
}

void End(const at::RecordFunction& function, at::ObserverContext* context) {
  if (!context) return;
  const sl_ticks now = sl_now();
  auto* out = static_cast<Operator*>(context);
  sl_op& record = out->record;
  const ThreadState* state = thread_state;
  if (out->is_node && state) thread_state->node = out->outer_node;
  record.end = now;
  record.end_thread = state ? state->thread : sl_thread();
  record.is_async = function.isAsync();
  record.inputs = out->inputs.data();
  record.input_words = out->inputs.size();
  record.with_tensors = settings.tensors != 0;
  record.fields = out->collective.fields;
  record.field_count = out->collective.count;
  sl_record_op(&record);
  if (out->collective.mark != 0) sl_mark_end(out->collective.mark);
}

// One callback for everything: the framework goes through all of them again for each node of a
// backward pass.
at::CallbackHandle AddCallback(bool with_inputs) {
  using Scope = at::RecordScope;
  std::unordered_set<Scope> scopes;
  for (size_t i = 0; i < static_cast<size_t>(Scope::NUM_SCOPES); ++i) {
    // Counts of kernels' data types and of build features come with every operator and say nothing
    // about time.
    const auto scope = static_cast<Scope>(i);
    if (scope != Scope::KERNEL_FUNCTION_DTYPE && scope != Scope::BUILD_FEATURE) {
      scopes.insert(scope);
    }
  }
  return at::addGlobalCallback(
      at::RecordFunctionCallback(&Start, &End).needsInputs(with_inputs).scopes(scopes));
}

}  // namespace

void InstallOperators(const slt_options& options) {
  settings = options;
  settings.tensors = options.shapes && options.tensors;
  PrepareInputs();
  ForgetCalls();
  callback_has_inputs = options.shapes != 0 || options.inputs != 0;
  callback = AddCallback(callback_has_inputs);
}

void RemoveOperators() {
  if (callback != at::INVALID_CALLBACK_HANDLE) at::removeCallback(callback);
  callback = at::INVALID_CALLBACK_HANDLE;
}

void AlsoTakeInputs() {
  if (callback == at::INVALID_CALLBACK_HANDLE || callback_has_inputs) return;
  callback_has_inputs = true;
  at::removeCallback(callback);
  callback = AddCallback(true);
}

}  // namespace steplens::torch_adapter
