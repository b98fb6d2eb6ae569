/* User marks, compatible with mstx: the same names, types and injection protocol, so that a program
 * built with this header works with every tool that speaks mstx, and one built with the vendor's
 * header works with steplens.
 *
 * Header only. The first call of a process looks for a tool: the library named by
 * MSTX_INJECTION_PATH, else any loaded library that exports InitInjectionMstx (LD_PRELOAD). Without
 * a tool every call is a test of one pointer. Link with -ldl where libc does not have dlopen. */
#ifndef STEPLENS_MSTX_H_
#define STEPLENS_MSTX_H_

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtStream;
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
typedef struct mstxMemHeap_st* mstxMemHeapHandle_t;
typedef struct mstxMemRegion_st* mstxMemRegionHandle_t;

/* ---- Memory pools
 * -----------------------------------------------------------------------------------------------
 */

typedef struct mstxMemVirtualRangeDesc_t {
  uint32_t deviceId;
  const void* ptr;
  uint64_t size;
} mstxMemVirtualRangeDesc_t;

typedef struct mstxMemHeapDesc_t {
  int32_t usage;                /* 0 sub-allocator */
  int32_t type;                 /* 0 virtual addresses */
  const void* typeSpecificDesc; /* mstxMemVirtualRangeDesc_t */
} mstxMemHeapDesc_t;

typedef struct mstxMemRegionsRegisterBatch_t {
  mstxMemHeapHandle_t heap;
  int32_t regionType;
  size_t regionCount;
  const void* regionDescArray;
  mstxMemRegionHandle_t* regionHandleArrayOut; /* may be NULL */
} mstxMemRegionsRegisterBatch_t;

typedef struct mstxMemRegionRef_t {
  int32_t refType; /* 0 pointer, 1 handle */
  union {
    const void* pointer;
    mstxMemRegionHandle_t handle;
  };
} mstxMemRegionRef_t;

typedef struct mstxMemRegionsUnregisterBatch_t {
  size_t refCount;
  const mstxMemRegionRef_t* refArray;
} mstxMemRegionsUnregisterBatch_t;

typedef struct mstxMemPermissionsAssignRegionsDesc_t {
  uint32_t flags; /* 0 none, 1 read, 2 write, 4 shared */
  mstxMemRegionRef_t region;
} mstxMemPermissionsAssignRegionsDesc_t;

typedef struct mstxMemPermissionsAssignBatch_t {
  size_t regionCount;
  const mstxMemPermissionsAssignRegionsDesc_t* regionDescArray;
} mstxMemPermissionsAssignBatch_t;

/* ---- The injection protocol, for tools
 * -------------------------------------------------------------------------- */

typedef void (*mstxFuncPointer)(void);
typedef mstxFuncPointer**
    mstxFuncTable; /* pointers to slots; a tool writes *table[id] = function */

enum { MSTX_MODULE_CORE = 1, MSTX_MODULE_DOMAIN = 2, MSTX_MODULE_MEMORY = 3 };
enum {
  MSTX_CORE_MARK = 1,
  MSTX_CORE_RANGE_START = 2,
  MSTX_CORE_RANGE_END = 3,
  MSTX_CORE_TOOL_ID = 4
};
enum {
  MSTX_DOMAIN_CREATE = 1,
  MSTX_DOMAIN_DESTROY = 2,
  MSTX_DOMAIN_MARK = 3,
  MSTX_DOMAIN_RANGE_START = 4,
  MSTX_DOMAIN_RANGE_END = 5
};
enum {
  MSTX_MEMORY_HEAP_REGISTER = 1,
  MSTX_MEMORY_HEAP_UNREGISTER = 2,
  MSTX_MEMORY_REGIONS_REGISTER = 3,
  MSTX_MEMORY_REGIONS_UNREGISTER = 4,
  MSTX_MEMORY_PERMISSIONS_ASSIGN = 5
};

/* Gives the slots of a module: ids 1 .. *size - 1 are valid. 0, or 1 for an unknown module or NULL.
 */
