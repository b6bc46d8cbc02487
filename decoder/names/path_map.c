/* SPDX-License-Identifier: BSD-2-Clause */
/* path_map.c: rules are few, and so are the files of a program whose lines are asked for: both are
 * searched one by one. */
#include "decoder/names/path_map.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

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
	return ep_strndup(path, length);
}

void ep_path_map_add(struct ep_path_map *map, const char *text)
{
	const char *equals = strchr(text, '=');

	ep_array_push(&map->rules, ((struct ep_path_rule){
					   .from = copy_path(text, (size_t)(equals - text)),
					   .to = copy_path(equals + 1, strlen(equals + 1)),
				   }));
}

void ep_path_map_deinit(struct ep_path_map *map)
{
	for (size_t i = 0; i < map->rules.count; i++) {
		free(map->rules.list[i].from);
		free(map->rules.list[i].to);
	}
	for (size_t i = 0; i < map->known.count; i++)
		free(map->known.list[i].mapped);
	ep_array_deinit(&map->rules);
	ep_array_deinit(&map->known);
}

/* From malloc; NULL: no rule fits. */
static char *apply(const struct ep_path_map *map, const char *path)
{
	for (size_t i = 0; i < map->rules.count; i++) {
		const struct ep_path_rule *rule = &map->rules.list[i];
		size_t length = strlen(rule->from);

		if (strncmp(path, rule->from, length) == 0 &&
		    (path[length] == '/' || !path[length]))
			return ep_asprintf("%s%s", rule->to, path + length);
	}
	return NULL;
}

const char *ep_path_map_find(struct ep_path_map *map, const char *path)
{
	struct ep_path_known *known;

	if (!path || !map->rules.count)
		return path;
	for (size_t i = 0; i < map->known.count; i++)
		if (map->known.list[i].path == path)
			return map->known.list[i].mapped ? map->known.list[i].mapped : path;
	known = ep_array_add(&map->known);
	known->path = path;
	known->mapped = apply(map, path);
	return known->mapped ? known->mapped : path;
}
