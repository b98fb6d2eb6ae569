#pragma once

#include <cstddef>
#include <cstdint>

// Records of a device's hardware: PROF_*/device_<n>/data/<name>.data.<n>.slice_<k>. Little endian,
// no padding; the number behind each field is its offset. Times are values of the device's counter
// unless something else is said.
namespace steplens::format::prof {

inline constexpr uint16_t kStarsMagic = 0x6BD3;

// Function codes: the low six bits of a record's first word.
enum StarsFunction : uint16_t {
  kTaskStart = 0b000000,
  kTaskEnd = 0b000001,
  kQosSample = 0b011000,
  kSioSample = 0b011001,
  kAccPmuSample = 0b011010,
  kChipTransSample = 0b011011,
  kSocLevelSample = 0b011100,
  kLowPowerSample = 0b011101,
  kSubTaskStart = 0b100010,
  kSubTaskEnd = 0b100011,
  kContextPmu = 0b101000,
  kBlockPmu = 0b101001,
};

// The parts of a record's first word.
inline uint16_t FunctionOf(uint16_t head) { return head & 0x3F; }
inline uint16_t SequenceOf(uint16_t head) { return (head >> 6) & 0xF; }
inline uint16_t SqeTypeOf(uint16_t head) { return static_cast<uint16_t>(head >> 10); }

#pragma pack(push, 1)

// stars_soc.data, 64 bytes: a task, or a sub-task, begins or ends.
struct StarsLog {
  uint16_t head;      // 0: function, sequence number, type of the task
  uint16_t magic;     // 2
  uint16_t stream;    // 4
  uint16_t task;      // 6
  uint64_t time;      // 8
  uint16_t sub_type;  // 16: sub-tasks: low 8 bits
  uint16_t context;   // 18: sub-tasks: its id; tasks: accelerator and queue
  uint16_t ffts;      // 20: sub-tasks: bits 13-15
  uint16_t thread;    // 22
  uint8_t rest[40];   // 24
};
static_assert(sizeof(StarsLog) == 64);

// The same of chips 15 and 16, 32 bytes: ids of tasks have 32 bits and do not wrap; the stream is
// not said.
struct StarsLog950 {
  uint16_t head;       // 0
  uint16_t magic;      // 2
  uint16_t task_low;   // 4
  uint16_t task_high;  // 6
  uint64_t time;       // 8
  uint16_t sub_type;   // 16: sub-tasks: low 8 bits
  uint16_t context;    // 18: sub-tasks
  uint16_t ffts;       // 20: sub-tasks: bits 13-15
  uint16_t thread;     // 22
  uint8_t rest[8];     // 24
};
static_assert(sizeof(StarsLog950) == 32);

// stars_soc_profile.data, 64 bytes: sampled counters; what they are depends on the function.
struct StarsSample {
  uint16_t head;     // 0: the upper six bits are the die
  uint16_t magic;    // 2
  uint32_t unused;   // 4
  uint64_t time;     // 8
  uint16_t unused2;  // 16
  uint16_t unit;     // 18: accelerator, event or die
  uint32_t unused3;  // 20
  uint64_t unused4;  // 24
  union {
    uint64_t wide[4];    // 32
    uint32_t narrow[8];  // 32
  } values;
};
static_assert(sizeof(StarsSample) == 64);
inline constexpr size_t kQosPerSample = 10;  // kQosSample: u32 from 24 on
inline constexpr size_t kQosAt = 24;

// ffts_profile.data, 128 bytes: counters of a task (kContextPmu) or of one block of it (kBlockPmu).
struct FftsPmu {
  uint16_t head;         // 0
  uint16_t magic;        // 2: not checked
  uint16_t stream;       // 4
  uint16_t task;         // 6
  uint64_t unused;       // 8
  uint16_t sub_type;     // 16: low 8 bits; bit 10: a counter ran over
  uint16_t context;      // 18
  uint16_t ffts;         // 20: of a task: bits 13-15; of a block: bit 0 core type, bits 13-15
  uint16_t unused2;      // 22
  uint32_t unused3;      // 24
  uint16_t sub_block;    // 28
  uint16_t block;        // 30
  uint64_t cycles;       // 32
  uint64_t unused4;      // 40
  uint64_t counters[8];  // 48: in the order of the configured events
  uint64_t begin;        // 112
  uint64_t end;          // 120
};
static_assert(sizeof(FftsPmu) == 128);

// The same of chips 15 and 16, 128 bytes.
struct FftsPmu950 {
  uint16_t head;          // 0
  uint16_t magic;         // 2
  uint16_t task_low;      // 4
  uint16_t task_high;     // 6
  uint64_t cycles;        // 8
  uint8_t context_type;   // 16
  uint8_t flags;          // 17: bit 0 master, bit 1 mix, bit 2 a counter ran over
  uint16_t unused;        // 18
  uint8_t core_type;      // 20: bit 0
  uint8_t core;           // 21
  uint16_t unused2;       // 22
  uint16_t sub_block;     // 24
  uint16_t block;         // 26
  uint32_t unused3;       // 28
  uint64_t counters[10];  // 32
  uint64_t begin;         // 112
  uint64_t end;           // 120
};
static_assert(sizeof(FftsPmu950) == 128);

// ts_track.data, 40 bytes.
enum TsFunction : uint8_t {
  kTsStepTrace = 0x0A,
  kTsMemcpy = 0x0B,
  kTsTaskType = 0x0C,
  kTsFlip = 0x0E,
  kTsBlockNum = 0x0F,
};
struct TsTrack {
  uint8_t unused;    // 0
  uint8_t function;  // 1
  uint16_t bytes;    // 2
  uint32_t unused2;  // 4
  uint64_t time;     // 8
  union {
    struct {
      uint64_t index;   // 16
      uint64_t model;   // 24
      uint16_t stream;  // 32
      uint16_t task;    // 34
      uint16_t tag;     // 36
      uint16_t unused;  // 38
    } step;
    struct {
      uint64_t index;   // 16
      uint64_t model;   // 24
      uint16_t tag;     // 32
      uint16_t stream;  // 34
      uint32_t task;    // 36
    } step950;          // of chips 15 and 16
    struct {
      uint16_t stream;   // 16
      uint16_t number;   // 18
      uint16_t unused;   // 20
      uint16_t task;     // 22
      uint64_t rest[2];  // 24
    } flip;
  };
};
static_assert(sizeof(TsTrack) == 40);
inline constexpr uint16_t kTsStreamMask = 0x7FF;

// Tags of kTsStepTrace.
enum StepTag : uint16_t {
  kTagModelStart = 0,
  kTagModelEnd = 1,
  kTagForwardStart = 2,
  kTagBackwardEnd = 3,
  kTagIterationEnd = 4,
  kTagMark = 11,
  kTagMarkRange = 12,
  kTagCollective = 10000,  // even: begins, odd: ends
  kTagGetNext = 20000,
  kTagStepStart = 60000,
  kTagStepEnd = 60001,
};

// hwts.data, 64 bytes (910A, 310P).
struct HwtsLog {
  uint8_t head;      // 0: bits 0-2: 0 begins, 1 ends; bits 4-7 sequence number
  uint8_t type;      // 1
  uint16_t unused;   // 2
  uint16_t unused2;  // 4
  uint16_t task;     // 6
  uint64_t time;     // 8
  uint32_t stream;   // 16: low 11 bits
  uint8_t rest[44];  // 20
};
static_assert(sizeof(HwtsLog) == 64);

// aicore.data and aiVectorCore.data with task-based counters, 128 bytes.
struct AicorePmu {
  uint8_t head;          // 0
  uint8_t unused[5];     // 1
  uint16_t task;         // 6
  uint64_t unused2;      // 8
  uint64_t cycles;       // 16
  uint64_t unused3;      // 24
  uint64_t counters[8];  // 32
  uint32_t stream;       // 96
  uint8_t rest[28];      // 100
};
static_assert(sizeof(AicorePmu) == 128);

// aicore.data and aiVectorCore.data with counters of a core every few ms, 96 bytes.
struct CoreSample {
  uint8_t mode;          // 0
  uint8_t unused[7];     // 1
  uint64_t counters[8];  // 8
  uint64_t cycles;       // 72
  uint64_t time;         // 80
  uint8_t count;         // 88
  uint8_t core;          // 89
  uint8_t rest[6];       // 90
};
static_assert(sizeof(CoreSample) == 96);
// The same of chips 15 and 16, 112 bytes.
struct CoreSample950 {
  uint8_t mode;           // 0
  uint8_t unused[7];      // 1
  uint64_t counters[10];  // 8
  uint64_t cycles;        // 88
  uint64_t time;          // 96
  uint8_t count;          // 104
  uint8_t core;           // 105
  uint8_t rest[6];        // 106
};
static_assert(sizeof(CoreSample950) == 112);

// lpmFreqConv.data, 888 bytes: changes of the AI cores' frequency.
struct FrequencyChange {
  uint64_t time;  // 0
  uint32_t mhz;   // 8
  uint32_t unused;
};
inline constexpr size_t kFrequenciesPerRecord = 55;
struct FrequencyRecord {
  uint32_t count;                                  // 0
  uint32_t type;                                   // 4
  FrequencyChange changes[kFrequenciesPerRecord];  // 8
};
static_assert(sizeof(FrequencyRecord) == 888);

// l2_cache.data, 72 bytes.
struct L2Cache {
  uint16_t task_type;    // 0
  uint16_t stream;       // 2
  uint16_t task;         // 4
  uint16_t unused;       // 6
  uint64_t counters[8];  // 8
};
static_assert(sizeof(L2Cache) == 72);

// socpmu.data, 80 bytes: counters of the SMMU for one run of a task.
struct SocPmu {
  uint8_t unused[8];     // 0
  uint16_t task_type;    // 8
  uint16_t stream;       // 10
  uint16_t task;         // 12
  uint16_t data_type;    // 14
  uint64_t counters[8];  // 16: in the order of the SMMU part of npuEvents
};
static_assert(sizeof(SocPmu) == 80);

// The same of chips 15 and 16.
struct SocPmu950 {
  uint8_t unused[6];     // 0
  uint16_t data_type;    // 6
  uint16_t task_type;    // 8
  uint16_t stream;       // 10
  uint32_t task;         // 12
  uint64_t counters[8];  // 16
};
static_assert(sizeof(SocPmu950) == 80);

// hbm.data and llc.data, 24 bytes. Times are us since the device's start.
struct BandwidthSample {
  uint64_t time_us;  // 0
  uint64_t count;    // 8
  uint32_t event;    // 16
  uint32_t id;       // 20
};
static_assert(sizeof(BandwidthSample) == 24);

// hbm.data of collectors that say version 2.0, 32 bytes. Times are ns of the day.
struct HbmSampleV2 {
  uint64_t unused;   // 0
  uint32_t event;    // 8
  uint32_t id;       // 12
  uint64_t count;    // 16
  uint64_t time_ns;  // 24
};
static_assert(sizeof(HbmSampleV2) == 32);

// llc.data of the same, 24 bytes.
struct LlcSampleV2 {
  uint32_t unused;   // 0
  uint32_t count;    // 4
  uint32_t event;    // 8
  uint32_t id;       // 12
  uint64_t time_ns;  // 16
};
static_assert(sizeof(LlcSampleV2) == 24);

// ddr.data, 20 bytes; us since the device's start.
struct DdrSample {
  uint32_t time_us;  // 0
  uint32_t count;    // 4
  uint32_t event;    // 8: 0 reads
  uint32_t id;       // 12
  uint32_t master;   // 16: all ones: everything
};
static_assert(sizeof(DdrSample) == 20);

// npu_mem.data and npu_mem.app, 32 bytes; us since the device's start.
struct NpuMemory {
  uint32_t time_us;  // 0
  uint32_t event;    // 4: 0 application, 1 device
  uint64_t unused;   // 8: version 2.0: the time in us
  uint64_t ddr;      // 16: bytes
  uint64_t hbm;      // 24
};
static_assert(sizeof(NpuMemory) == 32);

// npu_module_mem.data, 24 bytes; the host's counter.
struct ModuleMemory {
  uint32_t module;  // 0
  uint32_t unused;  // 4
  uint64_t time;    // 8
  uint64_t bytes;   // 16
};
static_assert(sizeof(ModuleMemory) == 24);

// pcie.data, 96 bytes; ns of the device's monotonic clock.
struct PcieSample {
  uint64_t time_ns;       // 0
  uint32_t device;        // 8
  uint32_t values[7][3];  // 12: minimum, maximum, average of each of the seven
};
static_assert(sizeof(PcieSample) == 96);

// qos.data, 64 bytes.
struct QosSample {
  uint64_t unused[2];      // 0
  uint64_t time;           // 16
  uint32_t bandwidth[10];  // 24
};
static_assert(sizeof(QosSample) == 64);

#pragma pack(pop)

}  // namespace steplens::format::prof
