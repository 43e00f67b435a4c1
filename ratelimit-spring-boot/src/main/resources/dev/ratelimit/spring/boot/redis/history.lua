-- Keeps the history of operators' changes, as the class History does; instances join what they know with it.
-- KEYS[1] a hash: "entries", lines with the oldest first, and "digest", the SHA-1 of these.
-- ARGV: an operation; the milliseconds for which the key lives; and then
--   READ: nothing. Returns the entries, and their digest, which somebody else may have written and is put right.
--   WRITE: the digest of the entries that the instance has read; that of the new ones; how many bytes at the beginning are
--     left out, -1 for all; and what is appended. Returns 1 if the entries were those that it has read, otherwise 0.
-- Before that, whether the key had a value of somebody else.
local key = KEYS[1]
local stored = redis.pcall('HMGET', key, 'entries', 'digest')
local foreign = stored.err ~= nil
if foreign then
  redis.call('DEL', key)
  stored = {}
end
local entries = stored[1] or ''

local answer, digest = entries, stored[2] or ''
if ARGV[1] == 'WRITE' then
  answer = '0'
  if digest == ARGV[3] then
    local dropped = tonumber(ARGV[5])
    redis.call('HSET', key, 'entries', (dropped < 0 and '' or string.sub(entries, dropped + 1)) .. ARGV[6])
    redis.call('HSET', key, 'digest', ARGV[4])
    redis.call('PEXPIRE', key, ARGV[2])
    answer = '1'
  end
elseif digest ~= '' or entries ~= '' then
  digest = entries == '' and '' or redis.sha1hex(entries)
  redis.call('HSET', key, 'digest', digest)
  redis.call('PEXPIRE', key, ARGV[2])
end
return {foreign and '1' or '0', answer, digest}
