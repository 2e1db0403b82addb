#include "io/schema.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace cyclecast {
namespace {

using Json = nlohmann::ordered_json;

std::string WithoutSpaces(std::string text) {
  for (char& c : text) {
    if (c == ' ') c = '_';
  }
  return text;
}

std::string QuantityPattern(Dimension dimension, const Range& range) {
  std::string units;
  for (const std::string& unit : UnitNames(dimension)) units += (units.empty() ? "" : "|") + unit;
  return std::string(range.min < 0 ? "^[+-]?" : "^[+]?") +
         "(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)? *(" + units + ")$";
}

// Writes types as schemas and collects the structs they refer to under $defs.
class SchemaWriter {
 public:
  // `partial`: nothing is required and a key may be null, to take another file's value away.
  Json Reference(const std::shared_ptr<const StructInfo>& info, bool partial) {
    const std::string name = WithoutSpaces(info->name) + (partial ? "_overrides" : "");
    if (!definitions_.contains(name)) {
      definitions_[name] = Json::object();  // ends recursion
      Json definition = Object(*info, partial);
      definitions_[name] = std::move(definition);
    }
    return {{"$ref", "#/$defs/" + name}};
  }
  Json& definitions() { return definitions_; }

 private:
  Json Object(const StructInfo& info, bool partial) {
    Json schema = {{"type", "object"}, {"description", info.doc}, {"additionalProperties", false}};
    Json properties = Json::object();
    Json required = Json::array();
    for (const FieldInfo& field : info.fields) {
      Json property = Type(field.type, partial);
      if (partial) property = {{"anyOf", {property, {{"type", "null"}}}}};
      property["description"] = field.default_text.empty()
                                    ? field.doc
                                    : fmt::format("{} Default: {}.", field.doc, field.default_text);
      properties[field.name] = std::move(property);
      if (field.required && !partial) required.push_back(field.name);
    }
    schema["properties"] = std::move(properties);
    if (!info.others.empty()) schema["additionalProperties"] = Type(info.others[0], partial);
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }

  Json Type(const TypeInfo& type, bool partial) {
    switch (type.kind) {
      case ValueKind::kInteger:
        return Bounded({{"type", "integer"}}, type.range);
      case ValueKind::kNumber:
        return Bounded({{"type", "number"}}, type.range);
      case ValueKind::kText:
        if (type.pattern.empty()) return {{"type", "string"}};
        return {{"type", "string"}, {"pattern", "^(" + type.pattern + ")$"}};
      case ValueKind::kBoolean:
        return {{"type", "boolean"}};
      case ValueKind::kChoice:
        return {{"enum", type.choices}};
      case ValueKind::kQuantity:
        return {{"type", "string"}, {"pattern", QuantityPattern(type.dimension, type.range)}};
      case ValueKind::kList:
        return List(type);
      case ValueKind::kTable:
        return Table(type, partial);
      case ValueKind::kStruct:
        return Reference(type.fields, partial);
      case ValueKind::kOneOf: {
        Json alternatives = Json::array();
        for (const TypeInfo& inner : type.inner) alternatives.push_back(Type(inner, partial));
        return {{"anyOf", std::move(alternatives)}};
      }
    }
    return Json::object();
  }

  // The elements of a list are never partial: a list replaces another as a whole.
  Json List(const TypeInfo& type) {
    Json schema = {{"type", "array"}, {"items", Type(type.inner.at(0), false)}};
    if (type.min_items > 0) schema["minItems"] = type.min_items;
    if (type.max_items != std::numeric_limits<std::size_t>::max()) {
      schema["maxItems"] = type.max_items;
    }
    return schema;
  }

  Json Table(const TypeInfo& type, bool partial) {
    Json element = Type(type.inner.at(0), partial);
    if (partial) element = {{"anyOf", {element, {{"type", "null"}}}}};
    Json schema = {{"type", "object"}};
    if (type.choices.empty()) {
      schema["additionalProperties"] = std::move(element);
    } else {
      schema["additionalProperties"] = false;
      for (const std::string& key : type.choices) schema["properties"][key] = element;
    }
    if (type.min_items > 0 && !partial) schema["minProperties"] = type.min_items;
    return schema;
  }

  static Json Bounded(Json schema, const Range& range) {
    const auto number = [](double value) {
      const bool whole = value == std::floor(value) && std::abs(value) < 9e15;
      return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
    };
    if (std::isfinite(range.min)) {
      schema[range.min_open ? "exclusiveMinimum" : "minimum"] = number(range.min);
    }
    if (std::isfinite(range.max)) schema["maximum"] = number(range.max);
    return schema;
  }

  Json definitions_ = Json::object();
};

// if the key has this value then this variant, else the rest.
Json Select(const SchemaSpec& spec, const std::vector<Json>& variants) {
  Json choice = Json::object();
  Json names = Json::array();
  for (const auto& variant : spec.variants) names.push_back(variant.first);
  choice["required"] = {spec.select};
  choice["properties"][spec.select] = {{"enum", std::move(names)}};
  for (std::size_t i = variants.size(); i-- > 0;) {
    Json condition = Json::object();
    condition["properties"][spec.select] = {{"const", spec.variants[i].first}};
    condition["required"] = {spec.select};
    choice = {{"if", std::move(condition)}, {"then", variants[i]}, {"else", std::move(choice)}};
  }
  return choice;
}

std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

void AppendSections(const StructInfo& info, std::set<std::string>* done, std::string* text);

// Sections of the structs a type contains.
void AppendInner(const TypeInfo& type, std::set<std::string>* done, std::string* text) {
  if (type.kind == ValueKind::kStruct) AppendSections(*type.fields, done, text);
  for (const TypeInfo& inner : type.inner) AppendInner(inner, done, text);
}

void AppendSections(const StructInfo& info, std::set<std::string>* done, std::string* text) {
  if (!done->insert(info.name).second) return;
  *text += fmt::format("## {}\n\n{}\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
                       info.name, info.doc);
  for (const FieldInfo& field : info.fields) {
    const std::string fallback = field.required               ? "required"
                                 : field.default_text.empty() ? ""
                                                              : "`" + field.default_text + "`";
    *text += fmt::format("| `{}` | {} | {} | {} |\n", field.name, Cell(Describe(field.type)),
                         Cell(fallback), Cell(field.doc));
  }
  *text += "\n";
  for (const FieldInfo& field : info.fields) AppendInner(field.type, done, text);
}

}  // namespace

std::string JsonSchemaText(const SchemaSpec& spec) {
  SchemaWriter writer;
  std::vector<Json> full, partial;
  for (const auto& [name, info] : spec.variants) full.push_back(writer.Reference(info, false));
  Json body = spec.select.empty() ? full.front() : Select(spec, full);
  if (!spec.extends.empty()) {
    for (const auto& [name, info] : spec.variants) partial.push_back(writer.Reference(info, true));
    Json condition = {{"required", {spec.extends}}};
    Json overrides = {{"anyOf", partial}, {"required", spec.own}};
    body = {
        {"if", std::move(condition)}, {"then", std::move(overrides)}, {"else", std::move(body)}};
  }
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", spec.title},
                 {"type", "object"}};
  schema.update(body);
  schema["$defs"] = std::move(writer.definitions());
  return schema.dump(2) + "\n";
}

std::string MarkdownSections(const std::vector<std::shared_ptr<const StructInfo>>& roots) {
  std::string text;
  std::set<std::string> done;
  for (const auto& root : roots) AppendSections(*root, &done, &text);
  return text;
}

}  // namespace cyclecast
