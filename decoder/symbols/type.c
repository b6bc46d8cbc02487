/* SPDX-License-Identifier: BSD-2-Clause */
/* type.c: libdw's own walks over types (dwarf_peel_type, dwarf_aggregate_size) do not end where
 * types make a ring: these do. */
#include "decoder/symbols/type.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define HOPS_MAX      32u
#define SIZE_LIMIT    ((uint64_t)1 << 47)
#define POINTER_SIZE  8u
#define NAME_MAX_SIZE 256u

bool ep_type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, out);
}

bool ep_type_number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attribute) ||
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*out = value;
	return true;
}

bool ep_type_constant(Dwarf_Attribute *attribute, int64_t *out)
{
	Dwarf_Word number;
	Dwarf_Sword with_sign;

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		if (dwarf_formsdata(attribute, &with_sign) != 0)
			return false;
		*out = with_sign;
		return true;
	default:
		if (dwarf_formudata(attribute, &number) != 0)
			return false;
		*out = (int64_t)number;
		return true;
	}
}

bool ep_type_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag = false;

	return dwarf_attr_integrate(die, name, &attribute) &&
	       dwarf_formflag(&attribute, &flag) == 0 && flag;
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool ep_type_peel(Dwarf_Die *type)
{
	for (unsigned i = 0; i < HOPS_MAX; i++) {
		int tag = dwarf_tag(type);
		Dwarf_Die next;

		if (tag != DW_TAG_typedef && !is_qualifier(tag))
			return true;
		if (!ep_type_of(type, &next))
			return false;
		*type = next;
	}
	return false;
}

bool ep_type_child(struct ep_type_walk *walk, Dwarf_Die *parent)
{
	Dwarf_Die next;

	if (!walk->begun) {
		walk->begun = true;
		return dwarf_child(parent, &walk->die) == 0;
	}
	/* One that lies before it would be met again. */
	if (walk->bytes >= EP_TYPE_WALK_MAX || dwarf_siblingof(&walk->die, &next) != 0 ||
	    dwarf_dieoffset(&next) <= dwarf_dieoffset(&walk->die))
		return false;
	walk->bytes += dwarf_dieoffset(&next) - dwarf_dieoffset(&walk->die);
	walk->die = next;
	return true;
}

/* ---- sizes ---- */

struct bounds {
	ep_type_bound_fn bound;
	void *context;
};

enum bound { NO_BOUND, BOUND, UNKNOWN_BOUND };

static enum bound bound_of(Dwarf_Die *range, unsigned name, const struct bounds *bounds,
			   uint64_t *out)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr_integrate(range, name, &attribute))
		return NO_BOUND;
	if (ep_type_number(range, name, out) ||
	    (bounds->bound && bounds->bound(bounds->context, &attribute, out)))
		return BOUND;
	return UNKNOWN_BOUND;
}

/* clang's upper bounds of nothing are -1, and gcc has none. */
static uint64_t elements_of(Dwarf_Die *range, const struct bounds *bounds)
{
	uint64_t number = 0, lower = 0;
	enum bound found = bound_of(range, DW_AT_count, bounds, &number);

	if (found == BOUND)
		return number < EP_TYPE_VARIABLE ? number : EP_TYPE_OPEN;
	if (found == NO_BOUND) {
		ep_type_number(range, DW_AT_lower_bound, &lower);
		found = bound_of(range, DW_AT_upper_bound, bounds, &number);
	}
	if (found != BOUND)
		return found == NO_BOUND ? EP_TYPE_OPEN : EP_TYPE_VARIABLE;
	return number == UINT64_MAX || number + 1 <= lower ? 0 : number + 1 - lower;
}

size_t ep_type_dimensions(Dwarf_Die *array, ep_type_bound_fn bound, void *context,
			  uint64_t out[EP_TYPE_DIMENSIONS])
{
	const struct bounds bounds = {bound, context};
	struct ep_type_walk walk = {0};
	size_t count = 0;

	while (count < EP_TYPE_DIMENSIONS && ep_type_child(&walk, array))
		if (dwarf_tag(&walk.die) == DW_TAG_subrange_type)
			out[count++] = elements_of(&walk.die, &bounds);
	if (count == 0)
		out[count++] = EP_TYPE_OPEN;
	return count;
}

