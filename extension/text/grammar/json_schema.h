// SPDX-License-Identifier: BSD-3-Clause
// JSON schemas as grammars: every text of the grammar is JSON that the schema takes.
#pragma once

#include <string>

#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// GBNF for a schema (drafts 7 to 2020-12). Objects have the properties of the schema in its order;
// others only where it names none. Numbers have up to 16 digits. Served: type, enum, const,
// properties, required, additionalProperties, items, prefixItems, minItems, maxItems, minLength,
// maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum, anyOf, oneOf (as anyOf), allOf
// of one, $ref into $defs or definitions, and of format: date, time, date-time, uuid (another one
// is a remark, as the standard has it). NotSupported, by name and place, for other keywords;
// InvalidArgument for what is no schema.
runtime::Result<std::string> json_schema_to_gbnf(const std::string& schema);

}  // namespace executorch::extension::llm
