-- work.lua: a call-dense second of Lua: recursion, closures, strings, tables,
-- pattern matching, garbage. `lua work.lua SCALE`
local scale = tonumber(arg and arg[1]) or 1

local function fib(n)
	if n < 2 then return n end
	return fib(n - 1) + fib(n - 2)
end

local function words(n)
	local text, count = string.rep("the quick brown fox jumps ", n), {}
	for word in text:gmatch("%a+") do
		count[word] = (count[word] or 0) + 1
	end
	return count
end

local function sorted(n)
	local t, seed = {}, 42
	for i = 1, n do
		seed = (seed * 1103515245 + 12345) % 2147483648
		t[i] = seed
	end
	table.sort(t, function(a, b) return a < b end)
	return t[1]
end

local function strings(n)
	local parts = {}
	for i = 1, n do
		parts[#parts + 1] = string.format("%d:%s", i, tostring(i * 1.5))
	end
	return #table.concat(parts, ",")
end

for _ = 1, scale do
	fib(22)
	words(2000)
	sorted(8000)
	strings(8000)
end
