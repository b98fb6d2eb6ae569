/* libsteplens_torch.so: what happens inside PyTorch, into the capture that runs
 * (steplens/collect.h).
 *
 * One set of hooks per process. slt_start and slt_stop are called by one thread at a time; the
 * hooks run on any thread and do nothing while the recorder keeps nothing. The library must not be
 * unloaded: tensors made during a capture are freed through it. */
#ifndef STEPLENS_TORCH_ADAPTER_TORCH_ADAPTER_H_
#define STEPLENS_TORCH_ADAPTER_TORCH_ADAPTER_H_

#include <steplens/collect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Python call stack and module hierarchy of the calling thread, 0 where there is none. May be
 * called without the interpreter lock. When called `*call_stack` is the stack of the operator
 * around this one, which still runs; 0: there is none. */
typedef void (*slt_stack_function)(sl_string* call_stack, sl_string* modules);

typedef struct slt_options {
  size_t struct_size;       /* sizeof(slt_options) */
  int operators;            /* record operators and ranges */
  int shapes;               /* with the shapes and types of their inputs */
  int tensors;              /* and the tensors themselves: addresses, strides, devices */
  int inputs;               /* look at inputs even without shapes, for the groups of collectives */
  int memory;               /* record allocations and frees of CPU memory */
  int marks;                /* a mark in the domain "communication" around each collective */
  int device_index;         /* what memory events carry: the rank on this host */
  slt_stack_function stack; /* NULL: no stacks */
} slt_options;

/* The version of libtorch this library was built for, e.g. "1.13.0". */
SL_API const char* slt_version(void);

/* What the first start would spend time on. May be left out. */
SL_API void slt_prepare(void);

/* Installs the hooks. 0, or 1 if they are installed already or an argument is wrong. */
SL_API int slt_start(const slt_options* options);
/* Removes them; operators that are running are not recorded any more. */
SL_API void slt_stop(void);

/* Parameters of a module (tag 1) or an optimizer (tag 2), as sl_param_tensors wants them; `tensors`
 * are the addresses of their c10::TensorImpl (Tensor._cdata), one for each byte 1 of the text. */
SL_API void slt_parameters(uint64_t key, uint16_t tag, const char* text, size_t length,
                           const uint64_t* tensors, size_t count);

/* From now on inputs are looked at (slt_options.inputs): the process has joined a group. Nothing
 * without hooks. */
SL_API void slt_watch_groups(void);

/* Tells who a process group is: the address of its C++ object, its name in captures, its global
 * ranks as "0,1". */
SL_API void slt_group(uint64_t address, const char* name, const char* ranks);
/* Called on the thread of a collective whose group is not known; may call slt_group. NULL: nothing
 * is called. */
SL_API void slt_unknown_group_hook(void (*hook)(uint64_t address));

#ifdef __cplusplus
}
#endif
#endif
