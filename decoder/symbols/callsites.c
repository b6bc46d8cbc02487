/* SPDX-License-Identifier: BSD-2-Clause */
/* callsites.c: the call site of a return address, among the entries of the blocks around it. */
#include "decoder/symbols/callsites.h"

#include <dwarf.h>
#include <string.h>

#include "decoder/symbols/type.h"

static bool is_site(Dwarf_Die *die, uint64_t returns_to)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) &&
	       dwarf_attr(die, tag == DW_TAG_call_site ? DW_AT_call_return_pc : DW_AT_low_pc,
			  &attribute) &&
	       dwarf_formaddr(&attribute, &address) == 0 && address == returns_to;
}

static bool find_site(struct ep_inlines *inlines, struct ep_location_frame *caller, Dwarf_Die *out)
{
	Dwarf_Die scopes[EP_SCOPES_MAX];
	size_t count = ep_inlines_scopes(inlines, caller->address, 0, scopes, &caller->base);

	for (size_t i = 0; i < count; i++) {
		struct ep_type_walk walk = {0};

		while (ep_type_child(&walk, &scopes[i]))
			if (is_site(&walk.die, caller->address + 1)) {
				*out = walk.die;
				return true;
			}
	}
	return false;
}

static const char *symbol_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	return name ? name : dwarf_diename(die);
}

/* Up to a compiler's suffix: f.isra.0 is f. */
static bool is_call_of(Dwarf_Die *site, const char *callee)
{
	Dwarf_Attribute attribute;
	const char *name;
	Dwarf_Die origin;

	if ((!dwarf_attr(site, DW_AT_call_origin, &attribute) &&
	     !dwarf_attr(site, DW_AT_abstract_origin, &attribute)) ||
	    !dwarf_formref_die(&attribute, &origin))
		return false;
	name = symbol_of(&origin);
	return name && *name && strlen(name) == strcspn(callee, ".") &&
	       strncmp(name, callee, strlen(name)) == 0;
}

bool ep_callsite_register(struct ep_inlines *inlines, struct ep_location_frame *caller,
			  const char *callee, unsigned number, uint64_t *out)
{
	struct ep_type_walk walk = {0};
	Dwarf_Attribute value;
	unsigned has;
	Dwarf_Die site;

	if (!find_site(inlines, caller, &site) || !is_call_of(&site, callee))
		return false;
	while (ep_type_child(&walk, &site)) {
		int tag = dwarf_tag(&walk.die);

		if ((tag == DW_TAG_call_site_parameter || tag == DW_TAG_GNU_call_site_parameter) &&
		    ep_location_register(&walk.die, &has) && has == number)
			return (dwarf_attr(&walk.die, DW_AT_call_value, &value) ||
				dwarf_attr(&walk.die, DW_AT_GNU_call_site_value, &value)) &&
			       ep_location_number(caller, &value, out);
	}
	return false;
}
