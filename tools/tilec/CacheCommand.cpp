// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// tilec cache: path, stats, list, verify, clear, why, gc, export, import.

#include "Commands.h"
#include "Reports.h"
#include "Sources.h"

#include "tilejit/Cache/Cache.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

namespace tilejit::tilec {
namespace {

struct Options {
  std::string version, target, olderThan, file;
  std::vector<std::string> what; ///< why: two keys, or a description.
  std::optional<std::string> whyTarget;
  std::vector<std::string> config;
};

using Handler = int (*)(const Program &, Cache &, const Options &);

/// Opens the cache as it is and hands it to a subcommand.
int withCache(const Program &program, const Options &options, Handler handler) {
  Expected<Settings> settings = program.settings();
  if (!settings)
    return program.fail(settings.status());
  Expected<Logger> logger = Program::logger(*settings);
  if (!logger)
    return program.fail(logger.status());
  std::unique_ptr<Cache> cache = Cache::open(*settings, *logger, realSystem(), Cache::OpenMode::Inspect);
  return handler(program, *cache, options);
}

/// "30d", "12h", "90m", "45s" or plain seconds.
Expected<int64_t> parseAge(const std::string &text) {
  std::string digits = text;
  int64_t unit = 1;
  if (!digits.empty() && std::string("dhms").find(digits.back()) != std::string::npos) {
    unit = digits.back() == 'd' ? 86400 : digits.back() == 'h' ? 3600 : digits.back() == 'm' ? 60 : 1;
    digits.pop_back();
  }
  TILEJIT_ASSIGN_OR_RETURN(int64_t count, parseInteger(digits, "--older-than", 0, int64_t{1} << 31));
  return count * unit;
}

Expected<CacheFilter> filterOf(const Options &options) {
  CacheFilter filter;
  filter.version = options.version;
  if (!options.target.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(TargetSpec target, parseTarget(options.target));
    filter.target = target.folderName();
  }
  if (!options.olderThan.empty()) {
    TILEJIT_ASSIGN_OR_RETURN(filter.olderThanS, parseAge(options.olderThan));
  }
  return filter;
}

int showPath(const Program &program, Cache &cache, const Options &) {
  if (program.json)
    Program::print(Json{{"path", cache.root()}});
  else
    std::printf("%s\n", cache.root().c_str());
  return Done;
}

int showStats(const Program &program, Cache &cache, const Options &) {
  CacheUsage usage = cache.usage();
  const CacheCounters &counters = usage.counters;
  if (program.json) {
    Program::print(Json{{"path", cache.root()},
                        {"usable", cache.isUsable()},
                        {"entries", usage.entries},
                        {"aliases", usage.aliases},
                        {"bytes", usage.bytes},
                        {"hits", counters.hits},
                        {"misses", counters.misses},
                        {"published", counters.published},
                        {"quarantined", counters.quarantined},
                        {"errors", counters.errors}});
    return Done;
  }
  double lookups = static_cast<double>(counters.hits + counters.misses);
  std::printf("%s: %lld entries, %lld of them aliases, %s\n", cache.root().c_str(),
              static_cast<long long>(usage.entries), static_cast<long long>(usage.aliases),
              bytesText(usage.bytes).c_str());
  std::printf("%lld hits, %lld misses (%.1f %% hits), %lld written, %lld quarantined, %lld errors\n",
              static_cast<long long>(counters.hits), static_cast<long long>(counters.misses),
              lookups > 0 ? 100 * static_cast<double>(counters.hits) / lookups : 0.0,
              static_cast<long long>(counters.published), static_cast<long long>(counters.quarantined),
              static_cast<long long>(counters.errors));
  return Done;
}

std::string dayText(int64_t nanoseconds) {
  std::time_t seconds = nanoseconds / 1000000000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

Json entryJson(const CacheEntryInfo &entry) {
  Json json = {{"key", entry.key},     {"target", entry.target},   {"op", entry.op},
               {"bytes", entry.bytes}, {"version", entry.version}, {"last_used", dayText(entry.lastUsedNs)},
               {"path", entry.path}};
  if (!entry.aliasOf.empty())
    json["alias_of"] = entry.aliasOf;
  return json;
}

std::string entryText(const CacheEntryInfo &entry) {
  char columns[96];
  std::snprintf(columns, sizeof columns, "  %-12.40s %10s  ", entry.op.c_str(), bytesText(entry.bytes).c_str());
  std::string text = entry.key + columns + dayText(entry.lastUsedNs) + "  " + entry.version + "  " + entry.target;
  return entry.aliasOf.empty() ? text : text + "  alias of " + entry.aliasOf;
}

int listEntries(const Program &program, Cache &cache, const Options &) {
  Json list = Json::array();
  for (const CacheEntryInfo &entry : cache.list()) {
    if (program.json)
      list.push_back(entryJson(entry));
    else
      std::printf("%s\n", entryText(entry).c_str());
  }
  if (program.json)
    Program::print(Json{{"entries", list}});
  return Done;
}

int verifyEntries(const Program &program, Cache &cache, const Options &) {
  CacheVerified verified = cache.verify();
  Json list = Json::array();
  for (const CacheDamage &damage : verified.damaged) {
    if (program.json)
      list.push_back({{"key", damage.key}, {"path", damage.path}, {"reason", damage.reason}});
    else
      std::printf("damaged: %s: %s\n", damage.path.c_str(), damage.reason.c_str());
  }
  if (program.json)
    Program::print(Json{{"entries", verified.entries}, {"damaged", list}, {"ok", verified.damaged.empty()}});
  else
    std::printf("%lld entries, %zu damaged\n", static_cast<long long>(verified.entries), verified.damaged.size());
  return verified.damaged.empty() ? Done : CheckFailed;
}

int reportRemoved(const Program &program, const CacheRemoved &removed) {
  if (program.json)
    Program::print(Json{{"removed", removed.entries}, {"bytes", removed.bytes}});
  else
    std::printf("removed %lld entries, %s\n", static_cast<long long>(removed.entries),
                bytesText(removed.bytes).c_str());
  return Done;
}

int clearEntries(const Program &program, Cache &cache, const Options &options) {
  Expected<CacheFilter> filter = filterOf(options);
  return filter ? reportRemoved(program, cache.clear(*filter)) : program.fail(filter.status());
}

int collectGarbage(const Program &program, Cache &cache, const Options &) {
  return reportRemoved(program, cache.collectGarbage());
}

int reportTransfer(const Program &program, const Expected<int64_t> &count, const char *verb, const Options &options) {
  if (!count)
    return program.fail(count.status());
  if (program.json)
    Program::print(Json{{"entries", *count}, {"file", options.file}});
  else
    std::printf("%s %lld entries\n", verb, static_cast<long long>(*count));
  return Done;
}

int exportEntries(const Program &program, Cache &cache, const Options &options) {
  Expected<CacheFilter> filter = filterOf(options);
  if (!filter)
    return program.fail(filter.status());
  return reportTransfer(program, cache.exportTo(options.file, *filter), "exported", options);
}

int importEntries(const Program &program, Cache &, const Options &options) {
  Expected<std::shared_ptr<Context>> context = program.context();
  if (!context)
    return program.fail(context.status());
  return reportTransfer(program, (*context)->cache().importFrom(options.file), "imported", options);
}

/// The two sides of `why`: two keys, or a description and the entry nearest to it.
Expected<std::pair<KeyMaterial, KeyMaterial>> materialsOf(const Program &program, Cache &cache,
                                                          const Options &options) {
  if (options.what.size() == 2) {
    TILEJIT_ASSIGN_OR_RETURN(CachedKernel a, cache.load(options.what[0]));
    TILEJIT_ASSIGN_OR_RETURN(CachedKernel b, cache.load(options.what[1]));
    return std::pair(std::move(a.material), std::move(b.material));
  }
  TILEJIT_ASSIGN_OR_RETURN(Source source, readSource(options.what[0]));
  TILEJIT_ASSIGN_OR_RETURN(std::shared_ptr<Context> context, program.context());
  TILEJIT_ASSIGN_OR_RETURN(std::vector<TargetSpec> targets, parseTargets(*context, options.whyTarget));
  CompileOptions compileOptions;
  TILEJIT_ASSIGN_OR_RETURN(compileOptions.config, parseConfig(options.config));
  TILEJIT_ASSIGN_OR_RETURN(KeyMaterial wanted, context->keyMaterial(source, targets.front(), compileOptions));
  TILEJIT_ASSIGN_OR_RETURN(CachedKernel nearest, cache.nearest(wanted));
  return std::pair(std::move(wanted), std::move(nearest.material));
}

int explainDifference(const Program &program, Cache &cache, const Options &options) {
  auto materials = materialsOf(program, cache, options);
  if (!materials)
    return program.fail(materials.status());
  std::vector<KeyDifference> differences = keyDifferences(materials->first, materials->second);
  if (program.json) {
    Json list = Json::array();
    for (const KeyDifference &difference : differences)
      list.push_back({{"field", difference.field}, {"a", difference.a}, {"b", difference.b}});
    Program::print(Json{{"a", cacheKey(materials->first)}, {"b", cacheKey(materials->second)}, {"differs", list}});
    return Done;
  }
  std::printf("a %s\nb %s\n", cacheKey(materials->first).c_str(), cacheKey(materials->second).c_str());
  if (differences.empty())
    std::printf("nothing differs\n");
  for (const KeyDifference &difference : differences)
    std::printf("%s: %s | %s\n", difference.field.c_str(), difference.a.c_str(), difference.b.c_str());
  return Done;
}

void addFilters(CLI::App &command, Options &options) {
  command.add_option("--version", options.version, "Only entries of this tilejit version")->type_name("V");
  command.add_option("--target", options.target, "Only entries for this target")->type_name("T");
  command.add_option("--older-than", options.olderThan, "Only entries not used for so long: 30d, 12h, 90m, 45s")
      ->type_name("AGE");
}

} // namespace

void addCache(Registry registry) {
  auto options = std::make_shared<Options>();
  CLI::App *cache = registry.app.add_subcommand("cache", "Look at and look after the cache of compiled kernels");
  cache->require_subcommand(1);
  cache->footer("Examples:\n  tilec cache stats\n  tilec cache clear --older-than 30d\n  tilec cache why KEY KEY");
  auto add = [&](const char *name, const char *help, Handler handler) {
    CLI::App *command = cache->add_subcommand(name, help);
    registry.program.addCommonOptions(*command);
    command->footer(std::string("Example:\n  tilec cache ") + name);
    registry.onRun(*command,
                   [&program = registry.program, options, handler] { return withCache(program, *options, handler); });
    return command;
  };
  add("path", "Print the folder", showPath);
  add("stats", "Entries, bytes, hits and misses", showStats);
  add("list", "One line for each entry", listEntries);
  add("verify", "Check every entry; exit code 1 where one is damaged", verifyEntries);
  addFilters(*add("clear", "Remove entries", clearEntries), *options);
  add("gc", "Remove entries down to the bounds of the settings", collectGarbage);
  CLI::App *why =
      add("why", "Say what differs between two entries, or a description and its nearest entry", explainDifference);
  why->add_option("WHAT", options->what, "KEY KEY (or unambiguous beginnings), or a description")
      ->required()
      ->expected(1, 2);
  why->add_option("--target", options->whyTarget, "Target of the description")->type_name("T");
  why->add_option("--config", options->config, "Schedule options of the description")
      ->type_name("K=V[,...]")
      ->allow_extra_args(false);
  why->footer("Example:\n  tilec cache why examples/matmul.json");
  CLI::App *exporting = add("export", "Write entries into one package", exportEntries);
  exporting->add_option("FILE", options->file, "Package to write")->required();
  addFilters(*exporting, *options);
  exporting->footer("Example:\n  tilec cache export kernels.tjk --target native");
  CLI::App *importing = add("import", "Add the entries of a package", importEntries);
  importing->add_option("FILE", options->file, "Package to read")->required();
  importing->footer("Example:\n  tilec cache import kernels.tjk");
}

} // namespace tilejit::tilec
