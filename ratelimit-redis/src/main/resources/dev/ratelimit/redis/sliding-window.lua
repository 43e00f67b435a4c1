
-- p1: the limit, p2: the window in microseconds, p3: 1 to round the estimate down, otherwise 0
-- State, and s1 to s3: the start of the current window, and the permits of the previous and of the current one.

-- the exact product of two numbers as the sum of two (Dekker 1971)
local function product(x, y)
  local high, other = 134217729 * x, 134217729 * y
  high, other = high - (high - x), other - (other - y)
  local low, rest, all = x - high, y - other, x * y
  return all, ((high * other - all) + high * rest + low * other) + low * rest
end

-- whether x * y <= z * w
local function atMost(x, y, z, w)
  local left, right = x * y, z * w
  if left < 4503599627370496 and right < 4503599627370496 then
    return left <= right
  end
  local leftRest, rightRest
  left, leftRest = product(x, y)
  right, rightRest = product(z, w)
  return left < right or left == right and leftRest <= rightRest
end

algorithms.s = {
  read = function(value, from, limit, window)
    if not value then
      return now, 0, 0
    end
    local start, previous, current = unpackFrom('>ddd', value, from)
    if now < start then
      return now, previous, current, true
    elseif now - start >= 2 * window then
      return now, 0, 0
    elseif now - start >= window then
      start, previous, current = start + window, current, 0
    end
    if previous == 0 and current == 0 then
      start = now
    end
    return start, previous, current
  end,
  admits = function(permits, limit, window, rounding, start, previous, current)
    local free, covered = limit - current - permits, window - (now - start)
    if free < 0 then
      return false
    elseif rounding == 0 then
      return atMost(previous, covered, free, window)
    end
    return not atMost(free + 1, window, previous, covered)
  end,
  add = function(permits, limit, window, rounding, start, previous, current)
    current = current + permits
    local windows = current > 0 and 2 or previous > 0 and 1 or 0
    return pack('>ddd', start, previous, current), windows == 0 and 0 or windows * window - (now - start),
      start, previous, current
  end
}
if rare then
  algorithms.s.remove = function(permits, at, limit, window, rounding, start, previous, current)
    if at >= start then
      return start, previous, math.max(0, current - permits)
    elseif start - at <= window then
      return start, math.max(0, previous - permits), current
    end
    return start, previous, current
  end
  algorithms.s.used = function(limit, window, rounding, start, previous, current)
    local weight, rest = proportion(window - (now - start), previous, window)
    if rest > 0 and rounding == 0 then
      weight = weight + 1
    end
    return math.min(limit, current + weight)
  end
  algorithms.s.adopt = function(limit, window, _, formerLimit, formerWindow, _, start, previous, current)
    -- the same part of the window is over
    start = now - proportion(now - start, window, formerWindow)
    return start, share(previous, limit, formerLimit), share(current, limit, formerLimit)
  end
end
