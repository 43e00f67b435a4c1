-- Joins what an instance knows of operators' changes with what Redis knows, as the class Changes does.
-- KEYS[1] the key; KEYS[2] that of overrides.lua; KEYS[3] that of history.lua.
-- ARGV: JOIN, REPLACE (which takes the value for one of somebody else) or LEAVE; the instance; the milliseconds for which it
-- counts as running; what it knows; what it changes, if it knows everything.
-- Returns whether it did, whether the key had a value of somebody else, and everything that is known now; and the digest of all
-- overrides, the time in microseconds, and the digest of the history.
-- The value consists of lines: a name of two words, a time in microseconds, and a text, such as
-- "limit per-user 1764000000000000 50%2Fminute". A running instance is a line with the time when it was last heard.
local LINE = '(%S+ %S+) (%d+) (%S*)\n'
local INSTANCE = 'instance '

-- nil for a text of somebody else
local function read(text)
  local lines = {}
  for name, at, value in string.gmatch(text, LINE) do
    if #at > 16 then
      return nil
    end
    lines[name] = {at = tonumber(at), value = value}
  end
  return (string.gsub(text, LINE, '')) == '' and lines or nil
end

local function written(lines, name)
  return name .. ' ' .. string.format('%d', lines[name].at) .. ' ' .. lines[name].value .. '\n'
end

local function is_instance(name)
  return string.sub(name, 1, #INSTANCE) == INSTANCE
end

local function later(one, other)
  return not other or one.at > other.at or one.at == other.at and one.value > other.value
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local alive = tonumber(ARGV[3])
local me = INSTANCE .. ARGV[2]
local known = read(ARGV[4])

local stored = redis.call('MGET', KEYS[1])[1]
local all = ARGV[1] ~= 'REPLACE' and stored and read(stored)
local foreign = not all and (stored or redis.call('EXISTS', KEYS[1]) == 1)
all = all or {}

local complete, others, latest = true, false, 0
local listed = all[me] ~= nil
for name, line in pairs(all) do
  if is_instance(name) then
    if name == me or line.at < now - alive * 1000 then
      all[name] = nil
    else
      others = true
    end
  elseif later(line, known[name]) then
    complete = false
  end
end
for name, line in pairs(known) do
  if later(line, all[name]) then
    all[name] = line
  end
end

if ARGV[1] == 'LEAVE' then
  -- if Redis does not know that this instance runs, it has lost which others do
  if not others and (listed or next(all) == nil) then
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
    return {'0', '0', '', '', '0', ''}
  end
else
  if complete then
    for name, line in pairs(all) do
      if not is_instance(name) then
        latest = math.max(latest, line.at)
      end
    end
    for name, line in pairs(read(ARGV[5])) do
      all[name] = {at = math.max(now, latest + 1), value = line.value}
    end
  end
  all[me] = {at = now, value = ''}
end

local changes, value = '', ''
for name in pairs(all) do
  local line = written(all, name)
  value = value .. line
  if not is_instance(name) then
    changes = changes .. line
  end
end
redis.call('PSETEX', KEYS[1], alive, value)
local digest = redis.pcall('HMGET', KEYS[2], 'digest')[1] or ''
if digest ~= '' then
  redis.call('PEXPIRE', KEYS[2], alive)
end
local history = redis.pcall('HMGET', KEYS[3], 'digest')[1] or ''
if history ~= '' then
  redis.call('PEXPIRE', KEYS[3], alive)
end
return {complete and '1' or '0', foreign and '1' or '0', changes, digest, string.format('%d', now), history}
