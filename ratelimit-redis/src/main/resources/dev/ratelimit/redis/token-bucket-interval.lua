
-- p1: the capacity, p2: the permits of a refill, p3: the microseconds between two
-- State, and a and b: the last refill that is accounted for, and the permits missing then.
algorithms.i = {
  read = function(text, capacity, refill, period)
    if not text then
      return now, 0
    end
    local from, missing = string.match(text, '^(%d+),(%d+)$')
    if now < tonumber(from) then
      return now, tonumber(missing), nil, true
    end
    local refills = math.floor((now - from) / period)
    if refills >= math.ceil(missing / refill) then
      return now, 0
    end
    return from + refills * period, missing - refills * refill
  end,
  admits = function(permits, capacity, refill, period, from, missing)
    return missing + permits <= capacity
  end,
  add = function(permits, capacity, refill, period, from, missing)
    return from, missing + permits
  end,
  write = function(capacity, refill, period, from, missing)
    local refills = math.ceil(missing / refill)
    return string.format('%.0f,%.0f', from, missing), refills == 0 and 0 or refills * period - (now - from)
  end
}
if refunds or changed then
  algorithms.i.remove = function(permits, at, capacity, refill, period, from, missing)
    return from, math.max(0, missing - permits)
  end
  algorithms.i.used = function(capacity, refill, period, from, missing)
    return missing
  end
end
