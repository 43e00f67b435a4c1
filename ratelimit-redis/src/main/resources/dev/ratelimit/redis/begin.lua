-- One decision over several limits, all or nothing, on the server's clock.
--
-- KEYS[i]   the state of the i-th limit
-- ARGV[1]   charge, peek, refund or reset;  ARGV[2]  for a refund: the time of the charge
-- then two for each limit: its notation; and, as doubles, the permits and the three parameters of its algorithm,
--           followed by any additional data
-- reply     whether all admitted (1 or 0), the time, and for each limit the numbers of its state;
--           or -1 if an algorithm is not in this script, or -2 and the time if a calendar does not include it
--
-- Times are microseconds since the epoch; all numbers are whole and below 2^52, so that doubles represent them exactly.
-- A value is the notation of the limit that wrote it, then the state.
--
-- An algorithm is a table of functions with up to three parameters p1 to p3, and up to three numbers of state s1 to s3:
--   read(value, from, p1, p2, p3, more) -> s1, s2, s3, stale
--       the state as of now; value is nil for a new key. Stale: the clock was set back, and the state moved with it
--   admits(permits, p1, p2, p3, s1, s2, s3)
--   add(permits, p1, p2, p3, s1, s2, s3) -> state, micros, s1, s2, s3
--       after taking these permits: the text to write, the time until it is full again, which may be 0, and the numbers
-- for refunds and changed limits, also
--   remove(permits, at, p1, p2, p3, s1, s2, s3) -> s1, s2, s3
--   used(p1, p2, p3, s1, s2, s3) -> permits
--   capacity(p1, p3) -> permits, unless that is p1
-- if a limit can use the state of another one directly,
--   same: a pattern for what both notations must have in common
--   adopt(p1, p1 of the other, s1, s2, s3) -> s1, s2, s3   or nil
-- and, if the client needs other numbers than the state,
--   answer(permits, p1, p2, p3, s1, s2, s3) -> up to four numbers
--
-- Every instruction costs the server, so code that most decisions do not need is defined only when needed.

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
    -- it is full, which is the same as a new key
    call('DEL', key)
  end
end
