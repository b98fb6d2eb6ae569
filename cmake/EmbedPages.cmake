# steplens_embed_pages(TARGET FILE...)
#
# Puts pages of docs/ into TARGET, as EmbeddedPages() (src/mcp/resources.h), by the name of the file without ".md".
function(steplens_embed_pages TARGET)
  set(rows "")
  foreach(path ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    get_filename_component(name ${path} NAME_WE)
    file(READ ${path} text)
    string(APPEND rows "    {\"${name}\", R\"page(${text})page\"},\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_pages.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
       "#include \"mcp/resources.h\"\n
namespace steplens::mcp {\n
std::span<const EmbeddedPage> EmbeddedPages() {
  static constexpr EmbeddedPage kPages[] = {
${rows}  };
  return kPages;
}\n
}  // namespace steplens::mcp\n")
  target_sources(${TARGET} PRIVATE ${source})
endfunction()
