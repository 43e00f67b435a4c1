-- Keeps what operators change, for all instances; the class RedisChanges asks.
-- KEYS: the hash of policies and that of overrides of keys, each with a text by name; the history, a list with the latest entry
-- first; and a hash with "version", the moment of the last change in microseconds, and with each running instance, and when
-- that was last heard.
-- ARGV: an operation; the instance, empty if it has left; the milliseconds for which it counts as running; and then
--   READ: the state that it knows. Returns everything if the state is another one.
--   PUT: 1 or 2 for a hash; a name; its text, which the instance knows; the next one; how long it lasts, in microseconds; an
--     entry of the history; and until when it may be done, in microseconds. A text is empty if there is none. The bytes 1 and 2
--     are replaced by the moment and by the end. Returns the moment and the next state if the name has this text; an empty text
--     if it is too late; otherwise nothing.
--   END: 1 or 2, a name, its text, the rest and the end; as often as one likes. Returns for each whether the end is still to come.
--   REPLACE: the state that the instance has read; a version; and all contents, each with its number before it. Returns the next
--     state if the state is that one; otherwise nothing.
--   LEAVE: nothing. Deletes everything with the last instance. Returns nothing if Redis has forgotten who runs.
-- Before that, the key that had a value of somebody else, the state and the time in microseconds.
local HISTORY = 3
local MAX_HISTORY = 1000

local foreign = ''
for i, key in ipairs(KEYS) do
  if type(redis.pcall(i == HISTORY and 'LLEN' or 'HLEN', key)) == 'table' then
    redis.call('DEL', key)
    foreign = key
  end
end

local function whole(number)
  return string.format('%d', number)
end

-- 0 if there is none, or a foreign one
local function versionNow()
  return tonumber(redis.call('HMGET', KEYS[4], 'version')[1] or '') or 0
end

-- the sizes tell if Redis has lost one of the keys
local function state()
  return whole(versionNow()) .. ' ' .. whole(redis.call('HLEN', KEYS[1])) .. ' '
      .. whole(redis.call('HLEN', KEYS[2])) .. ' ' .. whole(redis.call('LLEN', KEYS[3]))
end

local function set(hash, name, text)
  if text == '' then
    redis.call('HDEL', KEYS[tonumber(hash)], name)
  else
    redis.call('HSET', KEYS[tonumber(hash)], name, text)
  end
end

local function text(hash, name)
  return redis.call('HMGET', KEYS[tonumber(hash)], name)[1] or ''
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local version = versionNow()
local before = state()
local reply = {foreign, before, whole(now)}

-- whether Redis knows this instance, and another one; those that were killed are forgotten
local function running()
  local me, others = false, false
  local fields = redis.call('HGETALL', KEYS[4])
  for i = 1, #fields, 2 do
    if fields[i] == ARGV[2] then
      me = true
    elseif fields[i] ~= 'version' then
      if (tonumber(fields[i + 1]) or 0) < now - tonumber(ARGV[3]) * 1000 then
        redis.pcall('HDEL', KEYS[4], fields[i])
      else
        others = true
      end
    end
  end
  return me, others
end

if ARGV[1] == 'READ' then
  running()
  if ARGV[2] ~= '' then
    -- a server that refuses to write, because its memory is full for example, can be read
    redis.pcall('HSET', KEYS[4], ARGV[2], whole(now))
  end
  if before ~= ARGV[4] then
    for i = 1, 3 do
      local all = i == HISTORY and redis.call('LRANGE', KEYS[i], 0, -1) or redis.call('HGETALL', KEYS[i])
      table.insert(reply, whole(#all))
      for _, one in ipairs(all) do
        table.insert(reply, one)
      end
    end
  end
elseif ARGV[1] == 'PUT' then
  if now > tonumber(ARGV[10]) then
    -- whoever asked has been told that nothing is changed: this server, or what is between, has hung
    table.insert(reply, '')
  elseif text(ARGV[4], ARGV[5]) == ARGV[6] then
    local at = math.max(now, version + 1)
    local function accepted(asked)
      return (string.gsub(string.gsub(asked, '\1', whole(at)), '\2', whole(now + tonumber(ARGV[8]))))
    end
    set(ARGV[4], ARGV[5], accepted(ARGV[7]))
    redis.call('LPUSH', KEYS[HISTORY], accepted(ARGV[9]))
    redis.call('LTRIM', KEYS[HISTORY], 0, MAX_HISTORY - 1)
    redis.call('HSET', KEYS[4], 'version', whole(at))
    table.insert(reply, whole(at))
    table.insert(reply, state())
  end
elseif ARGV[1] == 'END' then
  for i = 4, #ARGV, 5 do
    local due = tonumber(ARGV[i + 4]) <= now
    if due and text(ARGV[i], ARGV[i + 1]) == ARGV[i + 2] then
      set(ARGV[i], ARGV[i + 1], ARGV[i + 3])
    end
    table.insert(reply, due and '' or '1')
  end
elseif ARGV[1] == 'REPLACE' then
  if before == ARGV[4] then
    local at = 6
    for i = 1, 3 do
      redis.call('DEL', KEYS[i])
      local last = at + tonumber(ARGV[at])
      for first = at + 1, last, 1000 do
        redis.call(i == HISTORY and 'RPUSH' or 'HSET', KEYS[i], unpack(ARGV, first, math.min(last, first + 999)))
      end
      at = last + 1
    end
    redis.call('HSET', KEYS[4], 'version', whole(math.max(version, tonumber(ARGV[5]))))
    table.insert(reply, state())
  end
elseif ARGV[1] == 'LEAVE' then
  local me, others = running()
  redis.call('HDEL', KEYS[4], ARGV[2])
  if me then
    table.insert(reply, '1')
    if not others then
      redis.call('DEL', unpack(KEYS))
    end
  end
end
for _, key in ipairs(KEYS) do
  redis.pcall('PEXPIRE', key, ARGV[3])
end
return reply
