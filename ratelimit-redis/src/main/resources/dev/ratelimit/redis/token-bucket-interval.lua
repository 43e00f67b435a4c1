
-- p1: the capacity, p2: the permits of a refill, p3: the microseconds between two refills
-- State, and s1 and s2: the time of the last refill so far, and the permits missing after it.
algorithms.i = {
  read = function(value, from, capacity, refill, period)
    if not value then
      return now, 0
    end
    local last, missing = unpackFrom('>dd', value, from)
    if now < last then
      return now, missing, nil, true
    end
    local refills = math.floor((now - last) / period)
    if refills >= ceil(missing / refill) then
      return now, 0
    end
    return last + refills * period, missing - refills * refill
  end,
  admits = function(permits, capacity, refill, period, last, missing)
    return missing + permits <= capacity
  end,
  add = function(permits, capacity, refill, period, last, missing)
    missing = missing + permits
    local refills = ceil(missing / refill)
    return pack('>dd', last, missing), refills == 0 and 0 or refills * period - (now - last), last, missing
  end
}
if rare then
  algorithms.i.remove = function(permits, at, capacity, refill, period, last, missing)
    return last, math.max(0, missing - permits)
  end
  algorithms.i.adopt = function(capacity, refill, period, formerCapacity, formerRefill, formerPeriod, last, missing)
    -- the next refill comes when it would have
    return missing == 0 and now or math.min(now, last + formerPeriod - period), share(missing, capacity, formerCapacity)
  end
  algorithms.i.used = function(capacity, refill, period, last, missing)
    return missing
  end
end
