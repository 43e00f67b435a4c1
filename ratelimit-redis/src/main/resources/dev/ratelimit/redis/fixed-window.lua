
-- p1: the limit, p2: the longest window in microseconds
-- p3: 0 if the first permit opens a window, 1 if windows are multiples of their length, 2 if they follow a calendar;
-- more then contains its boundaries around now, as doubles
-- State, and s1 to s3: the end of the window, the permits taken in it, and its start.
algorithms.f = {
  read = function(value, from, limit, window, align, more)
    local start, ends
    if align == 0 or align == 2 and not more then
      -- the calendar of a former limit is unknown, and the start of its next window does not matter
      start, ends = now, now + window
    elseif align == 1 then
      start = now - math.fmod(now, window)
      ends = start + window
    else
      local at = 1
      while at < #more and (not ends or ends <= now) do
        start, ends, at = ends, unpackFrom('>d', more, at)
      end
      if not start or now < start or ends <= now then
        return nil
      end
    end
    if value then
      local to, count, began = unpackFrom('>ddd', value, from)
      if now < began then
        -- written before the clock was set back: the window begins now, and lasts one period
        return math.min(to, now + window), count, now, true
      elseif now < to then
        return to, count, began
      end
    end
    return ends, 0, start
  end,
  admits = function(permits, limit, window, align, ends, count)
    return count + permits <= limit
  end,
  add = function(permits, limit, window, align, ends, count, start)
    count = count + permits
    return pack('>ddd', ends, count, start), count == 0 and 0 or ends - now, ends, count, start
  end
}
if rare then
  algorithms.f.remove = function(permits, at, limit, window, align, ends, count, start)
    return ends, at < start and count or math.max(0, count - permits), start
  end
  algorithms.f.used = function(limit, window, align, ends, count)
    return count
  end
  algorithms.f.adopt = function(limit, window, align, formerLimit, formerWindow, formerAlign, ends, count, start)
    -- a window that is over has nothing to keep; the next one begins where those of this limit begin
    if count > 0 and (align == 0) == (formerAlign == 0) then
      ends = math.min(ends, now + window)
      return ends, share(count, limit, formerLimit), window == formerWindow and start or math.min(now, ends - window)
    end
  end
end
