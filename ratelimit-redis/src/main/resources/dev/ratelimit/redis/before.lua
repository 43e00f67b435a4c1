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
local values, rare = call('MGET', unpack(KEYS)), operation == 'refund'
local algorithms = {}

for i = 1, #KEYS do
  local value = values[i]
  if not value then
    -- what is no string reads as nothing, and is not ours
    if call('TYPE', KEYS[i]).ok ~= 'none' then
      return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' holds what no limit has written')
    end
  elseif find(value, ARGV[2 * i + 1], 1, true) ~= 1 then
    rare = true
  end
end

local proportion, share
if rare then
  -- x * y / z for x up to z, rounded down, and what is left over
  function proportion(x, y, z)
    local quotient, rest, bit = 0, 0, 4503599627370496
    while bit >= 1 do
      quotient, rest = 2 * quotient, 2 * rest
      if y >= bit then
        y, rest = y - bit, rest + x
      end
      while rest >= z do
        quotient, rest = quotient + 1, rest - z
      end
      bit = bit / 2
    end
    return quotient, rest
  end

  -- as much of one whole as x is of another. Rounded up where there is less room and down where there is more, so that
  -- it stays where it is while instances with the old limit and with the new one take turns
  function share(x, whole, former)
    local part, rest = proportion(math.min(x, former), whole, former)
    return (rest > 0 and whole < former) and part + 1 or part
  end
end
