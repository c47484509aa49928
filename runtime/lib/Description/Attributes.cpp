// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading attributes after the family's schema: names, types and defaults come from there.

#include "Draft.h"

#include "tilejit/Base/Text.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace tilejit {
namespace {

std::vector<std::string_view> views(const std::vector<std::string> &texts) { return {texts.begin(), texts.end()}; }

Status checkType(const Cursor &cursor, const AttributeSchema &schema) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  switch (schema.type) {
  case AttributeType::Bool:
    return cursor.boolean("true or false").status();
  case AttributeType::Integer:
    return cursor.integer("an integer", least, most).status();
  case AttributeType::Number:
    return cursor.number("a number").status();
  case AttributeType::Expressions:
    return cursor.object("an object from output names to expressions").status();
  case AttributeType::Choice: {
    std::vector<std::string_view> choices = views(schema.choices);
    TILEJIT_ASSIGN_OR_RETURN(std::string text, cursor.text("one of " + alternatives(choices)));
    if (std::find(choices.begin(), choices.end(), text) == choices.end())
      return cursor.unknown("a known value", text, choices);
    return Status::ok();
  }
  case AttributeType::IntegerList: {
    TILEJIT_ASSIGN_OR_RETURN(std::vector<Cursor> items, cursor.list("a list of integers"));
    for (const Cursor &item : items)
      TILEJIT_RETURN_IF_ERROR(item.integer("an integer", least, most).status());
    return Status::ok();
  }
  }
  return Status::ok();
}

/// The value of an attribute: what was given, else the default; null where there is neither.
const json::Value &valueOf(const Draft &draft, std::string_view name) {
  if (const Cursor *cursor = findEntry(draft.attributes, name))
    return cursor->value();
  const AttributeSchema *schema = draft.schema->findAttribute(name);
  assert(schema && "families ask for attributes of their schema only");
  return schema->defaultValue;
}

Expected<int> axisFrom(const Cursor &place, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return place.error("expected an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1) +
                       ", found " + std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

} // namespace

Status readAttributes(Draft &draft, const Entries &top) {
  const Cursor *place = findEntry(top, "attributes");
  if (place) {
    std::vector<std::string_view> known;
    for (const AttributeSchema &schema : draft.schema->attributes)
      known.push_back(schema.name);
    TILEJIT_ASSIGN_OR_RETURN(draft.attributes, place->object("an object of attributes", known));
    draft.attributesPlace = *place;
    for (const Cursor::Entry &entry : draft.attributes)
      TILEJIT_RETURN_IF_ERROR(checkType(entry.cursor, *draft.schema->findAttribute(entry.key)));
  }
  for (const AttributeSchema &schema : draft.schema->attributes)
    if (schema.required && !findEntry(draft.attributes, schema.name))
      return place ? place->missing(schema.name, "the attribute " + schema.name)
                   : draft.root.missing("attributes", "the attribute " + schema.name);
  return Status::ok();
}

bool boolAttribute(const Draft &draft, std::string_view name) { return valueOf(draft, name).boolean; }
int64_t integerAttribute(const Draft &draft, std::string_view name) { return valueOf(draft, name).integer; }
double numberAttribute(const Draft &draft, std::string_view name) { return valueOf(draft, name).number; }

std::optional<size_t> choiceAttribute(const Draft &draft, std::string_view name) {
  const json::Value &value = valueOf(draft, name);
  if (!value.isText())
    return std::nullopt;
  const std::vector<std::string> &choices = draft.schema->findAttribute(name)->choices;
  return std::find(choices.begin(), choices.end(), value.text) - choices.begin();
}

const Cursor *attributePlace(const Draft &draft, std::string_view name) { return findEntry(draft.attributes, name); }

Expected<std::optional<std::vector<int>>> axesAttribute(const Draft &draft, std::string_view name, int rank) {
  const Cursor *place = attributePlace(draft, name);
  if (!place)
    return std::optional<std::vector<int>>();
  std::vector<int> axes;
  for (size_t i = 0; i < place->value().items.size(); ++i) {
    TILEJIT_ASSIGN_OR_RETURN(int axis, axisFrom(place->at(i), place->value().items[i].integer, rank));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      return place->error("expected each axis once, found axis " + std::to_string(axis) + " again in " +
                          shown(place->value()));
    axes.push_back(axis);
  }
  return std::optional(axes);
}

Expected<int> axisAttribute(const Draft &draft, std::string_view name, int rank) {
  const Cursor *place = attributePlace(draft, name);
  if (rank == 0)
    return draft.input("x").shape.error("expected at least one dimension, found []");
  return axisFrom(place ? *place : draft.root, integerAttribute(draft, name), rank);
}

} // namespace tilejit