typedef int (*mstxGetTableFunc)(int module, mstxFuncTable* table, unsigned int* size);
/* What a tool exports as "InitInjectionMstx"; 0 if it took over. */
typedef int (*mstxInitInjectionFunc)(mstxGetTableFunc get_table);

/* One table a binary, shared by its source files. `state`: 0 not looked yet, 1 looking, 2 a tool is
 * there, 3 there is none. */
struct mstx_table_ {
  int state;
  mstxFuncPointer core[5];
  mstxFuncPointer domain[6];
  mstxFuncPointer memory[6];
  mstxFuncPointer* core_slots[6];
  mstxFuncPointer* domain_slots[7];
  mstxFuncPointer* memory_slots[7];
};
__attribute__((weak, visibility("hidden"))) struct mstx_table_ mstx_table_;

static inline int mstx_get_table_(int module, mstxFuncTable* table, unsigned int* size) {
  if (table == NULL || size == NULL) return 1;
  switch (module) {
    case MSTX_MODULE_CORE:
      *table = mstx_table_.core_slots;
      *size = 5;
      return 0;
    case MSTX_MODULE_DOMAIN:
      *table = mstx_table_.domain_slots;
      *size = 6;
      return 0;
    case MSTX_MODULE_MEMORY:
      *table = mstx_table_.memory_slots;
      *size = 6;
      return 0;
    default:
      return 1;
  }
}

static inline void mstx_look_for_tool_(void) {
  const char* path = getenv("MSTX_INJECTION_PATH");
  void* library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
  mstxInitInjectionFunc init = NULL;
  void* symbol = dlsym(library, "InitInjectionMstx"); /* NULL handle: whatever is loaded */
  int found = 0;
  __builtin_memcpy(&init, &symbol, sizeof(init));
  for (int i = 1; i < 5; ++i) mstx_table_.core_slots[i] = &mstx_table_.core[i];
  for (int i = 1; i < 6; ++i) mstx_table_.domain_slots[i] = &mstx_table_.domain[i];
  for (int i = 1; i < 6; ++i) mstx_table_.memory_slots[i] = &mstx_table_.memory[i];
  if (init != NULL) found = init(mstx_get_table_) == 0;
  __atomic_store_n(&mstx_table_.state, found ? 2 : 3, __ATOMIC_RELEASE);
}

/* Whether there is a tool; looks for it in the first call, others wait meanwhile. */
static inline int mstx_has_tool_(void) {
  int state = __atomic_load_n(&mstx_table_.state, __ATOMIC_ACQUIRE);
  if (state == 2) return 1;
  if (state == 3) return 0;
  int expected = 0;
  if (__atomic_compare_exchange_n(&mstx_table_.state, &expected, 1, 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    mstx_look_for_tool_();
  }
  while ((state = __atomic_load_n(&mstx_table_.state, __ATOMIC_ACQUIRE)) == 1) sched_yield();
  return state == 2;
}

/* ---- The functions
 * ---------------------------------------------------------------------------------------------- */

#ifndef MSTX_API_
#define MSTX_API_ static inline
#endif

/* A slot of the table as a function of type T; NULL without a tool. */
#define MSTX_SLOT_(T, module, id) (mstx_has_tool_() ? (T)mstx_table_.module[id] : (T)NULL)

/* A mark at this moment. With a stream the tool also marks the moment the stream gets there. */
MSTX_API_ void mstxMarkA(const char* message, aclrtStream stream) {
  typedef void (*Function)(const char*, aclrtStream);
  Function function = MSTX_SLOT_(Function, core, MSTX_CORE_MARK);
  if (function != NULL) function(message, stream);
}

/* Begins a range that may end on any thread; 0: it is not recorded. */
MSTX_API_ uint64_t mstxRangeStartA(const char* message, aclrtStream stream) {
  typedef uint64_t (*Function)(const char*, aclrtStream);
  Function function = MSTX_SLOT_(Function, core, MSTX_CORE_RANGE_START);
  return function != NULL ? function(message, stream) : 0;
}

MSTX_API_ void mstxRangeEnd(uint64_t id) {
  typedef void (*Function)(uint64_t);
  Function function = MSTX_SLOT_(Function, core, MSTX_CORE_RANGE_END);
  if (function != NULL) function(id);
}

/* 0: no tool; 0x1000: a profiler. */
MSTX_API_ void mstxGetToolId(uint64_t* id) {
  typedef void (*Function)(uint64_t*);
  if (id == NULL) return;
  *id = 0;
  Function function = MSTX_SLOT_(Function, core, MSTX_CORE_TOOL_ID);
  if (function != NULL) function(id);
}

/* A named set of marks that can be switched on and off; NULL if there is no tool or the name is not
 * allowed. */
MSTX_API_ mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  typedef mstxDomainHandle_t (*Function)(const char*);
  Function function = MSTX_SLOT_(Function, domain, MSTX_DOMAIN_CREATE);
  return function != NULL ? function(name) : NULL;
}

