# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
#
# Descriptions: JSON, parsing and refusals, expressions, canonical form, binding, schemas and their pages.
tilejit_add_unit_test(DescriptionTest
  SRCS
    DescriptionBindingTest.cpp
    DescriptionCanonicalTest.cpp
    DescriptionExpressionTest.cpp
    DescriptionJsonTest.cpp
    DescriptionParseTest.cpp
    DescriptionRefusalTest.cpp
    DescriptionSchemaTest.cpp
  DEPS TilejitDescription)
target_compile_definitions(DescriptionTest PRIVATE
  TILEJIT_EXAMPLES="${PROJECT_SOURCE_DIR}/examples" TILEJIT_SCHEMAS="${PROJECT_SOURCE_DIR}/runtime/operators")
