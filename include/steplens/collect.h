/* Recording from inside a training process: the C interface of libsteplens_collect.so.
 *
 * One capture at a time per process. Every call is safe from any thread, never throws, never waits
 * for the disk and does nothing while no capture is running. Times are raw clock values (sl_now):
 * the CPU's counter where it is invariant, CLOCK_MONOTONIC_RAW nanoseconds elsewhere; the capture
 * says which.
 *
 * What is recorded goes to DIRECTORY/FRAMEWORK in the layout that docs/formats/framework.md
 * describes. */
#ifndef STEPLENS_COLLECT_H_
#define STEPLENS_COLLECT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SL_API __attribute__((visibility("default")))

typedef uint32_t sl_string; /* id of an interned text, valid for the life of the process; 0: none */
typedef uint64_t sl_ticks;  /* raw clock */

enum sl_result {
  SL_OK = 0,
  SL_RUNNING = 1,     /* a capture is running already */
  SL_NOT_RUNNING = 2, /* there is none */
  SL_BAD_ARGUMENT = 3,
  SL_IO = 4, /* the operating system refused; sl_last_error says what */
  SL_NO_MEMORY = 5
};

/* ---- The capture
 * ---------------------------------------------------------------------------------------------- */

enum sl_host_source { SL_HOST_CPU = 1, SL_HOST_MEMORY = 2, SL_HOST_DISK = 4, SL_HOST_NETWORK = 8 };

typedef struct sl_options {
  size_t struct_size;      /* sizeof(sl_options) */
  const char* directory;   /* the capture's folder; made with its parents, mode 0750 */
  int64_t rank;            /* -1: not known; the name of profiler_info_<rank>.json */
  int rank_is_text;        /* rank_id is written as a JSON string (it came from the environment) */
  const char* config_json; /* value of "config" in profiler_info, JSON text; NULL: {} */
  const char*
      info_json; /* JSON object whose members become further members of profiler_info; NULL: none */
  size_t thread_buffer_bytes; /* ring of one thread; 0: 1 MiB */
  size_t total_buffer_bytes;  /* bound on all rings; beyond it threads share or drop; 0: 256 MiB */
  uint32_t flush_period_ms;   /* how often the writer wakes; 0: 10 */
  uint32_t host_sources;      /* sl_host_source bits, sampled from /proc; 0: none */
  uint32_t host_period_ms;    /* 0: 100 */
  int start_paused;           /* hooks may run, nothing is kept until sl_resume (warm-up) */
  int mindspore; /* the files of MindSpore's own profiler (mindspore.*) are written as well */
} sl_options;

/* What became of the records of a capture. */
typedef struct sl_statistics {
  uint64_t recorded;
  uint64_t dropped;       /* buffers were full */
  uint64_t lost_on_write; /* the disk refused them */
  uint64_t bytes_written;
} sl_statistics;

SL_API int sl_start(const sl_options* options);
SL_API void sl_pause(void);
SL_API void sl_resume(void);
/* Flushes, writes profiler_info and profiler_metadata, ends the writer. `out` may be NULL. */
SL_API int sl_stop(sl_statistics* out);
/* Forgets the running capture and removes its folder. */
SL_API int sl_discard(void);
/* Waits until all that was recorded so far is in the files. Not for the training thread. */
SL_API int sl_flush(void);
/* The last failure on this thread, in words; "" if none. Valid until the thread's next call. */
SL_API const char* sl_last_error(void);

/* "<worker>_<pid>_<YYYYmmddHHMMSSmmm>_ascend_pt", the usual name of a capture's folder; `worker`
 * NULL or "": the host. Returns the length it has, like snprintf. */
SL_API size_t sl_capture_name(char* out, size_t size, const char* worker);
/* The rank of this process as launchers tell it (RANK, then those of MPI and Slurm); -1: not known.
 * `is_text` (may be NULL) becomes what sl_options.rank_is_text should be. */
SL_API int64_t sl_environment_rank(int* is_text);

extern SL_API volatile uint32_t
    sl_recording_; /* not 0 while records are kept; read it through sl_recording() */
static inline int sl_recording(void) { return sl_recording_ != 0; }

/* Adds to profiler_metadata.json; `json` is JSON text. A key that is there is replaced. Also before
 * sl_start. */
SL_API int sl_metadata(const char* key, const char* json);

/* ---- Texts and time
 * ------------------------------------------------------------------------------------------- */

