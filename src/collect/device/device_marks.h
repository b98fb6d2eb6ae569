#pragma once

#include <cstdint>

#include "steplens/collect.h"

// User marks that name a stream of the device: while the device records marks, the stream gets
// them, too. Cheap otherwise, and safe from any thread.
namespace steplens::collect {

// The device records marks from now on, or does not any more: ranges that are open are forgotten.
void SetStreamMarks(bool on);

// `domain` 0 is the default one.
void MarkOnStream(sl_string message, sl_string domain, void* stream);
// `id`: the range's on the host, 0 if it is not recorded there.
void StartOnStream(uint64_t id, sl_string message, sl_string domain, void* stream);
void EndOnStream(uint64_t id);
// Does nothing if the range was started in another domain.
void EndOnStreamInDomain(uint64_t id, sl_string domain);

}  // namespace steplens::collect
