# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Descriptions: JSON, parsing and refusals, expressions, canonical form, binding, schemas and their pages.
tilejit_add_unit_test(DescriptionTest
  SRCS
    DescriptionBindingTest.cpp
    DescriptionCanonicalTest.cpp
    DescriptionConfigTest.cpp
    DescriptionExpressionTest.cpp
    DescriptionJsonTest.cpp
    DescriptionMutationTest.cpp
    DescriptionParseTest.cpp
    DescriptionRefusalTest.cpp
    DescriptionSchemaTest.cpp
  DEPS TilejitDescription)
target_compile_definitions(DescriptionTest PRIVATE
  TILEJIT_EXAMPLES="${PROJECT_SOURCE_DIR}/examples" TILEJIT_SCHEMAS="${PROJECT_SOURCE_DIR}/runtime/operators")

# The pages of the operator families, made from the schemas into the build folder.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME operator-pages
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/docs/operators.py
          ${PROJECT_SOURCE_DIR}/runtime/operators ${CMAKE_BINARY_DIR}/docs/operators)
