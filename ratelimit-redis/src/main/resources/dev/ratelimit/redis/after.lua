
local capacity, former, adopt
if rare then
  function capacity(algorithm, p1, p3)
    return algorithm.capacity and algorithm.capacity(p1, p3) or p1
  end

  -- the limit that wrote this value: its algorithm, notation, capacity and parameters, then the result of its read
  function former(value)
    local notation, kind, p1, p2, p3 = string.match(value, '^((%a);(%d+);(%d+);(%d+);[^;]*;)')
    local algorithm = algorithms[kind]
    if not algorithm then
      return nil, notation
    end
    if algorithm.inside and not find(notation, '!%d+;$') then
      -- no penalty has this notation
      return nil
    end
    p1, p2, p3 = tonumber(p1), tonumber(p2), tonumber(p3)
    local whole = capacity(algorithm, p1, p3)
    local most = 9223372036854775807
    if p1 > most or p2 > most or p3 > most or p2 < 1 or not (whole >= 1 and whole <= most) then
      -- no limit has this notation; dividing by these numbers might not end
      return nil
    end
    return algorithm, notation, whole, p1, p2, p3, algorithm.read(value, #notation + 1, p1, p2, p3)
  end

  -- converts the state of another limit to this one; the first result is the time until it is full under the other
  function adopt(key, value, notation, p1, p2, p3, more)
    local old, oldNotation, oldCapacity, old1, old2, old3, s1, s2, s3, stale = former(value)
    local algorithm = algorithms[sub(notation, 1, 1)]
    local state, micros = old.add(0, old1, old2, old3, s1, s2, s3)
    if stale then
      -- a refusal leaves the key under the former limit
      write(key, oldNotation, state, micros)
    end
    local penalty, outside = 0, algorithm.inside and algorithm
    if old.inside then
      if outside and s1[1] > 0 then
        -- a shorter penalty counts from the same refusal
        penalty = s1[1] - math.max(0, lengthOf(oldNotation) - lengthOf(notation))
      end
      old, oldNotation, s1, s2, s3 = old.inside, withoutPenalty(oldNotation), s1[2], s1[3], s1[4]
    end
    if outside then
      algorithm, notation = outside.inside, withoutPenalty(notation)
    end
    local new1, new2, new3
    if old == algorithm and algorithm.adopt then
      new1, new2, new3 = algorithm.adopt(p1, p2, p3, old1, old2, old3, s1, s2, s3, more)
    end
    if not new1 then
      local used = share(old.used(old1, old2, old3, s1, s2, s3), capacity(algorithm, p1, p3), oldCapacity)
      new1, new2, new3 = algorithm.read(nil, 1, p1, p2, p3, more)
      if new1 then
        new1, new2, new3 = select(3, algorithm.add(used, p1, p2, p3, new1, new2, not algorithm.held and new3))
        new3 = algorithm.held and more or new3
      end
    end
    if outside then
      new1 = new1 and {penalty, new1, new2, new3}
    end
    return micros, new1, new2, new3
  end

  for i, value in ipairs(values) do
    if value then
      local known, notation = former(value)
      unusable[i] = not notation and -3 or not known and -1
    end
  end
end

-- the reply about a decision that limit l, counted from its first, leaves undecided
local function undecided(why, l)
  return why == -3 and -2 - l or why
end

if operation == 'refund' then
  for l = 1, limits do
    local key, notation, numbers = keyOf[l], ARGV[termsOf[l]], ARGV[termsOf[l] + 1]
    if unusable[key] then
      return {now, question, undecided(unusable[key], l)}
    elseif values[key] then
      local permits, p1, p2, p3 = unpackFrom('>dddd', numbers)
      local algorithm, written, oldCapacity, old1, old2, old3, s1, s2, s3 = former(values[key])
      local chargedAlgorithm = algorithms[sub(notation, 1, 1)]
      local held = algorithm.held and chargedAlgorithm.held
      if written ~= notation and not held then
        local chargedCapacity = capacity(chargedAlgorithm, p1, p3)
        local kept, rest = proportion(chargedCapacity - permits, oldCapacity, chargedCapacity)
        permits = oldCapacity - kept - (rest > 0 and 1 or 0)
      end
      if held or question > 0 then
        s1, s2, s3 = algorithm.remove(permits, question, old1, old2, old3, s1, s2, s3, held and sub(numbers, 33))
        write(key, written, algorithm.add(0, old1, old2, old3, s1, s2, s3))
      end
    end
  end
  flush()
  return {now, question, 1}
end

local states, times, asked, refused = {}, {}, {}, {}
local onlyByChanged

-- adds the numbers of these limits to the reply, after taking the permits or only asking for them. Returns false as soon
-- as they cannot be taken, a negative number if they cannot be decided, otherwise true. Afterwards, states are to be
-- written
local function try(first, last, take)
  local verdict = size + 1
  reply[verdict], size = 1, verdict
  for l = first, last do
    local key, notation, numbers = keyOf[l], ARGV[termsOf[l]], ARGV[termsOf[l] + 1]
    if unusable[key] then
      return undecided(unusable[key], l - first + 1)
    end
    local value = values[key]
    local permits, p1, p2, p3 = unpackFrom('>dddd', numbers)
    local algorithm, more = algorithms[sub(notation, 1, 1)], #numbers > 32 and sub(numbers, 33)
    local s1, s2, s3, s4, stale, before
    if rare and value and find(value, notation, 1, true) ~= 1 then
      before, s1, s2, s3 = adopt(key, value, notation, p1, p2, p3, more)
    else
      s1, s2, s3, stale = algorithm.read(value, #notation + 1, p1, p2, p3, more)
    end
    states[l] = false
    if not s1 then
      return -2
    elseif not algorithm.admits(permits, p1, p2, p3, s1, s2, s3) then
      if take then
        return false
      end
      reply[verdict], refused[l] = 0, true
      -- a key that is full under the former limit is as good as gone
      onlyByChanged = onlyByChanged and before and before > 0
      if before then
        -- written only if the key is full sooner: otherwise two limits that take turns would restart its wait each time
        local state, untilFull = algorithm.add(0, p1, p2, p3, s1, s2, s3)
        states[l], times[l] = untilFull < before and state, untilFull
      end
    end
    if take then
      states[l], times[l], s1, s2, s3 = algorithm.add(permits, p1, p2, p3, s1, s2, s3)
      states[l] = (permits > 0 or stale) and states[l]
    elseif stale then
      -- also for a mere question: otherwise each question would restart the wait
      write(key, notation, algorithm.add(0, p1, p2, p3, s1, s2, s3))
    end
    local s5
    if algorithm.answer then
      asked[l] = algorithm.inside and {algorithm, p1, p2, p3, s1, permits = permits, at = size + 1}
      s1, s2, s3, s4, s5 = algorithm.answer(permits, p1, p2, p3, s1, s2, s3)
    end
    reply[size + 1], reply[size + 2], reply[size + 3], reply[size + 4], reply[size + 5] = s1, s2, s3, s4, s5
    size = size + (s5 and 5 or s4 and 4 or s3 and 3 or s2 and 2 or 1)
  end
  return true
end

while decided < #lastOf do
  local first, last, verdict = (lastOf[decided] or 0) + 1, lastOf[decided + 1], size + 1
  onlyByChanged = true
  local taken = operation == 'charge' and try(first, last, true)
  local known = taken
  if not taken then
    size = verdict - 1
    known = try(first, last, false)
  end
  if known ~= true then
    for i = #reply, verdict, -1 do
      reply[i] = nil
    end
    reply[verdict], size = known, verdict
  elseif taken or operation == 'charge' and onlyByChanged then
    for l = first, last do
      if states[l] then
        write(keyOf[l], ARGV[termsOf[l]], states[l], times[l])
      end
    end
  end
  if known == true and not taken and operation == 'charge' and penalize then
    penalize(first, last, asked, refused)
  end
  decided = decided + 1
end
flush()
return reply
