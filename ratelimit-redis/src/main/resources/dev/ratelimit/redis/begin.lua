-- Decisions over several limits, each all or nothing, one after another, on the server's clock.
--
-- KEYS[i]   the state of one limit for one key
-- ARGV[1]   charge, peek, refund or reset
-- ARGV[2]   for a charge: the time after which it is void; for a refund: the time of the charge, or 0 if it is only known
--           by the number of its permits; otherwise any number
-- ARGV[3]   the decisions, as numbers of two bytes: how many limits; for each of them, the key and the terms
-- then two for each of the terms: the notation of the limit; and, as doubles, the permits and the three parameters of its
--           algorithm, followed by any additional data
-- reply     the time, and ARGV[2], by which the client knows what is replied to; for each decision whether all limits
--           admitted (1 or 0) and the numbers of each limit's state; or, instead of these, -1 if an algorithm is not in
--           this script, -2 if a calendar does not include the time, or -2 - l if the key of its limit l holds a value
--           that no limit wrote. Nothing else if the charge is void
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
--   remove(permits, at, p1, p2, p3, s1, s2, s3, more) -> s1, s2, s3
--   used(p1, p2, p3, s1, s2, s3) -> permits
--   capacity(p1, p3) -> permits, unless that is p1
-- if a limit can use the state of another one of its kind directly,
--   adopt(p1, p2, p3, the other's p1, p2, p3 and s1, s2, s3, more) -> s1, s2, s3   or nil
--   held: whether a refund returns permits to another limit of this kind one by one, not in proportion
-- and, if the client needs other numbers than the state,
--   answer(permits, p1, p2, p3, s1, s2, s3) -> up to five numbers
--
-- Every instruction costs the server, so code that most decisions do not need is defined only when needed.

local call, sub, find, byte, ceil = redis.call, string.sub, string.find, string.byte, math.ceil
local pack, unpackFrom = struct.pack, struct.unpack
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local operation, question = ARGV[1], tonumber(ARGV[2])
if operation == 'reset' then
  call('DEL', unpack(KEYS))
  return {now, question, 1}
elseif operation == 'charge' and now > question then
  -- its caller has long been answered: this server, or what is between, has hung
  return {now, question}
end
local values = call('MGET', unpack(KEYS))

-- keys that hold a value that no limit wrote, by what to reply; one that is not a string reads as false
local unusable, absent = {}, {}
for i = 1, #KEYS do
  if not values[i] then
    absent[#absent + 1] = KEYS[i]
  end
end
if #absent > 0 and call('EXISTS', unpack(absent)) > 0 then
  for i = 1, #KEYS do
    unusable[i] = not values[i] and call('EXISTS', KEYS[i]) == 1 and -3
  end
end

-- limit l of a decision is about KEYS[keyOf[l]], on the terms ARGV[termsOf[l]] and the one after; lastOf[d] is the last
-- limit of decision d
local keyOf, termsOf, lastOf = {}, {}, {}
local at, limits = 1, 0
while at < #ARGV[3] do
  local high, low = byte(ARGV[3], at, at + 1)
  at = at + 2
  for l = limits + 1, limits + 256 * high + low do
    local keyHigh, keyLow, termsHigh, termsLow = byte(ARGV[3], at, at + 3)
    keyOf[l], termsOf[l] = 256 * keyHigh + keyLow, 2 * (256 * termsHigh + termsLow) + 2
    at, limits = at + 4, l
  end
  lastOf[#lastOf + 1] = limits
end

-- what the next decision reads; Redis gets the last value of each key
local written = {}
local function write(key, notation, state, untilFull)
  if not (untilFull < 9007199254740992) then
    -- before anything is written: the state was damaged
    error('no time')
  end
  values[key] = untilFull > 0 and notation .. state
  written[key] = untilFull
end
local function flush()
  for i, untilFull in pairs(written) do
    if values[i] then
      call('PSETEX', KEYS[i], ceil(untilFull / 1000), values[i])
    else
      -- it is full, which is the same as a new key
      call('DEL', KEYS[i])
    end
  end
end

local reply, size, decided = {now, question}, 2, 0
