/* SPDX-License-Identifier: BSD-2-Clause */
/* path_map.c: rules are few, and so are the files of a program whose lines are asked for: both are
 * searched one by one. */
#include "decoder/names/path_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/error.h"

bool ep_path_rule_valid(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals && equals != text;
}

/* Without the slashes at its end. */
static char *copy_path(const char *path, size_t length)
{
	while (length && path[length - 1] == '/')
		length--;
	return strndup(path, length);
}

int ep_path_map_add(struct ep_path_map *map, const char *text)
{
	const char *equals = strchr(text, '=');
	struct ep_path_rule rule,
		*grown = realloc(map->rules, (map->rule_count + 1) * sizeof(*grown));

	if (!grown)
		return EP_E_MEMORY;
	map->rules = grown;
	rule.from = copy_path(text, (size_t)(equals - text));
	rule.to = copy_path(equals + 1, strlen(equals + 1));
	if (!rule.from || !rule.to) {
		free(rule.from);
		free(rule.to);
		return EP_E_MEMORY;
	}
	map->rules[map->rule_count++] = rule;
	return EP_OK;
}

void ep_path_map_deinit(struct ep_path_map *map)
{
	for (size_t i = 0; i < map->rule_count; i++) {
		free(map->rules[i].from);
		free(map->rules[i].to);
	}
	for (size_t i = 0; i < map->known_count; i++)
		free(map->known[i].mapped);
	free(map->rules);
	free(map->known);
	*map = (struct ep_path_map){0};
}

/* From malloc; NULL: no rule fits, or no memory. */
static char *apply(const struct ep_path_map *map, const char *path)
{
	char *mapped;

	for (size_t i = 0; i < map->rule_count; i++) {
		const struct ep_path_rule *rule = &map->rules[i];
		size_t length = strlen(rule->from);

		if (strncmp(path, rule->from, length) || (path[length] != '/' && path[length]))
			continue;
		return asprintf(&mapped, "%s%s", rule->to, path + length) < 0 ? NULL : mapped;
	}
	return NULL;
}

static bool keep(struct ep_path_map *map, const char *path, char *mapped)
{
	size_t capacity = map->known_capacity ? 2 * map->known_capacity : 64;
	struct ep_path_known *grown;

	if (map->known_count == map->known_capacity) {
		grown = realloc(map->known, capacity * sizeof(*grown));
		if (!grown)
			return false;
		map->known = grown;
		map->known_capacity = capacity;
	}
	map->known[map->known_count++] = (struct ep_path_known){path, mapped};
	return true;
}

const char *ep_path_map_find(struct ep_path_map *map, const char *path)
{
	char *mapped;

	if (!path || !map->rule_count)
		return path;
	for (size_t i = 0; i < map->known_count; i++)
		if (map->known[i].path == path)
			return map->known[i].mapped ? map->known[i].mapped : path;
	mapped = apply(map, path);
	if (!keep(map, path, mapped)) {
		free(mapped);
		return path;
	}
	return mapped ? mapped : path;
}
