
-- whether a key has, or will have, a value of another limit than that of a decision about it
local rare = operation == 'refund'
local algorithms, notations = {}, {}
-- defined only if a limit has a penalty, or may have had one
local penalize, lengthOf, withoutPenalty
for l = 1, limits do
  local key, notation = keyOf[l], ARGV[termsOf[l]]
  if values[key] then
    rare = rare or find(values[key], notation, 1, true) ~= 1
  else
    rare = rare or notations[key] and notations[key] ~= notation
    notations[key] = notation
  end
end

local proportion, share
if rare then
  -- x * y / z for x up to z: the quotient, rounded down, and the remainder
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

  -- converts x of the former capacity to the same share of another. Rounded up if the capacity shrinks and down if it
  -- grows, so that it does not change while instances with the old limit and with the new one take turns
  function share(x, capacity, former)
    local part, rest = proportion(math.min(x, former), capacity, former)
    return (rest > 0 and capacity < former) and part + 1 or part
  end
end