/* Any bytes; texts longer than 64 KiB are cut. The same text has the same id. */
SL_API sl_string sl_intern(const char* text, size_t length);
SL_API sl_ticks sl_now(void);
/* Whether sl_now() is sl_read_counter(), which a caller that counts nanoseconds may read itself.
 * Does not change. */
SL_API int sl_now_is_counter(void);
static inline sl_ticks sl_read_counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return sl_now();
#endif
}
/* The kernel's id of the calling thread, cached. */
SL_API uint64_t sl_thread(void);

/* ---- What happened
 * -------------------------------------------------------------------------------------------- */

/* Nested ranges of the calling thread; at most 65,536 deep, deeper ones are counted as dropped.
 * Become user-scope operator ranges. */
SL_API void sl_range_begin(sl_string name);
SL_API void sl_range_end(void);
/* sl_range_begin(sl_intern(...)), cheap while no capture is running. */
SL_API void sl_range_begin_text(const char* name, size_t length);

/* A training step of the calling thread: the range "ProfilerStep#<step>". */
SL_API void sl_step_begin(int64_t step);
SL_API void sl_step_end(void);

/* A text field of an operator beyond the usual ones: tags of docs/formats/framework.md, ours from
 * 32 on. */
typedef struct sl_field {
  uint16_t tag;
  sl_string text;
} sl_field;

/* The inputs of an operator as words, so that making texts of them is left to the writer. Per input
 * one word from SL_INPUT and what its kind says: SL_INPUT_OTHER, SL_INPUT_BOOL ... SL_INPUT_COMPLEX
 * nothing: no tensor SL_INPUT_LIST       the number of tensors, then that many tensors (with
 * sl_op.with_tensors only) SL_INPUT_TENSOR...  `dimensions` sizes; with sl_op.with_tensors before
 * them the address of the tensor and, if it has one, of its storage, and after them, if it is
 * strided, as many strides `type` is the text of the list of types: "float", "Scalar", ... */
enum sl_input_kind {
  SL_INPUT_OTHER = 0,
  SL_INPUT_BOOL = 1,
  SL_INPUT_INT = 2,
  SL_INPUT_DOUBLE = 3,
  SL_INPUT_COMPLEX = 4,
  SL_INPUT_LIST = 5,
  SL_INPUT_TENSOR = 8, /* or these two bits */
  SL_INPUT_HAS_STORAGE = 1,
  SL_INPUT_STRIDED = 2
};
/* Bits: type 24, dimensions 12, kind 4, element size 8, device type 8, device index 8. */
#define SL_INPUT(type, dimensions, kind, element_size, device_type, device_index) \
  ((uint64_t)(type) | (uint64_t)(dimensions) << 24 | (uint64_t)(kind) << 36 |     \
   (uint64_t)(element_size) << 40 | (uint64_t)(uint8_t)(device_type) << 48 |      \
   (uint64_t)(uint8_t)(device_index) << 56)

typedef struct sl_op {
  sl_ticks start;
  sl_ticks end;
  int64_t sequence;        /* autograd sequence number; -1: none */
  uint64_t start_thread;   /* 0: the calling thread */
  uint64_t end_thread;     /* 0: the calling thread */
  uint64_t forward_thread; /* 0: a forward operator */
  uint8_t scope;           /* 0 function, 1 backward function, 7 user scope, ... */
  uint8_t is_async;
  uint8_t with_tensors; /* of `inputs`: tensors come with addresses and strides */
  sl_string name;
  sl_string call_stack;  /* frames, innermost first, joined by ';' */
  sl_string modules;     /* module hierarchy joined by ';' */
  sl_string dtypes;      /* "float;long int;None" */
  const int64_t* shapes; /* per input: the number of dimensions (-1: not a tensor), then these;
                            written as "2,3;;4" */
  uint32_t shape_words;  /* length of `shapes` */
  uint32_t field_count;
  const sl_field* fields;
  const uint64_t* inputs; /* instead of `dtypes` and `shapes` */
  uint32_t input_words;   /* length of `inputs`; 0: none */
} sl_op;
SL_API void sl_record_op(const sl_op* op);

