#include "mpi/steplens_mpi.h"

#include <mpi.h>

#include <algorithm>
#include <ctime>

namespace {

constexpr int kSizeTag = 1;
constexpr int kBytesTag = 2;
constexpr uint64_t kMaxMessageBytes = uint64_t{1} << 30;  // counts of MPI are ints

}  // namespace

int steplens_mpi_start(int* member, int* members) {
  int provided = 0;
  int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(MPI_COMM_WORLD, member);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(MPI_COMM_WORLD, members);
  return error;
}

int steplens_mpi_send_to(int member, const char* data, uint64_t size) {
  int error = MPI_Send(&size, 1, MPI_UINT64_T, member, kSizeTag, MPI_COMM_WORLD);
  for (uint64_t sent = 0; error == MPI_SUCCESS && sent < size; sent += kMaxMessageBytes) {
    const uint64_t piece = std::min(size - sent, kMaxMessageBytes);
    error =
        MPI_Send(data + sent, static_cast<int>(piece), MPI_BYTE, member, kBytesTag, MPI_COMM_WORLD);
  }
  return error;
}

int steplens_mpi_send_end(int member) {
  const uint64_t size = kSteplensMpiEnd;
  return MPI_Send(&size, 1, MPI_UINT64_T, member, kSizeTag, MPI_COMM_WORLD);
}

int steplens_mpi_receive_size(int member, uint64_t* size) {
  // MPI_Recv alone would ask again and again without a pause.
  constexpr timespec kPause{0, 100'000};
  for (int is_there = 0; is_there == 0;) {
    const int error = MPI_Iprobe(member, kSizeTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    if (is_there == 0) ::nanosleep(&kPause, nullptr);
  }
  return MPI_Recv(size, 1, MPI_UINT64_T, member, kSizeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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

int steplens_mpi_stop(int failed) {
  if (failed != 0) return MPI_Abort(MPI_COMM_WORLD, failed);
  return MPI_Finalize();
}
