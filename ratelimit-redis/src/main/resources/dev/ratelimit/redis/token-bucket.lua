
-- p1: a full bucket, p2: a microsecond, p3: a permit, all in ticks
-- State: the microsecond when the bucket is full again (GCRA's theoretical arrival time), and the ticks beyond it.
-- s1: the missing ticks of the bucket
algorithms.t = {
  read = function(value, from, full, ticks)
    if not value then
      return 0
    end
    local at, rest = unpackFrom('>dd', value, from)
    local debt = (at - now) * ticks + rest
    if debt > full then
      return full, nil, nil, true
    end
    return debt > 0 and debt or 0
  end,
  admits = function(permits, full, ticks, permit, debt)
    return debt + permits * permit <= full
  end,
  add = function(permits, full, ticks, permit, debt)
    debt = debt + permits * permit
    local rest = debt % ticks
    local micros = (debt - rest) / ticks
    return pack('>dd', now + micros, rest), rest > 0 and micros + 1 or micros, debt
  end
}
if rare then
  algorithms.t.capacity = function(full, permit)
    return full / permit
  end
  algorithms.t.remove = function(permits, at, full, ticks, permit, debt)
    return math.max(0, debt - permits * permit)
  end
  algorithms.t.used = function(full, ticks, permit, debt)
    return full / permit - math.floor((full - debt) / permit)
  end
  algorithms.t.adopt = function(full, _, _, formerFull, _, _, debt)
    return share(debt, full, formerFull)
  end
end