/* The same, as short as can be, of an operator that started and ended on the calling thread. */
typedef struct sl_plain_op {
  sl_ticks start;
  sl_ticks end; /* 0: now */
  int64_t sequence;
  uint64_t forward_thread;
  sl_string name;
  sl_string call_stack;
  sl_string modules;
  uint32_t input_words; /* at most 16,384, else there are none */
  uint8_t scope;
  uint8_t is_async;
  uint8_t with_tensors;
  uint8_t reserved[5]; /* the caller's; not looked at */
} sl_plain_op;
SL_API void sl_record_plain_op(const sl_plain_op* op, const uint64_t* inputs);
/* The same, for one that ends at `end`, whatever op->end is: so `op` can be filled when it starts,
 * and nothing of it was written a moment before it is read, for which a processor would wait. */
SL_API void sl_record_plain_op_until(const sl_plain_op* op, sl_ticks end, const uint64_t* inputs);

enum sl_memory_kind { SL_MALLOC = 0, SL_FREE = 1, SL_BLOCK_FREE = 2 };
typedef struct sl_memory {
  sl_ticks time; /* 0: now */
  int64_t address;
  int64_t size; /* positive for SL_MALLOC, negative for both kinds of free */
  int64_t total_allocated;
  int64_t total_reserved;
  int64_t total_active;
  int64_t stream;
  int8_t device_type; /* 0 CPU, 20 NPU */
  int8_t device_index;
  uint8_t component; /* 0 caching allocator, 1 workspace */
  uint8_t kind;      /* sl_memory_kind */
  uint8_t allocator; /* 0 inner, 1 external */
} sl_memory;
SL_API void sl_record_memory(const sl_memory* event);
/* A block of memory that is allocated now, or, if `size` is 0, freed now. The writer adds the size
 * of a free and the totals, which count blocks allocated during the capture; a free of another
 * block is left out. */
SL_API void sl_record_block(int64_t address, int64_t size, int8_t device_type, int8_t device_index);

/* An item of an asynchronous task queue: category 0 enqueue start, 1 enqueue end, 2 dequeue start,
 * 3 dequeue end. */
typedef struct sl_op_mark {
  sl_ticks time; /* 0: now */
  uint64_t category;
  uint64_t correlation_id; /* 0 for enqueue start */
  sl_string name;
} sl_op_mark;
SL_API void sl_record_op_mark(const sl_op_mark* mark);

/* A call (tag 0 Python, 2 C) or return (1, 3) of the interpreter on the calling thread; `key` names
 * the function. */
SL_API void sl_record_python(sl_ticks time, uint64_t key, uint8_t tag);
SL_API void sl_record_python_now(uint64_t key, uint8_t tag);
SL_API void sl_python_name(uint64_t key, const char* text, size_t length);
/* Parameters of a module (tag 1) or an optimiser (tag 2); `key` as above, the text may be long. */
SL_API void sl_param_info(uint64_t key, uint16_t tag, const char* text, size_t length);
/* The same with tensors: each byte 1 of the text stands for the next tensor of `words`, which are
 * those of sl_op.inputs, with addresses. The writer makes their texts. */
SL_API void sl_param_tensors(uint64_t key, uint16_t tag, const char* text, size_t length,
                             const uint64_t* words, size_t word_count);
SL_API void sl_record_gc(sl_ticks start, sl_ticks end);

/* A sample of a series, e.g. "CPU Usage/all" in the unit the series names. */
SL_API void sl_counter(sl_string series, double value);

/* User marks (mstx). `domain` 0: "default". A range may end on another thread. Not recorded:
 * messages and domains that are empty or begin with one of = + - @ (spreadsheets take them for
 * formulas), and domains of 1024 bytes or more. */
SL_API void sl_mark(sl_string message, sl_string domain);
SL_API uint64_t sl_mark_start(sl_string message, sl_string domain); /* 0: not recorded */
/* The same, and on a stream of the device (an aclrtStream, NULL: none) while sl_device_start's
 * marks are on. */
SL_API void sl_mark_on_stream(sl_string message, sl_string domain, void* stream);
SL_API uint64_t sl_mark_start_on_stream(sl_string message, sl_string domain, void* stream);
SL_API void sl_mark_end(uint64_t id);
/* Does nothing if the range was started in another domain. */
SL_API void sl_mark_end_in(uint64_t id, sl_string domain);
/* Which domains are kept: `include` if not empty, else all but `exclude`. Names joined by ',';
 * where one may hold a comma, each ends with '\x1f' instead. Copied. */
SL_API void sl_mark_filter(int enabled, const char* include, const char* exclude);

#ifdef __cplusplus
}
#endif
#endif
