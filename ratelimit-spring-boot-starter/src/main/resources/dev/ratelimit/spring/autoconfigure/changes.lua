-- The changes of policies that all instances share, and which instances there are.
-- KEYS[1] the key. ARGV: JOIN, REPLACE or LEAVE; the instance; the milliseconds for which it counts as running;
-- the version of its changes; its changes. Returns the version and the changes that are shared now.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local alive = tonumber(ARGV[3])
local version = tonumber(ARGV[4])

local stored = redis.call('MGET', KEYS[1])[1]
local state = stored and cjson.decode(stored) or {version = 0, changes = '', instances = {}}
for instance, seen in pairs(state.instances) do
  if seen < now - alive then
    state.instances[instance] = nil
  end
end

if ARGV[1] == 'LEAVE' then
  state.instances[ARGV[2]] = nil
  if next(state.instances) == nil then
    redis.call('DEL', KEYS[1])
    return {'0', ''}
  end
else
  state.instances[ARGV[2]] = now
  -- an instance that joins with a later version brings back what Redis has lost
  if (ARGV[1] == 'REPLACE' and state.version == version - 1) or (ARGV[1] == 'JOIN' and state.version < version) then
    state.version = version
    state.changes = ARGV[5]
  end
end
redis.call('PSETEX', KEYS[1], alive, cjson.encode(state))
return {tostring(state.version), state.changes}
