#pragma once

#include <cstdint>

// Every function returns 0, or MPI's error code.
extern "C" {

// Starts MPI and says who this process is.
int steplens_mpi_start(int* member, int* members);
// Sends bytes to the root (member 0). The root takes what a member sends in the order of sending.
int steplens_mpi_send(const char* data, uint64_t size);
// The size of the next message of a member, and then its bytes.
int steplens_mpi_receive_size(int member, uint64_t* size);
int steplens_mpi_receive(int member, char* data, uint64_t size);
// The root's bytes to all members; every member knows the size.
int steplens_mpi_share(char* data, uint64_t size);
// Ends MPI; with `failed`, ends all members at once.
int steplens_mpi_stop(int failed);

}  // extern "C"
