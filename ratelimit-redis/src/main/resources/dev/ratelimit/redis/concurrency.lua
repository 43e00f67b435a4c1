
-- p1: the limit, p2: how long a permit can be held, in microseconds
-- State, and s1: the times of the permits that are held, as in a sliding log, whose file comes before this one. Another
-- limit of this kind takes over the permits themselves, not a share of them.
algorithms.c = {read = algorithms.l.read, admits = algorithms.l.admits, add = algorithms.l.add, answer = algorithms.l.answer}
if rare then
  algorithms.c.remove, algorithms.c.used = algorithms.l.remove, algorithms.l.used
  algorithms.c.held = true
  algorithms.c.same = '^c;'
  algorithms.c.adopt = function(limit, formerLimit, times, _, _, hold)
    return sub(times, 8 * firstAfter(times, now - hold) + 1)
  end
end
