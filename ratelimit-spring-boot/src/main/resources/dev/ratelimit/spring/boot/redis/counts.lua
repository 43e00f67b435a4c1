-- What instances have counted: each writes a text of its own, and reads those of others when somebody asks.
-- KEYS: the one that is written, or those that are read. ARGV: the milliseconds for which the text lives, and the text; nothing
-- to read. Returns how many milliseconds ago each was written, and the text after it; both empty if there is none.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = {}
if ARGV[1] then
  redis.call('PSETEX', KEYS[1], ARGV[1], string.format('%d', now) .. ' ' .. ARGV[2])
else
  for i, key in ipairs(KEYS) do
    local value = redis.call('MGET', key)[1] or ''
    -- nobody writes longer ones
    local at, text = string.match(#value < 100000 and value or '', '^(%d+) (.*)$')
    answer[2 * i - 1] = at and string.format('%d', math.max(0, now - at)) or ''
    answer[2 * i] = text or ''
  end
end
return answer
