
-- A penalty around each limit, under its letter in upper case; the notation ends with its length in microseconds.
-- State: the end of the penalty, 0 if there is none, then the state of the limit, unless that is full. s1: a table with
-- that end and the limit's s1 to s3. A penalty that is over stays until something is charged, or the limit is full.

function lengthOf(notation)
  return tonumber(string.match(notation, '!(%d+);$'))
end

function withoutPenalty(notation)
  return string.lower(sub(notation, 1, 1)) .. string.gsub(sub(notation, 2), '!%d+;$', ';')
end

local function penalized(inside)
  local outside = {
    inside = inside,
    read = function(value, from, p1, p2, p3, more)
      local ends, longest, stale = 0, 0, false
      if value then
        ends, from = unpackFrom('>d', value, from)
        longest = now + lengthOf(sub(value, 1, from - 9))
        if ends > longest then
          ends, stale = longest, true
        end
      end
      local known = value and from <= #value and value or nil
      local s1, s2, s3, moved = inside.read(known, from, p1, p2, p3, more)
      return s1 and {ends, s1, s2, s3}, nil, nil, stale or moved
    end,
    admits = function(permits, p1, p2, p3, s)
      return (permits == 0 or s[1] <= now) and inside.admits(permits, p1, p2, p3, s[2], s[3], s[4])
    end,
    add = function(permits, p1, p2, p3, s)
      local ends = permits == 0 and s[1] or 0
      local state, untilFull, s1, s2, s3 = inside.add(permits, p1, p2, p3, s[2], s[3], s[4])
      return pack('>d', ends) .. (untilFull > 0 and state or ''), math.max(untilFull, ends - now), {ends, s1, s2, s3}
    end,
    answer = function(permits, p1, p2, p3, s)
      if inside.answer then
        return s[1], inside.answer(permits, p1, p2, p3, s[2], s[3], s[4])
      end
      return s[1], s[2], s[3], s[4]
    end,
    capacity = inside.capacity
  }
  if rare then
    outside.remove = function(permits, at, p1, p2, p3, s)
      return {s[1], inside.remove(permits, at, p1, p2, p3, s[2], s[3], s[4])}
    end
  end
  return outside
end

-- permits held at once are given back, not waited for
local penalizable = {}
for letter, algorithm in pairs(algorithms) do
  if letter ~= 'c' then
    penalizable[string.upper(letter)] = penalized(algorithm)
  end
end
for letter, algorithm in pairs(penalizable) do
  algorithms[letter] = algorithm
end

-- starts the penalties of the policies that refuse, in the state and in the reply. One limit of a policy carries its
-- penalty, and the keys of its limits differ only in the number at their end. asked[l]: what was asked of a limit with a
-- penalty, and where the reply has its end
function penalize(first, last, asked, refused)
  for l = first, last do
    if asked[l] and asked[l].permits > 0 then
      local policy, refuses = string.match(KEYS[keyOf[l]], '^(.-)%d+$'), false
      for other = first, last do
        refuses = refuses or refused[other] and find(KEYS[keyOf[other]], policy, 1, true) == 1
      end
      local algorithm, p1, p2, p3, s = unpack(asked[l])
      local full = select(2, algorithm.inside.add(0, p1, p2, p3, s[2], s[3], s[4])) == 0
      if refuses and (s[1] == 0 or s[1] <= now and full) then
        local notation = ARGV[termsOf[l]]
        s[1] = now + lengthOf(notation)
        reply[asked[l].at] = s[1]
        write(keyOf[l], notation, algorithm.add(0, p1, p2, p3, s))
      end
    end
  end
end