MSTX_API_ void mstxDomainDestroy(mstxDomainHandle_t domain) {
  typedef void (*Function)(mstxDomainHandle_t);
  Function function = MSTX_SLOT_(Function, domain, MSTX_DOMAIN_DESTROY);
  if (function != NULL) function(domain);
}

MSTX_API_ void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
  typedef void (*Function)(mstxDomainHandle_t, const char*, aclrtStream);
  Function function = MSTX_SLOT_(Function, domain, MSTX_DOMAIN_MARK);
  if (function != NULL) function(domain, message, stream);
}

MSTX_API_ uint64_t mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                         aclrtStream stream) {
  typedef uint64_t (*Function)(mstxDomainHandle_t, const char*, aclrtStream);
  Function function = MSTX_SLOT_(Function, domain, MSTX_DOMAIN_RANGE_START);
  return function != NULL ? function(domain, message, stream) : 0;
}

MSTX_API_ void mstxDomainRangeEnd(mstxDomainHandle_t domain, uint64_t id) {
  typedef void (*Function)(mstxDomainHandle_t, uint64_t);
  Function function = MSTX_SLOT_(Function, domain, MSTX_DOMAIN_RANGE_END);
  if (function != NULL) function(domain, id);
}

/* Memory pools, for tools that check accesses; `domain` NULL is the global one. */
MSTX_API_ mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain,
                                                  const mstxMemHeapDesc_t* desc) {
  typedef mstxMemHeapHandle_t (*Function)(mstxDomainHandle_t, const mstxMemHeapDesc_t*);
  Function function = MSTX_SLOT_(Function, memory, MSTX_MEMORY_HEAP_REGISTER);
  return function != NULL ? function(domain, desc) : NULL;
}

MSTX_API_ void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap) {
  typedef void (*Function)(mstxDomainHandle_t, mstxMemHeapHandle_t);
  Function function = MSTX_SLOT_(Function, memory, MSTX_MEMORY_HEAP_UNREGISTER);
  if (function != NULL) function(domain, heap);
}

MSTX_API_ void mstxMemRegionsRegister(mstxDomainHandle_t domain,
                                      const mstxMemRegionsRegisterBatch_t* batch) {
  typedef void (*Function)(mstxDomainHandle_t, const mstxMemRegionsRegisterBatch_t*);
  Function function = MSTX_SLOT_(Function, memory, MSTX_MEMORY_REGIONS_REGISTER);
  if (function != NULL) function(domain, batch);
}

MSTX_API_ void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                        const mstxMemRegionsUnregisterBatch_t* batch) {
  typedef void (*Function)(mstxDomainHandle_t, const mstxMemRegionsUnregisterBatch_t*);
  Function function = MSTX_SLOT_(Function, memory, MSTX_MEMORY_REGIONS_UNREGISTER);
  if (function != NULL) function(domain, batch);
}

MSTX_API_ void mstxMemPermissionsAssign(mstxDomainHandle_t domain,
                                        const mstxMemPermissionsAssignBatch_t* batch) {
  typedef void (*Function)(mstxDomainHandle_t, const mstxMemPermissionsAssignBatch_t*);
  Function function = MSTX_SLOT_(Function, memory, MSTX_MEMORY_PERMISSIONS_ASSIGN);
  if (function != NULL) function(domain, batch);
}

#ifdef __cplusplus
}
#endif
#endif
