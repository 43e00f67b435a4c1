
-- The most frequent decisions if all limits are token buckets: charges that all of them admit, without changed limits.
-- The same as below, without a function call per step, and without the text of a state that another decision reads.
-- The first other decision, and those after it, are left to the code below.
local permitsOf, fullOf, ticksOf, permitOf = {}, {}, {}, {}
for t = 4, #ARGV, 2 do
  permitsOf[t], fullOf[t], ticksOf[t], permitOf[t] = unpackFrom('>dddd', ARGV[t + 1])
end
local notationOf, fullAt, restOf, micros, debts = {}, {}, {}, {}, {}

local function chargeAll(first, last)
  for l = first, last do
    local key, t = keyOf[l], termsOf[l]
    if not notationOf[key] then
      local value = values[key]
      if not value then
        fullAt[key], restOf[key] = now, 0
      elseif #value == #ARGV[t] + 16 and find(value, ARGV[t], 1, true) == 1 then
        fullAt[key], restOf[key] = unpackFrom('>dd', value, #value - 15)
      end
      notationOf[key] = not unusable[key] and fullAt[key] and ARGV[t]
    end
    if notationOf[key] ~= ARGV[t] then
      return false
    end
    local debt = (fullAt[key] - now) * ticksOf[t] + restOf[key]
    if debt > fullOf[t] then
      return false
    end
    debt = (debt > 0 and debt or 0) + permitsOf[t] * permitOf[t]
    if debt > fullOf[t] or permitsOf[t] == 0 then
      return false
    end
    debts[l] = debt
  end
  reply[size + 1] = 1
  size = size + 2 - first
  for l = first, last do
    local key, ticks, debt = keyOf[l], ticksOf[termsOf[l]], debts[l]
    local rest = debt % ticks
    local whole = (debt - rest) / ticks
    fullAt[key], restOf[key], micros[key] = now + whole, rest, rest > 0 and whole + 1 or whole
    reply[size + l] = debt
  end
  size = size + last
  return true
end

while operation == 'charge' and decided < #lastOf and chargeAll((lastOf[decided] or 0) + 1, lastOf[decided + 1]) do
  decided = decided + 1
end
for key, untilFull in pairs(micros) do
  write(key, notationOf[key], pack('>dd', fullAt[key], restOf[key]), untilFull)
end
if decided == #lastOf then
  flush()
  return reply
end
