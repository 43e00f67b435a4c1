-- Joins what an instance knows of operators' overrides of keys with what Redis knows, as the class Overrides does, but
-- only those parts that differ: keys are spread over 256 buckets, and each bucket has a digest.
-- KEYS[1] a hash: a field for each bucket, by its number, with lines such as
-- "per-user alice 1764000000000000 1764003600000000 blocked&&admin": two words, when it was accepted and when it ends in
-- microseconds, and a text; "digests", of all buckets; "digest", of these; and "forgotten".
-- ARGV: an operation; the milliseconds for which the key lives; when the last override ended that the instance has
-- forgotten; and then
--   COMPARE: nothing. Returns the digests.
--   JOIN: numbers of buckets, each with the lines that the instance knows. Returns the lines that are known now.
--   REPLACE: the same, but takes what the buckets have for values of somebody else.
--   SET: the digest of all that the instance knows; a moment after all those; the number of a bucket; and of a new line
--     what comes before the moment, the end (empty if that is the moment) and the text. It is accepted only if the
--     instance knows everything. Returns 1 and the moment then, otherwise 0.
-- Before that, what all instances have forgotten, and whether the key had a value of somebody else.
local BUCKETS = 256
local SIZE = 15
local EMPTY = string.rep('0', SIZE)
local LINE = '(%S+ %S+) (%d+) (%d+) (%S*)\n'
local key = KEYS[1]

local stored = redis.pcall('HMGET', key, 'forgotten', 'digests', 'digest')
local foreign = stored.err ~= nil
if foreign then
  redis.call('DEL', key)
  stored = {}
end
local forgotten = math.max(tonumber(ARGV[3]), tonumber(stored[1] or '') or 0)
local digests = stored[2]
if not digests or #digests ~= BUCKETS * SIZE then
  digests = string.rep(EMPTY, BUCKETS)
end

local function read(text)
  local lines = {}
  for name, at, ends, value in string.gmatch(text, LINE) do
    if #at > 16 or #ends > 16 then
      foreign = true
      return {}
    end
    lines[name] = {at = tonumber(at), ends = tonumber(ends), value = value}
  end
  if string.gsub(text, LINE, '') ~= '' then
    foreign = true
    return {}
  end
  return lines
end

-- texts are compared by their hashes, since the order of texts depends on the server's language
local function later(one, other)
  if not other or one.at ~= other.at then
    return not other or one.at > other.at
  end
  if one.ends ~= other.ends then
    return one.ends > other.ends
  end
  return one.value ~= other.value and redis.sha1hex(one.value) > redis.sha1hex(other.value)
end

local function stored_in(bucket)
  return read(redis.call('HMGET', key, bucket)[1] or '')
end

-- of lines in whatever order: the sum of 48 bits of each one's hash
local function put(bucket, lines)
  local text, sum = '', 0
  for name, line in pairs(lines) do
    if line.ends > forgotten then
      local written = name .. ' ' .. string.format('%d', line.at) .. ' ' .. string.format('%d', line.ends) .. ' '
          .. line.value .. '\n'
      text = text .. written
      sum = (sum + tonumber(string.sub(redis.sha1hex(written), 1, 12), 16)) % 281474976710656
    end
  end
  redis.call('HSET', key, bucket, text)
  local digest = string.format('%d', sum)
  local at = tonumber(bucket) * SIZE
  digests = string.sub(digests, 1, at) .. string.rep('0', SIZE - #digest) .. digest .. string.sub(digests, at + SIZE + 1)
  return text
end

local function finish()
  local none = digests == string.rep(EMPTY, BUCKETS)
  redis.call('HSET', key, 'digests', digests)
  redis.call('HSET', key, 'digest', none and '' or redis.sha1hex(digests))
  redis.call('HSET', key, 'forgotten', string.format('%d', forgotten))
  redis.call('PEXPIRE', key, ARGV[2])
end

local reply = {string.format('%d', forgotten), ''}
if ARGV[1] == 'COMPARE' then
  -- somebody else may have written the digest of digests
  finish()
  table.insert(reply, digests)
elseif ARGV[1] == 'JOIN' or ARGV[1] == 'REPLACE' then
  foreign = foreign or ARGV[1] == 'REPLACE'
  for i = 4, #ARGV, 2 do
    local lines = ARGV[1] == 'JOIN' and stored_in(ARGV[i]) or {}
    for name, line in pairs(read(ARGV[i + 1])) do
      if later(line, lines[name]) then
        lines[name] = line
      end
    end
    -- also if nothing is new, since somebody else may have written the digest
    table.insert(reply, put(ARGV[i], lines))
  end
  finish()
elseif (stored[3] or '') == ARGV[4] then
  local time = redis.call('TIME')
  local at = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[5]))
  local lines = stored_in(ARGV[6])
  lines[ARGV[7]] = {at = at, ends = tonumber(ARGV[8]) or at, value = ARGV[9]}
  put(ARGV[6], lines)
  finish()
  table.insert(reply, '1')
  table.insert(reply, string.format('%d', at))
else
  table.insert(reply, '0')
end
reply[2] = foreign and '1' or '0'
return reply
