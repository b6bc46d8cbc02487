-- short.lua: a short run for a comparison call by call: no errors and no
-- coroutines, which leave functions by longjmp. At its end it runs $AT_END, by
-- which the traced one asks itself for a snapshot: what is compared ends there.
local function ack(m, n)
	if m == 0 then return n + 1 end
	if n == 0 then return ack(m - 1, 1) end
	return ack(m - 1, ack(m, n - 1))
end

local t = {}
for i = 1, 300 do t[i] = (i * 7919) % 1009 end
table.sort(t, function(a, b) return a > b end)
local s = {}
for i = 1, 200 do s[#s + 1] = string.format("%d:%s", t[i], tostring(i / 3)) end
local text = table.concat(s, " ")
local n = 0
for word in text:gmatch("%d+:") do n = n + #word end
print(ack(2, 5), n, text:upper():sub(1, 20), #text:rep(3, "-"))
collectgarbage()
os.execute(os.getenv("AT_END") or "true")
