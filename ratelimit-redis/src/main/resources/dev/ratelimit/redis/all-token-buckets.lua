
-- The most frequent decision if all limits are token buckets: a charge that all of them admit, without changed limits.
-- The same as below, without a function call per step, which saves a tenth of the server's time per decision, commands
-- included. All other decisions are left to the code below.
local function chargeAll()
  local reply, paces = {1, now}, {}
  for i = 1, #KEYS do
    local permits, full, ticks, permit = unpackFrom('>dddd', ARGV[2 * i + 2])
    local value, debt = values[i], permits * permit
    if value then
      if find(value, ARGV[2 * i + 1], 1, true) ~= 1 then
        return nil
      end
      local at, rest = unpackFrom('>dd', value, #value - 15)
      local before = (at - now) * ticks + rest
      if before > full then
        return nil
      elseif before > 0 then
        debt = debt + before
      end
    elseif call('EXISTS', KEYS[i]) == 1 then
      return nil
    end
    if debt > full or permits == 0 then
      return nil
    end
    reply[i + 2], paces[i] = debt, ticks
  end
  for i = 1, #KEYS do
    local debt, ticks = reply[i + 2], paces[i]
    local rest = debt % ticks
    local micros = (debt - rest) / ticks
    write(KEYS[i], ARGV[2 * i + 1], pack('>dd', now + micros, rest), rest > 0 and micros + 1 or micros)
  end
  return reply
end
local charged = operation == 'charge' and chargeAll()
if charged then
  return charged
end
