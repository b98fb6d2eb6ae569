// libyaml-cpp.a is compiled for programs: it takes this variable of libc to be in the same file.
// Here it is: never a single thread.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;  // NOLINT: libc's name
}
