# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Writes the schemas into a C++ file: cmake -DFOLDER=... -DOUTPUT=... -P EmbedSchemas.cmake
file(GLOB schemas ${FOLDER}/*.json)
list(SORT schemas)
set(rows "")
foreach(schema IN LISTS schemas)
  get_filename_component(name ${schema} NAME_WE)
  file(READ ${schema} text)
  string(APPEND rows "    {\"${name}\", R\"schema(${text})schema\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from runtime/operators.

#include \"SchemaText.h\"

namespace tilejit {

std::span<const SchemaText> schemaTexts() {
  static constexpr SchemaText texts[] = {
${rows}  };
  return texts;
}

} // namespace tilejit
")