static bool multiply(Dwarf_Die *array, uint64_t *product)
{
	uint64_t dimensions[EP_TYPE_DIMENSIONS];
	size_t count = ep_type_dimensions(array, NULL, NULL, dimensions);

	for (size_t i = 0; i < count; i++) {
		if (dimensions[i] == EP_TYPE_VARIABLE)
			return false;
		if (__builtin_mul_overflow(
			    *product, dimensions[i] == EP_TYPE_OPEN ? 0 : dimensions[i], product) ||
		    *product > SIZE_LIMIT)
			return false;
	}
	return true;
}

bool ep_type_size(Dwarf_Die *type, uint64_t *out)
{
	uint64_t product = 1, size;
	Dwarf_Die at = *type, next;

	for (unsigned i = 0; i < HOPS_MAX; i++) {
		int tag;

		if (!ep_type_peel(&at))
			return false;
		tag = dwarf_tag(&at);
		if (!ep_type_number(&at, DW_AT_byte_size, &size))
			size = tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
					       tag == DW_TAG_rvalue_reference_type
				       ? POINTER_SIZE
				       : UINT64_MAX;
		if (size != UINT64_MAX)
			return !__builtin_mul_overflow(product, size, out) && *out <= SIZE_LIMIT;
		if ((tag != DW_TAG_array_type && tag != DW_TAG_enumeration_type) ||
		    (tag == DW_TAG_array_type && !multiply(&at, &product)) ||
		    !ep_type_of(&at, &next))
			return false;
		at = next;
	}
	return false;
}

/* ---- names ---- */

/* A declarator grows around its middle: what stands before the name, and what behind it. */
struct declarator {
	char before[NAME_MAX_SIZE], behind[NAME_MAX_SIZE];
	struct ep_type_scopes *scopes;
};

/* What does not fit is cut at the end. */
static void prepend(char text[NAME_MAX_SIZE], const char *add)
{
	size_t room = NAME_MAX_SIZE - 1, size = strnlen(add, room), old = strlen(text);

	if (old > room - size)
		old = room - size;
	memmove(text + size, text, old);
	memcpy(text, add, size);
	text[size + old] = '\0';
}

static void append(char text[NAME_MAX_SIZE], const char *add)
{
	size_t used = strlen(text);

	snprintf(text + used, NAME_MAX_SIZE - used, "%s", add);
}

static const char *qualifier_of(int tag)
{
	return tag == DW_TAG_const_type      ? "const"
	       : tag == DW_TAG_volatile_type ? "volatile"
	       : tag == DW_TAG_restrict_type ? "restrict"
					     : "_Atomic";
}

bool ep_type_is_c(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

/* As people say them. */
static const char *base_name(const char *name)
{
	static const char *const names[][2] = {
		{"short int", "short"},         {"short unsigned int", "unsigned short"},
		{"long int", "long"},           {"long unsigned int", "unsigned long"},
		{"long long int", "long long"}, {"long long unsigned int", "unsigned long long"},
	};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i][0]) == 0)
			return names[i][1];
	return name;
}

static void named(Dwarf_Die *die, struct ep_type_scopes *scopes, char *out, size_t size)
{
	const char *name = base_name(dwarf_diename(die)), *kind = "";
	char prefix[NAME_MAX_SIZE];

	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
		kind = "struct";
		break;
	case DW_TAG_union_type:
		kind = "union";
		break;
	case DW_TAG_enumeration_type:
		kind = "enum";
		break;
	default:
		break;
	}
	if (!name)
		snprintf(out, size, "%s {...}", *kind ? kind : "?");
	else if (*kind && ep_type_is_c(die))
		snprintf(out, size, "%s %s", kind, name);
	else
		snprintf(out, size, "%s%s",
			 ep_type_scopes_prefix(scopes, die, prefix, sizeof(prefix)), name);
}

/* A pointer to an array or a function stands in brackets. */
static bool binds_behind(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;
}

