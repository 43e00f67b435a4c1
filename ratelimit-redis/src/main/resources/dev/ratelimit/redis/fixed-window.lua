
-- p1: the limit, p2: the window in microseconds
-- p3: first, where the first permit opens a window; clock, where windows are multiples of their length; else windows
-- follow a calendar, and these are its boundaries around now, separated by commas
-- State, and a, b and c: the end of the window, the permits taken in it, and its start.
algorithms.f = {
  read = function(text, limit, window, align)
    local start, ends
    if align == 'first' then
      start, ends = now, now + window
    elseif align == 'clock' then
      start = now - math.fmod(now, window)
      ends = start + window
    else
      for boundary in string.gmatch(align, '%d+') do
        if not ends or ends <= now then
          start, ends = ends, tonumber(boundary)
        end
      end
      if not start or now < start or ends <= now then
        return nil
      end
    end
    if text then
      local to, count, from = string.match(text, '^(%d+),(%d+),(%d+)$')
      if now < tonumber(from) then
        return ends, tonumber(count), start, true
      elseif now < tonumber(to) then
        return tonumber(to), tonumber(count), tonumber(from)
      end
    end
    return ends, 0, start
  end,
  admits = function(permits, limit, window, align, ends, count)
    return count + permits <= limit
  end,
  add = function(permits, limit, window, align, ends, count, start)
    return ends, count + permits, start
  end,
  write = function(limit, window, align, ends, count, start)
    return string.format('%.0f,%.0f,%.0f', ends, count, start), count == 0 and 0 or ends - now
  end
}
if refunds or changed then
  algorithms.f.remove = function(permits, at, limit, window, align, ends, count, start)
    return ends, at < start and count or math.max(0, count - permits), start
  end
  algorithms.f.used = function(limit, window, align, ends, count)
    return count
  end
  algorithms.f.adopt = function(limit, formerLimit, alike, ends, count, start)
    if alike then
      return ends, share(count, limit, formerLimit), start
    end
  end
end
