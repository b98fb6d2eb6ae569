// Stand-in for libascendcl.so: everything it offers comes from libmsprofiler.so, which it depends
// on.
extern "C" __attribute__((visibility("default"))) int aclStandin() { return 1; }
