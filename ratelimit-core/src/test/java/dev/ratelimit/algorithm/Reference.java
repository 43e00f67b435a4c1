package dev.ratelimit.algorithm;

import dev.ratelimit.Rate;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * The results of an algorithm by its definition alone: it remembers every admitted charge and computes everything from
 * that history, in exact arithmetic. Slow and obvious, where the limits are fast and clever.
 *
 * <p>Time starts at 0 and does not go back.
 */
abstract class Reference {

    record Charged(long permits, long at) {}

    final long permits;
    final long period;
    final List<Charged> history = new ArrayList<>();

    Reference(Rate rate) {
        this.permits = rate.permits();
        this.period = rate.periodNanos();
    }

    /** Whether this many permits would be admitted. */
    abstract boolean admits(long asked, long now);

    /** Whether the key is full. */
    abstract boolean full(long now);

    final boolean charge(long asked, long now) {
        boolean admitted = admits(asked, now);
        if (admitted && asked > 0) {
            history.add(new Charged(asked, now));
        }
        return admitted;
    }

    static BigInteger big(long number) {
        return BigInteger.valueOf(number);
    }

    /** Tokens that are refilled evenly, counted in parts; {@code period} parts are one token. */
    static final class Bucket extends Reference {

        private final BigInteger capacity;

        Bucket(Rate rate, long burst) {
            super(rate);
            this.capacity = big(burst).multiply(big(period));
        }

        private BigInteger tokens(long now) {
            BigInteger tokens = capacity;
            long last = 0;
            for (Charged charged : history) {
                tokens = refilled(tokens, charged.at() - last).subtract(parts(charged.permits()));
                last = charged.at();
            }
            return refilled(tokens, now - last);
        }

        private BigInteger refilled(BigInteger tokens, long elapsed) {
            return tokens.add(big(elapsed).multiply(big(permits))).min(capacity);
        }

        private BigInteger parts(long tokens) {
            return big(tokens).multiply(big(period));
        }

        @Override
        boolean admits(long asked, long now) {
            return tokens(now).compareTo(parts(asked)) >= 0;
        }

        @Override
        boolean full(long now) {
            return tokens(now).equals(capacity);
        }
    }

    /** A bucket with a timer that runs while tokens are missing. */
    static final class TimerBucket extends Reference {

        private final long capacity;

        TimerBucket(Rate rate, long burst) {
            super(rate);
            this.capacity = burst;
        }

        private long tokens(long now) {
            long tokens = capacity;
            long timer = Long.MAX_VALUE;
            for (int i = 0; i <= history.size(); i++) {
                long until = i < history.size() ? history.get(i).at() : now;
                while (timer <= until) {
                    tokens = permits >= capacity - tokens ? capacity : tokens + permits;
                    timer = tokens == capacity ? Long.MAX_VALUE : timer + period;
                }
                if (i < history.size()) {
                    timer = tokens == capacity ? until + period : timer;
                    tokens -= history.get(i).permits();
                }
            }
            return tokens;
        }

        @Override
        boolean admits(long asked, long now) {
            return asked <= tokens(now);
        }

        @Override
        boolean full(long now) {
            return tokens(now) == capacity;
        }
    }

    /** Windows, each of which starts with the first charge after the previous one. */
    static final class FirstHitWindow extends Reference {

        FirstHitWindow(Rate rate) {
            super(rate);
        }

        private long used(long now) {
            long start = 0;
            long used = 0;
            for (Charged charged : history) {
                if (used == 0 || charged.at() - start >= period) {
                    start = charged.at();
                    used = 0;
                }
                used += charged.permits();
            }
            return now - start < period ? used : 0;
        }

        @Override
        boolean admits(long asked, long now) {
            return asked <= permits - used(now);
        }

        @Override
        boolean full(long now) {
            return used(now) == 0;
        }
    }

    /** Windows that start at multiples of their length. */
    static final class ClockWindow extends Reference {

        ClockWindow(Rate rate) {
            super(rate);
        }

        private long used(long now) {
            return history.stream()
                    .filter(charged -> charged.at() / period == now / period)
                    .mapToLong(Charged::permits)
                    .sum();
        }

        @Override
        boolean admits(long asked, long now) {
            return asked <= permits - used(now);
        }

        @Override
        boolean full(long now) {
            return used(now) == 0;
        }
    }

    /** Numbered windows; after two empty ones, numbering restarts with the first charge. */
    static final class WeightedWindows extends Reference {

        private final boolean floor;

        WeightedWindows(Rate rate, boolean floor) {
            super(rate);
            this.floor = floor;
        }

        /** The start of the numbering at {@code now}. */
        private long origin(long now) {
            long origin = 0;
            for (Charged charged : history) {
                if (chargedIn(origin, window(origin, charged.at()), charged.at())
                                + chargedIn(origin, window(origin, charged.at()) - 1, charged.at())
                        == 0) {
                    origin = charged.at();
                }
            }
            return origin <= now ? origin : now;
        }

        private long window(long origin, long at) {
            return (at - origin) / period;
        }

        private long chargedIn(long origin, long window, long before) {
            return history.stream()
                    .filter(charged -> charged.at() >= origin && charged.at() < before)
                    .filter(charged -> window(origin, charged.at()) == window)
                    .mapToLong(Charged::permits)
                    .sum();
        }

        @Override
        boolean admits(long asked, long now) {
            long origin = origin(now);
            long window = window(origin, now);
            BigInteger w = big(period);
            BigInteger left = big(period - (now - origin) % period);
            BigInteger weighted = big(chargedIn(origin, window - 1, now + 1)).multiply(left);
            BigInteger current = big(chargedIn(origin, window, now + 1)).add(big(asked));
            return floor
                    ? weighted.divide(w).add(current).compareTo(big(permits)) <= 0
                    : weighted.add(current.multiply(w)).compareTo(big(permits).multiply(w)) <= 0;
        }

        @Override
        boolean full(long now) {
            long origin = origin(now);
            long window = window(origin, now);
            return chargedIn(origin, window, now + 1) + chargedIn(origin, window - 1, now + 1) == 0;
        }
    }

    /** All charges of the last window. */
    static final class Log extends Reference {

        Log(Rate rate) {
            super(rate);
        }

        private long used(long now) {
            return history.stream()
                    .filter(charged -> now - charged.at() < period)
                    .mapToLong(Charged::permits)
                    .sum();
        }

        @Override
        boolean admits(long asked, long now) {
            return asked <= permits - used(now);
        }

        @Override
        boolean full(long now) {
            return used(now) == 0;
        }
    }
}
