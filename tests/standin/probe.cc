/* Drives the device back end: probe FOLDER acl|mspti LEVEL. Prints each call with its code and
 * text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steplens/device.h"

static int Say(const char* call, int code) {
  const int has_words = code != 0 || strcmp(call, "start") == 0 || strcmp(call, "configure") == 0;
  printf("%s %d %s\n", call, code, has_words ? sl_last_error() : "");
  fflush(stdout);
  return code;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  printf("capabilities %u\n", sl_device_capabilities());
  sl_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.directory = argv[1];
  options.rank = 0;
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
