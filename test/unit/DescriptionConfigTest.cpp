// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The table of config keys: ranges, refusals, and that the help lists every key.

#include "tilejit/Base/Json.h"
#include "tilejit/Description/Config.h"
#include "tilejit/Description/Schema.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tilejit;

TEST_CASE("every key of every family has a range, a meaning and a line of help", "[config]") {
  for (const OperatorSchema &schema : operatorSchemas()) {
    std::set<std::string_view> names;
    std::string help = operatorHelp(schema.family);
    Expected<json::Value> value = json::parse(operatorHelpJson(schema.family), "help");
    REQUIRE(value.isOk());
    CHECK(value->find("config")->items.size() == configKeys(schema.family).size());
    for (const ConfigKey &key : configKeys(schema.family)) {
      INFO(familyName(schema.family) << " " << key.name);
      CHECK(names.insert(key.name).second);
      CHECK(key.min <= key.max);
      CHECK_FALSE(key.meaning.empty());
      CHECK(help.find("\n  " + std::string(key.name) + " ") != std::string::npos);
    }
  }
}

TEST_CASE("configs within their ranges are accepted", "[config]") {
  for (const OperatorSchema &schema : operatorSchemas())
    for (const ConfigKey &key : configKeys(schema.family)) {
      INFO(familyName(schema.family) << " " << key.name);
      for (int64_t value : {key.min, key.max})
        CHECK(checkConfig(schema.family, false, {{std::string(key.name), value}}).isOk());
      CHECK(checkConfig(schema.family, true, {{std::string(key.name), key.min}}).isOk() == key.notOnCpu.empty());
    }
}

TEST_CASE("configs that mean nothing are refused by name", "[config]") {
  auto refusal = [](bool isCpu, const std::string &key, int64_t value) {
    Status status = checkConfig(Family::Matmul, isCpu, {{key, value}});
    INFO(key << "=" << value);
    CHECK(status.code() == StatusCode::InvalidArgument);
    CHECK(status.message().find("'" + key + "'") != std::string::npos);
    return status;
  };
  CHECK(refusal(true, "speed", 9).hint() == "known keys: bm bn bk");
  CHECK(refusal(false, "speed", 9).hint().find("split_k") != std::string::npos);
  CHECK(refusal(true, "warps", 4).message().find("does not apply to CPU targets") != std::string::npos);
  CHECK(refusal(true, "bm", 0).message().find("from 1 to") != std::string::npos);
  (void)refusal(true, "bk", int64_t{1} << 40);
}
