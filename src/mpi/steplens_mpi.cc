#include "mpi/steplens_mpi.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <ctime>

namespace {

constexpr int kSizeTag = 1;
constexpr int kBytesTag = 2;
constexpr uint64_t kMaxMessageBytes = uint64_t{1} << 30;  // counts of MPI are ints

constexpr timespec kPause{0, 500'000};  // a shorter one takes more of the core than it gains

// MPI_Send alone would ask without a pause whether the other side has taken a large message, on the
// core where this process may be mapping ranks.
int SendPiece(const char* data, int size, int member) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_Isend(data, size, MPI_BYTE, member, kBytesTag, MPI_COMM_WORLD, &request);
  for (int is_done = 0; error == MPI_SUCCESS;) {
    error = MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) break;
    ::nanosleep(&kPause, nullptr);
  }
  return error;
}

cpu_set_t cores_of_all;  // of the members of this machine; empty if unknown

int FindCoresOfAll() {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_ZERO(&cores_of_all);
  ::sched_getaffinity(0, sizeof own, &own);
  MPI_Comm machine = MPI_COMM_NULL;
  int error = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Allreduce(&own, &cores_of_all, sizeof own, MPI_BYTE, MPI_BOR, machine);
  MPI_Comm_free(&machine);
  return error;
}

}  // namespace

int steplens_mpi_start(int* member, int* members) {
  int provided = 0;
  int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(MPI_COMM_WORLD, member);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(MPI_COMM_WORLD, members);
  if (error == MPI_SUCCESS) error = FindCoresOfAll();
  return error;
}

int steplens_mpi_send_to(int member, const char* data, uint64_t size) {
  int error = MPI_Send(&size, 1, MPI_UINT64_T, member, kSizeTag, MPI_COMM_WORLD);
  for (uint64_t sent = 0; error == MPI_SUCCESS && sent < size; sent += kMaxMessageBytes) {
    const uint64_t piece = std::min(size - sent, kMaxMessageBytes);
    error = SendPiece(data + sent, static_cast<int>(piece), member);
  }
  return error;
}

int steplens_mpi_send_end(int member) {
  const uint64_t size = kSteplensMpiEnd;
  return MPI_Send(&size, 1, MPI_UINT64_T, member, kSizeTag, MPI_COMM_WORLD);
}

int steplens_mpi_receive_size(int member, uint64_t* size) {
  // MPI_Recv alone would ask again and again without a pause.
  for (int is_there = 0; is_there == 0;) {
    const int error = MPI_Iprobe(member, kSizeTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    if (is_there == 0) ::nanosleep(&kPause, nullptr);
  }
  return MPI_Recv(size, 1, MPI_UINT64_T, member, kSizeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int steplens_mpi_receive_any_size(int* member, uint64_t* size) {
  // Who asks is a worker beside another that needs the core, and a look costs it some twenty
  // microseconds; nobody waits for it in vain, as members ask for work before they are out of it.
  constexpr timespec kLongPause{0, 2'000'000};
  int is_there = 0;
  MPI_Status status;
  const int error = MPI_Iprobe(MPI_ANY_SOURCE, kSizeTag, MPI_COMM_WORLD, &is_there, &status);
  if (error != MPI_SUCCESS) return error;
  *member = is_there != 0 ? status.MPI_SOURCE : -1;
  if (is_there == 0) {
    ::nanosleep(&kLongPause, nullptr);
    return MPI_SUCCESS;
  }
  return MPI_Recv(size, 1, MPI_UINT64_T, *member, kSizeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int steplens_mpi_receive(int member, char* data, uint64_t size) {
  int error = MPI_SUCCESS;
  for (uint64_t got = 0; error == MPI_SUCCESS && got < size; got += kMaxMessageBytes) {
    const uint64_t piece = std::min(size - got, kMaxMessageBytes);
    error = MPI_Recv(data + got, static_cast<int>(piece), MPI_BYTE, member, kBytesTag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return error;
}

int steplens_mpi_share(char* data, uint64_t size) {
  int error = MPI_SUCCESS;
  for (uint64_t sent = 0; error == MPI_SUCCESS && sent < size; sent += kMaxMessageBytes) {
    const uint64_t piece = std::min(size - sent, kMaxMessageBytes);
    error = MPI_Bcast(data + sent, static_cast<int>(piece), MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  return error;
}

int steplens_mpi_use_cores_of_all() {
  return ::sched_setaffinity(0, sizeof cores_of_all, &cores_of_all);
}

int steplens_mpi_stop(int failed) {
  if (failed != 0) return MPI_Abort(MPI_COMM_WORLD, failed);
  return MPI_Finalize();
}
