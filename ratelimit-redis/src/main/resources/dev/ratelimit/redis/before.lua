
local rare = operation == 'refund'
local algorithms = {}

for i = 1, #KEYS do
  local value = values[i]
  if not value then
    -- what is no string reads as nothing, and is not ours
    if call('EXISTS', KEYS[i]) == 1 then
      return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' holds what no limit has written')
    end
  elseif find(value, ARGV[2 * i + 1], 1, true) ~= 1 then
    rare = true
  end
end

local proportion, share
if rare then
  -- x * y / z for x up to z, rounded down, and what is left over
  function proportion(x, y, z)
    local quotient, rest, bit = 0, 0, 4503599627370496
    while bit >= 1 do
      quotient, rest = 2 * quotient, 2 * rest
      if y >= bit then
        y, rest = y - bit, rest + x
      end
      while rest >= z do
        quotient, rest = quotient + 1, rest - z
      end
      bit = bit / 2
    end
    return quotient, rest
  end

  -- as much of one whole as x is of another. Rounded up where there is less room and down where there is more, so that
  -- it stays where it is while instances with the old limit and with the new one take turns
  function share(x, whole, former)
    local part, rest = proportion(math.min(x, former), whole, former)
    return (rest > 0 and whole < former) and part + 1 or part
  end
end
