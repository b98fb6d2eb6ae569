// The same code as in a program that uses the header, with the functions exported.
#define MSTX_API_ __attribute__((visibility("default")))
#include "steplens/mstx.h"
