
-- p1: the limit, p2: how long a permit can be held, in microseconds; in addition, a number of 8 bytes that identifies the
-- charge, and with it the permits that its refund returns, whatever the clocks did in the meantime. 0 if nobody will refund
-- them, because a limit of another kind charged them
-- State: the times of the permits that are held, as in a sliding log, whose file comes before this one, then the numbers of
-- their charges. s1: the times, s2: the numbers, s3: the number of this charge. Another limit of this kind takes over the
-- permits themselves, not a share of them.
local heldTimes = algorithms.l
algorithms.c = {
  read = function(value, from, limit, hold, _, more)
    local middle = value and (#value + from - 1) / 2
    local times, _, _, stale = heldTimes.read(value and sub(value, 1, middle), from, limit, hold)
    return times, value and sub(value, #value + 1 - #times) or '', more, stale
  end,
  admits = heldTimes.admits,
  add = function(permits, limit, hold, _, times, numbers, number)
    local held, untilFull = heldTimes.add(permits, limit, hold, _, times)
    numbers = permits > 0 and numbers .. string.rep(number or pack('>d', 0), permits) or numbers
    return held .. numbers, untilFull, held, numbers, number
  end,
  answer = heldTimes.answer
}
if rare then
  algorithms.c.remove = function(permits, _, limit, hold, _, times, numbers, _, number)
    local from = number and find(numbers, number, 1, true)
    while from and from % 8 ~= 1 do
      from = find(numbers, number, from + 1, true)
    end
    if not from then
      -- it has come back already, or was never charged
      return times, numbers
    end
    -- the permits of a charge lie side by side
    local to = from
    while to < from + 8 * permits and sub(numbers, to, to + 7) == number do
      to = to + 8
    end
    return sub(times, 1, from - 1) .. sub(times, to), sub(numbers, 1, from - 1) .. sub(numbers, to)
  end
  algorithms.c.used = heldTimes.used
  algorithms.c.held = true
  algorithms.c.adopt = function(limit, hold, _, _, _, _, times, numbers, _, more)
    local expired = 8 * firstAfter(times, now - hold)
    return sub(times, expired + 1), sub(numbers, expired + 1), more
  end
end
