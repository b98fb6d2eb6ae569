#pragma once

#include <cstdint>

// Every function returns 0, or MPI's error code.
extern "C" {

// Starts MPI and says who this process is.
int steplens_mpi_start(int* member, int* members);
// Sends bytes to a member, which takes what another sends in the order of sending.
int steplens_mpi_send_to(int member, const char* data, uint64_t size);
// Says that nothing more will be sent to a member.
int steplens_mpi_send_end(int member);
// The size of the next message of a member, or kSteplensMpiEnd, and then its bytes. Waits without
// keeping a core busy.
inline constexpr uint64_t kSteplensMpiEnd = UINT64_MAX;
int steplens_mpi_receive_size(int member, uint64_t* size);
// The same of whoever has sent something; after a short pause, member -1, if nobody has.
int steplens_mpi_receive_any_size(int* member, uint64_t* size);
int steplens_mpi_receive(int member, char* data, uint64_t size);
// The root's bytes to all members; every member knows the size.
int steplens_mpi_share(char* data, uint64_t size);
// Lets the thread that calls it, and those that it starts, run where any member of this machine
// may. After the start; the others' work is done.
int steplens_mpi_use_cores_of_all();
// Ends MPI; with `failed`, ends all members at once.
int steplens_mpi_stop(int failed);

}  // extern "C"
