#pragma once

#include <cstdint>

#include "steplens/collect.h"

// User marks: what is behind sl_mark* and mstx.
namespace steplens::collect {

// True if marks of this domain are kept; `domain` 0 is "default".
bool IsDomainKept(sl_string domain);

void Mark(sl_string message, sl_string domain);
// The id of the range, unique in the process, from 1; 0 if it is not recorded.
uint64_t StartMark(sl_string message, sl_string domain);
void EndMark(uint64_t id);
// Does nothing if the range was started in another domain.
void EndMarkInDomain(uint64_t id, sl_string domain);

void SetMarkFilter(bool enabled, const char* include, const char* exclude);

// Around fork: mstx domains are whole in the child.
void LockDomains();
void UnlockDomains();

}  // namespace steplens::collect
