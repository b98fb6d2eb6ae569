#pragma once

#include <cstdint>
#include <string_view>

#include "steplens/collect.h"

// User marks: what is behind sl_mark* and mstx.
namespace steplens::collect {

// Texts that a spreadsheet would take for a formula are refused, as the vendor's tools do.
bool IsMessage(std::string_view text);
// The same rule, and less than 1024 bytes.
bool IsDomainName(std::string_view text);

// True if marks of this domain are kept; `domain` 0 is "default".
bool IsDomainKept(sl_string domain);

// A message or a domain that is refused is not recorded. With a stream of the device the stream is
// marked, too, while the device records.
void Mark(sl_string message, sl_string domain, void* stream);
// The id of the range, unique in the process, from 1; 0 if it is not recorded.
uint64_t StartMark(sl_string message, sl_string domain, void* stream);
void EndMark(uint64_t id);
// Does nothing if the range was started in another domain.
void EndMarkInDomain(uint64_t id, sl_string domain);

void SetMarkFilter(bool enabled, const char* include, const char* exclude);

// Around fork: mstx domains are whole in the child.
void LockDomains();
void UnlockDomains();

}  // namespace steplens::collect
