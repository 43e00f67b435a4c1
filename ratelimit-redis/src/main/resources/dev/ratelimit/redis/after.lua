
local function capacity(kind, p1, p3)
  return kind == 't' and p1 / p3 or p1
end

-- what the limit that wrote this value was: algorithm, notation, capacity, p1, p2, p3, and its state
local function former(value)
  local notation, kind, p1, p2, p3 = string.match(value, '^((%a);(%d+);(%d+);([^;]*);)')
  local algorithm = algorithms[kind]
  if not algorithm then
    return nil, notation
  end
  p1, p2, p3 = tonumber(p1), tonumber(p2), tonumber(p3) or p3
  if kind == 'f' then
    p3 = 'first' -- where a window that is over would begin is of no matter
  end
  return algorithm, notation, capacity(kind, p1, p3), p1, p2, p3,
    algorithm.read(string.sub(value, #notation + 1), p1, p2, p3)
end

-- the state of a limit that takes over from another
local function adopt(value, notation, p1, p2, p3)
  local old, oldNotation, oldCapacity, o1, o2, o3, a, b, c = former(value)
  local kind = string.sub(notation, 1, 1)
  local algorithm = algorithms[kind]
  if old == algorithm and algorithm.adopt then
    local alike = string.match(notation, '^%a;%d+(.*)') == string.match(oldNotation, '^%a;%d+(.*)')
    local x, y, z = algorithm.adopt(p1, o1, alike, a, b, c)
    if x then
      return x, y, z
    end
  end
  local used = share(old.used(o1, o2, o3, a, b, c), capacity(kind, p1, p3), oldCapacity)
  return algorithm.add(used, p1, p2, p3, algorithm.read(nil, p1, p2, p3))
end

local function write(key, notation, algorithm, p1, p2, p3, a, b, c)
  local text, micros = algorithm.write(p1, p2, p3, a, b, c)
  if micros > 0 then
    redis.call('SET', key, notation .. text, 'PX', math.ceil(micros / 1000))
  else
    -- it is full: that says no more than a key never seen
    redis.call('DEL', key)
  end
end

if changed then
  for i, value in ipairs(values) do
    if value and string.find(value, ARGV[5 * i - 2], 1, true) ~= 1 then
      local known, notation = former(value)
      if not notation then
        return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' holds what no limit has written')
      elseif not known then
        return {-1}
      end
    end
  end
end

if refunds then
  local at = tonumber(ARGV[2])
  for i, key in ipairs(KEYS) do
    local value, notation, permits = values[i], ARGV[5 * i - 2], tonumber(ARGV[5 * i - 1])
    if value then
      local algorithm, written, whole, p1, p2, p3, a, b, c = former(value)
      if written ~= notation then
        local kind = string.sub(notation, 1, 1)
        local most = capacity(kind, tonumber(ARGV[5 * i]), tonumber(ARGV[5 * i + 2]))
        local kept, rest = proportion(most - permits, whole, most)
        permits = whole - kept - (rest > 0 and 1 or 0)
      end
      write(key, written, algorithm, p1, p2, p3, algorithm.remove(permits, at, p1, p2, p3, a, b, c))
    end
  end
  return {1, now}
end

local as, bs, cs, all, anyStale = {}, {}, {}, 1, false
for i, value in ipairs(values) do
  local from = 5 * i - 2
  local notation, permits = ARGV[from], tonumber(ARGV[from + 1])
  local p1, p2, p3 = tonumber(ARGV[from + 2]), tonumber(ARGV[from + 3]), tonumber(ARGV[from + 4]) or ARGV[from + 4]
  local algorithm = algorithms[string.sub(notation, 1, 1)]
  local a, b, c, stale
  if not value then
    a, b, c = algorithm.read(nil, p1, p2, p3)
  elseif string.find(value, notation, 1, true) == 1 then
    a, b, c, stale = algorithm.read(string.sub(value, #notation + 1), p1, p2, p3)
  else
    a, b, c = adopt(value, notation, p1, p2, p3)
  end
  if not a then
    return {-2, now}
  end
  if not algorithm.admits(permits, p1, p2, p3, a, b, c) then
    all = 0
  end
  as[i], bs[i], cs[i], anyStale = a, b, c, anyStale or stale
  ARGV[from + 1], ARGV[from + 2], ARGV[from + 3], ARGV[from + 4] = permits, p1, p2, p3
end

local reply = {all, now}
local charges = ARGV[1] == 'charge'
for i, key in ipairs(KEYS) do
  local from = 5 * i - 2
  local notation, permits, p1, p2, p3 = ARGV[from], ARGV[from + 1], ARGV[from + 2], ARGV[from + 3], ARGV[from + 4]
  local algorithm = algorithms[string.sub(notation, 1, 1)]
  local a, b, c = as[i], bs[i], cs[i]
  if charges and all == 1 and permits > 0 then
    a, b, c = algorithm.add(permits, p1, p2, p3, a, b, c)
    write(key, notation, algorithm, p1, p2, p3, a, b, c)
  elseif charges and anyStale then
    write(key, notation, algorithm, p1, p2, p3, a, b, c)
  end
  local d
  if algorithm.answer then
    a, b, c, d = algorithm.answer(permits, p1, p2, p3, a, b, c)
  end
  local size = #reply
  reply[size + 1], reply[size + 2], reply[size + 3], reply[size + 4] = a, b, c, d
end
return reply
