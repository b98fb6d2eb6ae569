#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "readers/chrome/event_batch.h"
#include "readers/chrome/event_parser.h"
#include "readers/chrome/event_splitter.h"

namespace steplens::readers {

// What could be taken of a piece of a trace.
struct PickedEvents {
  EventBatch batch;
  std::deque<std::string> repaired;  // texts of events that were not valid UTF-8; the batch refers
                                     // to them and to the text of the piece
  SplitResult end;
};

// Takes the events of a text that is not a run of whole events, one by one; damage is counted in
// batch.issues. `text` begins with an event and is padded for the parser, `offset` is its place in
// the whole trace. `at_end`: no more text follows.
void PickEvents(std::string_view text, uint64_t offset, bool at_end, EventParser& parser,
                PickedEvents& out);

}  // namespace steplens::readers
