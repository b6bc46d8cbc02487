/* SPDX-License-Identifier: BSD-2-Clause */
/* outbuf.c: numbers are written backwards into a small buffer, two digits at a time. */
#include "decoder/util/outbuf.h"

#include <errno.h>

void ep_outbuf_init(struct ep_outbuf *out, FILE *file)
{
	out->file = file;
	out->failed = 0;
	out->used = 0;
}

static void write_out(struct ep_outbuf *out, const char *bytes, size_t size)
{
	if (out->failed || size == 0)
		return;
	errno = 0;
	if (fwrite(bytes, 1, size, out->file) != size)
		out->failed = errno ? errno : EIO;
}

void ep_outbuf_put_slow(struct ep_outbuf *out, const char *bytes, size_t size)
{
	write_out(out, out->bytes, out->used);
	out->used = 0;
	if (size >= EP_OUTBUF_SIZE) {
		write_out(out, bytes, size);
		return;
	}
	memcpy(out->bytes, bytes, size);
	out->used = (uint32_t)size;
}

int ep_outbuf_finish(struct ep_outbuf *out)
{
	ep_outbuf_put_slow(out, "", 0);
	if (!out->failed && fflush(out->file) != 0)
		out->failed = errno ? errno : EIO;
	errno = out->failed;
	return out->failed ? -1 : 0;
}

/* ---- numbers ---- */

static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334"
			    "3536373839404142434445464748495051525354555657585960616263646566676869"
			    "707172737475767778798081828384858687888990919293949596979899";

char *ep_digits_uint(char *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + value * 2, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

static uint64_t size_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

char *ep_digits_int(char *end, int64_t value)
{
	char *at = ep_digits_uint(end, size_of(value));

	if (value < 0)
		*--at = '-';
	return at;
}

char *ep_digits_hex(char *end, uint64_t value)
{
	do {
		*--end = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	*--end = 'x';
	*--end = '0';
	return end;
}

char *ep_digits_thousandth(char *end, int64_t value)
{
	uint64_t size = size_of(value);
	char *at = ep_digits_uint(end - 4, size / 1000);

	size %= 1000;
	end[-4] = '.';
	end[-3] = (char)('0' + size / 100);
	memcpy(end - 2, pairs + size % 100 * 2, 2);
	if (value < 0)
		*--at = '-';
	return at;
}

void ep_outbuf_uint(struct ep_outbuf *out, uint64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text), *at = ep_digits_uint(end, value);

	ep_outbuf_put(out, at, (size_t)(end - at));
}

void ep_outbuf_int(struct ep_outbuf *out, int64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text), *at = ep_digits_int(end, value);

	ep_outbuf_put(out, at, (size_t)(end - at));
}

void ep_outbuf_hex(struct ep_outbuf *out, uint64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text), *at = ep_digits_hex(end, value);

	ep_outbuf_put(out, at, (size_t)(end - at));
}

void ep_outbuf_thousandth(struct ep_outbuf *out, int64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text);
	char *at = ep_digits_thousandth(end, value);

	ep_outbuf_put(out, at, (size_t)(end - at));
}
