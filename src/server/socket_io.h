#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "server/api/request.h"
#include "server/http_message.h"

namespace steplens::server {

// Sockets below never block by themselves (O_NONBLOCK).

// Who may show a page of ours in a frame: nobody, or pages of this machine.
inline constexpr std::string_view kNoPages = "'none'";
inline constexpr std::string_view kLocalPages = "'self' http://localhost:* http://127.0.0.1:*";
// The value of Content-Security-Policy for our pages.
std::string PagePolicy(std::string_view frame_ancestors);

// The status line and the headers of an answer, with the empty line. Every answer says what a
// browser may do with it: nothing but show it, unless its own headers say more.
std::string HeadOf(const Response& response, const HttpRequest& request, bool keeps_alive);

// Sends what the socket takes at once; the rest is lost.
void TrySend(int fd, std::string_view bytes);
// Sends an answer, its stream piece by piece. False if the client went away, or took nothing for
// that long.
bool SendResponse(int fd, const HttpRequest& request, const Response& response,
                  std::chrono::seconds patience);
// Whether the other side closed the connection.
bool IsHungUp(int fd);
int LocalPort(int fd);

}  // namespace steplens::server
