#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/compare/side.h"
#include "analysis/time_math.h"

namespace steplens::analysis::compare {

struct TimeAndCount {
  int64_t ns = 0;
  int64_t count = 0;
  void Add(int64_t dur_ns) {
    ns = AddNs(ns, dur_ns);
    ++count;
  }
  TimeAndCount operator+(const TimeAndCount& other) const {
    return {AddNs(ns, other.ns), count + other.count};
  }
};

// Work of one kind on the two kinds of cores.
struct CubeAndVector {
  TimeAndCount cube;
  TimeAndCount vector;
  TimeAndCount total() const { return cube + vector; }
};

// A kernel that computes and communicates.
struct FusedKernel {
  std::string name;
  TimeAndCount time;
  double computing_us = 0;
  int64_t communication_ns = 0;
};

// A communication group, in time that no computing covers.
struct GroupTime {
  std::string name;           // of its thread, of a db the group's id
  std::string parallel_name;  // tp, dp, ...; empty if not known
  int64_t wait_ns = 0;
  int64_t transmit_ns = 0;
};
struct GroupOverlap {
  std::string label;  // "tp & dp"
  int64_t ns = 0;
};

// What the device of a side did.
struct Overall {
  bool is_gpu = false;
  bool is_cpu = false;         // the host is the device; never under compat
  bool hides_details = false;  // kernels cannot be told apart

  CubeAndVector attention_forward;
  CubeAndVector attention_backward;
  CubeAndVector conv_forward;
  CubeAndVector conv_backward;
  CubeAndVector matmul;
  TimeAndCount paged_attention;
  TimeAndCount vector_trans;
  TimeAndCount vector_other;
  TimeAndCount cube;
  TimeAndCount tensor_move;
  std::vector<FusedKernel> fused;

  int64_t computing_ns = 0;
  int64_t uncovered_ns = 0;
  int64_t e2e_ns = 0;
  int64_t wait_ns = 0;  // of all groups
  TimeAndCount lccl;
  TimeAndCount sdma;  // copies on the streams of kernels
  std::vector<GroupTime> groups;
  std::vector<GroupOverlap> overlaps;

  double memory_gb = 0;
  double process_gb = 0;  // of the whole process, where that was recorded; 0 under compat
  double rdma_gbps = 0;
  double sdma_gbps = 0;

  int64_t free_ns() const { return e2e_ns - computing_ns - lccl.ns - uncovered_ns; }
  TimeAndCount vector() const { return vector_trans + vector_other; }
  int64_t fused_ns() const;
  int64_t kernel_count() const;
  // Computing that no kernel explains.
  int64_t other_ns() const;
};

// kNotFound for a GPU trace without kernels on a stream under compat: the reference stops there.
Result<Overall> MeasureOverall(const Side& side, const SheetOptions& options);

}  // namespace steplens::analysis::compare
