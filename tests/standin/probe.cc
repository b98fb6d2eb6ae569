/* Drives the device back end: probe FOLDER acl|mspti LEVEL. Prints each call with its code and
 * text. With $PROBE_STEPS it trains for so many steps, whose work the stand-in is told; with
 * $PROBE_KILL it dies before the capture ends. */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "steplens/device.h"

static int Say(const char* call, int code) {
  const int has_words = code != 0 || strcmp(call, "start") == 0 || strcmp(call, "configure") == 0;
  printf("%s %d %s\n", call, code, has_words ? sl_last_error() : "");
  fflush(stdout);
  return code;
}

static void Begin(const char* name) { sl_range_begin(sl_intern(name, strlen(name))); }

typedef void (*KernelFunction)(const char*, const char*, uint16_t, uint64_t);
typedef void (*CollectiveFunction)(const char*, const char*, uint16_t, uint64_t, uint64_t);

/* A step: four operators, of which the second launches two kernels and the last none. */
static void Train(int steps) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/libmsprofiler.so", getenv("STEPLENS_ASCEND_LIB"));
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) return;
  KernelFunction kernel = (KernelFunction)dlsym(library, "standin_kernel");
  CollectiveFunction collective = (CollectiveFunction)dlsym(library, "standin_collective");
  for (int step = 0; step < steps; ++step) {
    char name[32];
    snprintf(name, sizeof(name), "ProfilerStep#%d", step + 3);
    Begin(name);
    Begin("aten::mm");
    kernel("MatMul1", "MatMulV2", 2, 1000);
    sl_range_end();
    Begin("aten::gelu");
    kernel("Mul2", "Mul", 2, 300);
    kernel("Tanh3", "Tanh", 2, 200);
    sl_range_end();
    Begin("c10d::allreduce_");
    collective("hcom_allReduce_", "group_a", 5, 4096, 700);
    sl_range_end();
    Begin("aten::view");
    sl_range_end();
    usleep(500); /* until the device is done, or its work would belong to two steps */
    sl_range_end();
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  printf("capabilities %u\n", sl_device_capabilities());
  sl_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.directory = argv[1];
  options.rank = 0;
  options.info_json = "{\"steplens_host\":{\"device\":\"npu\"}}"; /* as a front end says it */
  if (Say("capture", sl_start(&options)) != 0) return 1;

  sl_device_config config;
  memset(&config, 0, sizeof(config));
  config.struct_size = sizeof(config);
  config.level = atoi(argv[3]);
  config.aic_metrics = 1;
  config.mstx = 1;
  config.profile_memory = 1;
  config.op_attr = 1;
  config.host_sys = "cpu,mem";
  config.use_mspti = strcmp(argv[2], "mspti") == 0;

  int stream = 0;
  Say("early_start", sl_device_start());
  if (Say("init", sl_device_init(argv[1])) == 0) {
    Say("configure", sl_device_configure(&config));
    printf("mask 0x%llx metrics %d\n", (unsigned long long)sl_device_mask(), sl_device_metrics());
    Say("warmup", sl_device_warmup());
    if (Say("start", sl_device_start()) == 0) {
      if (getenv("PROBE_STEPS") != NULL) Train(atoi(getenv("PROBE_STEPS")));
      if (getenv("PROBE_KILL") != NULL) {
        sl_flush();
        raise(SIGKILL);
      }
      Say("step_begin", sl_device_step_mark(0, &stream));
      Say("mark", sl_device_mark("hello", &stream));
      Say("step_end", sl_device_step_mark(1, &stream));
      Say("step_end_again", sl_device_step_mark(1, &stream));
      Say("stop", sl_device_stop());
    }
    Say("finalize", sl_device_finalize());
  }
  sl_range_begin(sl_intern("host goes on", 12));
  sl_range_end();
  sl_statistics statistics;
  Say("end", sl_stop(&statistics));
  printf("recorded %llu\n", (unsigned long long)statistics.recorded);
  return 0;
}
