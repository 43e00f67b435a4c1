-- One decision over several limits, all or nothing, on the server's clock.
--
-- KEYS[i]   the state of the i-th limit
-- ARGV[1]   charge, peek, refund or reset;  ARGV[2]  for a refund: when it was charged
-- then two for each limit: its notation; and the permits and the three parameters that its algorithm has, as doubles,
--           with whatever else it needs behind them
-- reply     whether all admitted (1 or 0), the time, and of each limit the numbers of its state;
--           or -1 when an algorithm is not in this script, or -2 and the time when a calendar does not reach it
--
-- Times are microseconds since the epoch; all numbers are whole and below 2^52, so that doubles hold them exactly. A
-- value is the notation of the limit that wrote it, then the state. An algorithm is a table of functions on a state of
-- up to three numbers a, b and c:
--   read(value, from, p1, p2, p3, more) -> a, b, c, stale
--       the state as of now; value is nil for a key never seen. Stale: the clock was set back, and the state went along
--   admits(permits, p1, p2, p3, a, b, c)
--   add(permits, p1, p2, p3, a, b, c) -> state, micros, a, b, c
--       with so many permits more: to be written, the time until it is full again, which may be 0, and the numbers
-- where something is given back or a limit was changed, also
--   remove(permits, at, p1, p2, p3, a, b, c) -> a, b, c
--   used(p1, p2, p3, a, b, c) -> permits
-- unless only what is used counts when a limit is changed,
--   adopt(p1, its p1, alike, a, b, c) -> a, b, c   or nil; alike: the limits differ in p1 only
-- and, where the client could not tell from these, answer(permits, p1, p2, p3, a, b, c) -> up to four numbers
--
-- Every instruction costs the server: what most decisions do not need is defined only where it is.

local call, sub, find, pack, unpackFrom, ceil = redis.call, string.sub, string.find, struct.pack, struct.unpack, math.ceil
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local operation = ARGV[1]
if operation == 'reset' then
  call('DEL', unpack(KEYS))
  return {1, now}
end
local values = call('MGET', unpack(KEYS))

local function write(key, notation, state, micros)
  if micros > 0 then
    call('PSETEX', key, ceil(micros / 1000), notation .. state)
  else
    -- it is full: that says no more than a key never seen
    call('DEL', key)
  end
end