static void add_pointer(struct declarator *d, int tag, Dwarf_Die *target, bool has_target)
{
	const char *sign = tag == DW_TAG_pointer_type     ? "*"
			   : tag == DW_TAG_reference_type ? "&"
							  : "&&";

	prepend(d->before, sign);
	if (has_target && binds_behind(target)) {
		prepend(d->before, "(");
		append(d->behind, ")");
	}
}

/* "Class::*" */
static void add_member_pointer(struct declarator *d, Dwarf_Die *pointer, Dwarf_Die *target,
			       bool has_target)
{
	char text[NAME_MAX_SIZE], prefix[NAME_MAX_SIZE] = "";
	Dwarf_Attribute attribute;
	const char *name = NULL;
	Dwarf_Die class;

	if (dwarf_attr(pointer, DW_AT_containing_type, &attribute) &&
	    dwarf_formref_die(&attribute, &class)) {
		name = dwarf_diename(&class);
		ep_type_scopes_prefix(d->scopes, &class, prefix, sizeof(prefix));
	}
	snprintf(text, sizeof(text), "%.*s%s::*", (int)sizeof(text) / 2, prefix, name ? name : "?");
	prepend(d->before, text);
	if (has_target && binds_behind(target)) {
		prepend(d->before, "(");
		append(d->behind, ")");
	}
}

static void add_dimensions(struct declarator *d, Dwarf_Die *array)
{
	uint64_t dimensions[EP_TYPE_DIMENSIONS];
	size_t count = ep_type_dimensions(array, NULL, NULL, dimensions);
	char text[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "[%llu]", (unsigned long long)dimensions[i]);
		append(d->behind, dimensions[i] == EP_TYPE_OPEN       ? "[]"
				  : dimensions[i] == EP_TYPE_VARIABLE ? "[variable length]"
								      : text);
	}
}

/* Parameters by their own names' first words only: a list of lists has no end. */
static void add_parameters(struct declarator *d, Dwarf_Die *function)
{
	struct ep_type_walk walk = {0};

	append(d->behind, ep_type_child(&walk, function) ? "(...)" : "(void)");
}

/* One step towards what the name is of; false: this is it. */
static bool step(struct declarator *d, Dwarf_Die *at, char *qualifiers, size_t size)
{
	int tag = dwarf_tag(at);
	Dwarf_Die next;
	bool has_next = ep_type_of(at, &next);
	char text[16];

	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		add_pointer(d, tag, &next, has_next);
		break;
	case DW_TAG_ptr_to_member_type:
		add_member_pointer(d, at, &next, has_next);
		break;
	case DW_TAG_array_type:
		add_dimensions(d, at);
		break;
	case DW_TAG_subroutine_type:
		add_parameters(d, at);
		break;
	default:
		if (!is_qualifier(tag))
			return false;
		/* Of a pointer it stands behind the star, of all else before the name. */
		snprintf(text, sizeof(text), " %s", qualifier_of(tag));
		if (has_next && dwarf_tag(&next) == DW_TAG_pointer_type)
			prepend(d->before, text);
		else
			snprintf(qualifiers + strlen(qualifiers), size - strlen(qualifiers), "%s ",
				 text + 1);
	}
	if (!has_next)
		at->addr = NULL;
	else
		*at = next;
	return has_next;
}

char *ep_type_name(Dwarf_Die *die, struct ep_type_scopes *scopes, char *out, size_t size)
{
	struct declarator d = {.scopes = scopes};
	char base[NAME_MAX_SIZE] = "void", qualifiers[64] = "";
	Dwarf_Die at = *die;
	unsigned hops = 0;

	while (hops++ < HOPS_MAX && step(&d, &at, qualifiers, sizeof(qualifiers)))
		;
	if (at.addr && hops <= HOPS_MAX)
		named(&at, scopes, base, sizeof(base));
	snprintf(out, size, "%s%s%s%s%s", hops <= HOPS_MAX ? qualifiers : "", base,
		 d.before[0] || d.behind[0] ? " " : "",
		 d.before[0] == ' ' ? d.before + 1 : d.before, d.behind);
	return out;
}
