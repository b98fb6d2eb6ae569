/* The device side of a capture: the vendor's profiling libraries (ACL profiling, MSPTI), loaded at
 * run time.
 *
 * Nothing here is needed to record the host. Every library and every symbol is optional: what is
 * missing shows as a missing capability and as a code, never as a crash. Calls return 0 or a code,
 * the vendor's or one of ours; sl_last_error() has the words. After a 0 of configure or start it
 * tells what the vendor refused of the wishes, "" if nothing: that costs its own data, not the
 * capture. The order is init, configure, (warmup), start, (step_mark, mark)..., stop, finalize on
 * one thread. A failure leaves the device out; the host is recorded all the same. After a failure,
 * too, finalize ends what init began.
 *
 * Libraries are looked for in: the folder STEPLENS_ASCEND_LIB, the process,
 * $ASCEND_HOME_PATH/lib64, $ASCEND_TOOLKIT_HOME/lib64, the loader's path. With LD_PRELOAD set,
 * symbols of the process come first. They are never unloaded. */
#ifndef STEPLENS_DEVICE_H_
#define STEPLENS_DEVICE_H_

#include "steplens/collect.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sl_device_capability {
  SL_DEVICE_PROFILING = 1,  /* ACL profiling: raw data goes to PROF_* folders */
  SL_DEVICE_WARMUP = 2,     /* aclprofWarmup */
  SL_DEVICE_SET_CONFIG = 4, /* aclprofSetConfig: frequencies and host data */
  SL_DEVICE_FEATURES = 8,   /* the library says what it can do */
  SL_DEVICE_MSTX_OUT = 16,  /* marks on streams: the vendor's mstx (libprofapi) or aclprofMarkEx */
  SL_DEVICE_MSPTI = 32      /* activities: they go to FRAMEWORK/steplens.device */
};

/* Codes of the vendor that we use ourselves. */
enum sl_device_code {
  SL_DEVICE_OK = 0,
  SL_DEVICE_BAD_ARGUMENT = 100000,
  SL_DEVICE_NOT_READY = 100001,  /* a call out of order */
  SL_DEVICE_UNSUPPORTED = 200007 /* the library or the symbol is not there */
};

typedef struct sl_device_config {
  size_t struct_size;         /* sizeof(sl_device_config) */
  const uint32_t* device_ids; /* NULL: device 0 */
  uint32_t device_count;
  int level;       /* -1 none, 0, 1, 2 */
  int aic_metrics; /* 0 .. 8 as the vendor numbers them; 255: none */
  int l2_cache;
  int mstx;
  int profile_memory;
  int record_shapes;
  int op_attr;
  int sys_io;
  int sys_interconnection;
  const char* host_sys; /* "cpu,mem"; NULL: none */
  int use_mspti;        /* activities instead of ACL profiling */
  int mindspore; /* as MindSpore does it: memory at 100 Hz instead of 50, other tags of steps */
  int hardware_memory; /* counters of the device's memory; profile_memory has them, too */
} sl_device_config;

/* Loads the libraries in the first call. sl_device_capability bits; 0: no device here. */
SL_API uint32_t sl_device_capabilities(void);

/* `directory`: where the vendor's library makes its PROF_* folder, the capture's. */
SL_API int sl_device_init(const char* directory);
SL_API int sl_device_configure(const sl_device_config* config);
/* SL_DEVICE_UNSUPPORTED where the library has no warm-up; start works all the same. */
SL_API int sl_device_warmup(void);
SL_API int sl_device_start(void);
/* A training step begins (is_end 0) or ends (1) on a stream. */
SL_API int sl_device_step_mark(int is_end, void* stream);
/* A mark on a stream. */
SL_API int sl_device_mark(const char* message, void* stream);
SL_API int sl_device_stop(void);
SL_API int sl_device_finalize(void);

/* What configure made of the configuration: the switches handed to the vendor and the metrics it
 * can do. */
SL_API uint64_t sl_device_mask(void);
SL_API int sl_device_metrics(void);

/* A function of the vendor's libraries, for interfaces that are not ours (steplens.mspti); NULL
 * where none has it. */
SL_API void* sl_device_function(const char* name);

#ifdef __cplusplus
}
#endif
#endif
