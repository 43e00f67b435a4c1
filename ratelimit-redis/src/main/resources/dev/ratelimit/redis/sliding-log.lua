
-- p1: the limit, p2: the window in microseconds
-- State, and s1: the times of the admitted permits in order, each a double of 8 bytes; s1 has only those in the window.
local function timeAt(times, index)
  return (unpackFrom('>d', times, 8 * index + 1))
end

-- the index of the first later time: a binary search
local function firstAfter(times, time)
  local low, high = 0, #times / 8
  while low < high do
    local middle = math.floor((low + high) / 2)
    if timeAt(times, middle) > time then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

algorithms.l = {
  read = function(value, from, limit, window)
    local times, stale = value and sub(value, from) or '', false
    local future = firstAfter(times, now)
    if 8 * future < #times then
      times, stale = sub(times, 1, 8 * future) .. string.rep(pack('>d', now), #times / 8 - future), true
    end
    return sub(times, 8 * firstAfter(times, now - window) + 1), nil, nil, stale
  end,
  admits = function(permits, limit, window, _, times)
    return #times / 8 + permits <= limit
  end,
  add = function(permits, limit, window, _, times)
    times = times .. string.rep(pack('>d', now), permits)
    return times, #times == 0 and 0 or timeAt(times, #times / 8 - 1) + window - now, times
  end,
  -- the number of times; the ones that must expire to admit the permits, and one more than remain; the last. More than the
  -- limit may be in a concurrency limit that was lowered
  answer = function(permits, limit, window, _, times)
    local count = #times / 8
    if count == 0 then
      return 0, 0, 0, 0
    end
    local waits = math.max(0, math.min(count - 1, count + permits - limit - 1))
    return count, timeAt(times, waits), timeAt(times, math.max(0, count - limit)), timeAt(times, count - 1)
  end
}
if rare then
  algorithms.l.remove = function(permits, at, limit, window, _, times)
    if at <= now - window then
      return times
    end
    -- the permits of that time
    local to = firstAfter(times, at)
    local from = math.max(firstAfter(times, at - 1), to - permits)
    return sub(times, 1, 8 * from) .. sub(times, 8 * to + 1)
  end
  algorithms.l.used = function(limit, window, _, times)
    return #times / 8
  end
  algorithms.l.adopt = function(limit, window, _, formerLimit, formerWindow, _, times)
    local used = math.min(#times / 8, formerLimit)
    local kept, earlier = {}, window - formerWindow
    local shared = share(used, limit, formerLimit)
    for i = shared, 1, -1 do
      -- of as many used permits as i remain in use, so that waiting and converting can be exchanged
      local rank = limit > formerLimit and ceil(i * formerLimit / limit)
        or math.floor((i - 1) * formerLimit / limit) + 1
      kept[#kept + 1] = pack('>d', math.min(now, timeAt(times, #times / 8 - rank) - earlier))
    end
    return table.concat(kept)
  end
end
