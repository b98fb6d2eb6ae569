#pragma once

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {

// RANK_DEVICE_MAP -> info.rank and info.device, where they are not known yet and the map has one
// answer.
Status ReadRankAndDevice(DbContext& db);

// The same, META_DATA, HOST_INFO, NPU_INFO and SESSION_TIME_INFO -> meta; STEP_TIME -> steps.
Status ReadMeta(DbContext& db);

}  // namespace steplens::readers
