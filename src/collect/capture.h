#pragma once

#include <string>
#include <string_view>

#include "steplens/collect.h"

// Starting and stopping; the functions behind sl_start, sl_stop, ... with the same meaning and the
// same results.
namespace steplens::collect {

int StartCapture(const sl_options& options);
int StopCapture(sl_statistics* out);
int DiscardCapture();
int FlushCapture();
void PauseCapture(bool paused);
int AddMetadata(std::string_view key, std::string_view json);

// The folder of the running capture; empty if there is none.
std::string CaptureFolder();

// In the child of a fork: the capture is the parent's; it is forgotten without touching its files.
void ForgetCaptureInChild();

// Remembers why a call failed, for sl_last_error.
void SetError(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace steplens::collect
