# steplens_embed_texts(TARGET FOLDER)
#
# Puts the message catalogues FOLDER/en.json and FOLDER/zh.json into TARGET, as CatalogueText() (src/analysis/text/catalogue.h). The web app
# imports the same files.
function(steplens_embed_texts TARGET FOLDER)
  foreach(language en zh)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FOLDER}/${language}.json)
    file(READ ${FOLDER}/${language}.json ${language})
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_texts.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
       "#include \"analysis/text/catalogue.h\"\n
namespace steplens::analysis {\n
std::string_view CatalogueText(Language language) {
  return language == Language::kChinese ? R\"json(${zh})json\" : R\"json(${en})json\";
}\n
}  // namespace steplens::analysis\n")
  target_sources(${TARGET} PRIVATE ${source})
endfunction()
