#pragma once

#include <string_view>

#include "readers/prof/prof_files.h"
#include "store/issues.h"

// Which record families are read.
namespace steplens::readers::prof {

inline constexpr std::string_view kHostFamilies[] = {
    "api_event",
    "compact.task_track",
    "compact.task_track_v2",
    "compact.node_basic_info",
    "compact.node_attr_info",
    "compact.memcpy_info",
    "compact.hccl_op_info",
    "compact.capture_stream_info",
    "compact.capture_stream_info_v2",
    "compact.expand_stream_spec",
    "additional.tensor_info",
    "additional.context_id_info",
    "additional.hccl_info",
    "additional.mc2_comm_info",
    "additional.task_memory_info",
    "additional.capture_op_info",
    "additional.fusion_op_info",
    "additional.graph_id_map",
    "additional.static_op_mem",
    "additional.msproftx",
    "additional.hash_dic",
    "additional.type_info_dic",
    "variable.capture_op_info",
    "host_cpu",
    "host_mem",
    "host_network",
    "host_disk",
    "host_syscall",
    "host_pthreadcall",
};

inline constexpr std::string_view kDeviceFamilies[] = {
    "stars_soc",
    "stars_soc_profile",
    "hwts",
    "ffts_profile",
    "aicore",
    "aiVectorCore",
    "ts_track",
    "lpmFreqConv",
    "aicpu",
    "l2_cache",
    "socpmu",
    "hbm",
    "llc",
    "ddr",
    "npu_mem",
    "npu_mem.app",
    "npu_module_mem",
    "pcie",
    "qos",
    "hccs",
    "nic",
    "roce",
    "netdev_stats",
    "dvpp",
    "DATA_PREPROCESS.AICPU",
};

// Families that say nothing of their own: forms of records, streams under another number, voltages,
// and what newer runtimes repeat of tasks that other families have.
inline constexpr std::string_view kNeedlessFamilies[] = {
    "additional.data_format_dic",    "additional.logic_stream_info", "additional.Multi_Thread",
    "additional.memory_application", "compact.stream_sq_info",       "compact.memcpy_ext_info",
    "compact.memset_info",           "compact.memmng_info",          "lpmInfoConv",
};

// Counts the families that are not read, with the name of the first.
void NameUnreadFamilies(const ProfTree& tree, store::IssueLog& issues);

}  // namespace steplens::readers::prof
