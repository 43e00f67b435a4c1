
local capacity, former, adopt
if rare then
  function capacity(kind, p1, p3)
    return kind == 't' and p1 / p3 or p1
  end

  -- what the limit that wrote this value was: its algorithm, notation, capacity and parameters, and the state
  function former(value)
    local notation, kind, p1, p2, p3 = string.match(value, '^((%a);(%d+);(%d+);(%d+);[^;]*;)')
    local algorithm = algorithms[kind]
    if not algorithm then
      return nil, notation
    end
    p1, p2, p3 = tonumber(p1), tonumber(p2), tonumber(p3)
    if kind == 'f' then
      p3 = 0 -- when the next window would begin is of no matter
    end
    return algorithm, notation, capacity(kind, p1, p3), p1, p2, p3, algorithm.read(value, #notation + 1, p1, p2, p3)
  end

  -- the state of a limit that takes over from another
  function adopt(value, notation, p1, p2, p3, more)
    local old, oldNotation, oldCapacity, o1, o2, o3, a, b, c = former(value)
    local kind = sub(notation, 1, 1)
    local algorithm = algorithms[kind]
    if old == algorithm and algorithm.adopt then
      local alike = string.match(notation, '^%a;%d+(.*)') == string.match(oldNotation, '^%a;%d+(.*)')
      local x, y, z = algorithm.adopt(p1, o1, alike, a, b, c)
      if x then
        return x, y, z
      end
    end
    local used = share(old.used(o1, o2, o3, a, b, c), capacity(kind, p1, p3), oldCapacity)
    a, b, c = algorithm.read(nil, 1, p1, p2, p3, more)
    if a then
      return select(3, algorithm.add(used, p1, p2, p3, a, b, c))
    end
  end

  for i, value in ipairs(values) do
    if value then
      local known, notation = former(value)
      if not notation then
        return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' holds what no limit has written')
      elseif not known then
        return {-1}
      end
    end
  end
end

if operation == 'refund' then
  local at = tonumber(ARGV[2])
  for i, key in ipairs(KEYS) do
    if values[i] then
      local permits, p1, p2, p3 = unpackFrom('>dddd', ARGV[2 * i + 2])
      local algorithm, written, whole, o1, o2, o3, a, b, c = former(values[i])
      if written ~= ARGV[2 * i + 1] then
        local most = capacity(sub(ARGV[2 * i + 1], 1, 1), p1, p3)
        local kept, rest = proportion(most - permits, whole, most)
        permits = whole - kept - (rest > 0 and 1 or 0)
      end
      a, b, c = algorithm.remove(permits, at, o1, o2, o3, a, b, c)
      write(key, written, algorithm.add(0, o1, o2, o3, a, b, c))
    end
  end
  return {1, now}
end

local reply, states, times = {1, now}, {false, false, false, false}, {0, 0, 0, 0}

-- how all limits stand, with the permits taken or only asked for; false as soon as they cannot be taken, nil when a
-- calendar does not reach this time
local function try(take)
  local size = 2
  for i = 1, #KEYS do
    local value, notation, numbers = values[i], ARGV[2 * i + 1], ARGV[2 * i + 2]
    local permits, p1, p2, p3 = unpackFrom('>dddd', numbers)
    local algorithm, more = algorithms[sub(notation, 1, 1)], #numbers > 32 and sub(numbers, 33)
    local a, b, c, d, stale
    if rare and value and find(value, notation, 1, true) ~= 1 then
      -- kept even if this is refused: else it would come back at the former limit's pace, not as the answer says
      a, b, c = adopt(value, notation, p1, p2, p3, more)
      stale = true
    else
      a, b, c, stale = algorithm.read(value, #notation + 1, p1, p2, p3, more)
    end
    if not a then
      return nil
    elseif not algorithm.admits(permits, p1, p2, p3, a, b, c) then
      if take then
        return false
      end
      reply[1] = 0
    end
    if take then
      states[i], times[i], a, b, c = algorithm.add(permits, p1, p2, p3, a, b, c)
      states[i] = (permits > 0 or stale) and states[i]
    elseif stale and operation == 'charge' then
      write(KEYS[i], notation, algorithm.add(0, p1, p2, p3, a, b, c))
    end
    if algorithm.answer then
      a, b, c, d = algorithm.answer(permits, p1, p2, p3, a, b, c)
    end
    reply[size + 1], reply[size + 2], reply[size + 3], reply[size + 4] = a, b, c, d
    size = size + (d and 4 or c and 3 or b and 2 or 1)
  end
  return true
end

if operation == 'charge' and try(true) then
  for i = 1, #KEYS do
    if states[i] then
      write(KEYS[i], ARGV[2 * i + 1], states[i], times[i])
    end
  end
  return reply
end
reply = {1, now}
return try(false) and reply or {-2, now}
