package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Seeds;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the scripts with core: random limits of all kinds and sizes, random charges, questions, refunds, resets and
 * changes of limits at random times, alone or beside another policy, must have the same results whether they block or not.
 * A failing history prints its seed; {@code -Dseed=} repeats it.
 *
 * <p>Times are whole microseconds, the unit of Redis's clock; core's waits are rounded up to them.
 */
@Tag("servers")
class LuaMatchesCoreTest {

    private static final int HISTORIES = Integer.getInteger("histories", 100);
    private static final int STEPS = 30;

    /** The maximum length of a history, so that core can still represent the end of the longest window. */
    private static final long MAX_NANOS = Duration.ofDays(120 * 365).toNanos();

    private static final long YEAR_NANOS = Duration.ofDays(365).toNanos();

    private static final FakeTicker TIME = new FakeTicker();
    private static final YearlyAlarms ALARMS = new YearlyAlarms();

    @Started
    private static RedisServer server;

    private static RateLimitStore redis;
    private static RateLimitStore core;
    private static int policies;

    @BeforeAll
    static void createStores() {
        RedisStore store = RedisStore.builder(server.newClient())
                .ticker(TIME)
                .deadline(Duration.ofSeconds(20))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .edition(FakeClock::inScript)
                .build();
        redis = new FakeClock(store, server.commands(), TIME);
        core = InMemoryStore.builder().ticker(ALARMS).build();
    }

    @AfterAll
    static void closeStore() {
        redis.close();
    }

    /** Runs an alarm once a year, so that memory is swept, but not twice a minute through decades. */
    private static final class YearlyAlarms implements Ticker, Scheduler {
        private @Nullable Runnable alarm;

        @Override
        public long nanos() {
            return TIME.nanos();
        }

        @Override
        public long epochNanos() {
            return TIME.epochNanos();
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            alarm = task;
            return () -> alarm = null;
        }

        void advanceNanos(long nanos) {
            long left = nanos;
            while (left > 0) {
                long step = Math.min(left, YEAR_NANOS);
                TIME.advanceNanos(step);
                left -= step;
                Runnable due = alarm;
                if (step == YEAR_NANOS && due != null) {
                    alarm = null;
                    due.run();
                }
            }
        }
    }

    /** What both were charged, with the receipt of each. */
    private record Taken(Decision atRedis, Decision atCore) {}

    /** The random history of one key under a policy with one or more limits. */
    private static final class History {
        final long seed;
        final Random random;
        final RandomLimits limits;
        final String name = "p" + policies++;
        final List<Taken> taken = new ArrayList<>();

        /**
         * The limits that the state of the key may belong to: a limit that only refuses leaves that of the one before.
         */
        final List<Policy> writers = new ArrayList<>();

        /** Charged beside the policy, before or after it; it may refuse, too. */
        final Policy other;

        Policy policy;
        Decision last = new Decision(true, List.of(), List.of(), null);
        long elapsed;
        long setBack;

        History(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.limits = new RandomLimits(random);
            this.policy = policy(IntStream.range(0, random.nextInt(3) == 0 ? 2 : 1)
                    .mapToObj(i -> exact(limits.any()))
                    .toList());
            this.other = limits.policy(name + " other", List.of(exact(limits.any())));
            writers.add(policy);
        }

        private Limit exact(Limit limit) {
            Limit exact = limit;
            while (!RandomLimits.ticksAreExact(exact)) {
                exact = limits.any();
            }
            return exact;
        }

        private Policy policy(List<Limit> all) {
            return limits.policy(name, all);
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                pass();
                if (random.nextInt(6) == 0) {
                    setBack(step);
                }
                switch (random.nextInt(13)) {
                    case 0, 1 -> peek(permits(), step);
                    case 2, 3 -> refund(step);
                    case 4 -> change(step);
                    case 5 -> reset(step);
                    default -> charge(permits(), step);
                }
            }
        }

        /** No time, any time, or exactly a wait that was returned, plus or minus a microsecond. */
        private void pass() {
            long nanos = switch (random.nextInt(6)) {
                case 0, 1 -> 0;
                case 2 -> 1000 * limits.number(12);
                case 3 -> hinted() + 1000L * (random.nextInt(3) - 1);
                default -> limits.number(62) % (2 * RandomLimits.longestNanos(policy) + 1);
            };
            long whole = Math.max(0, micros(nanos) * 1000);
            if (elapsed + whole <= MAX_NANOS) {
                elapsed += whole;
                ALARMS.advanceNanos(whole);
            }
        }

        /**
         * Sets the wall clock back, also for core: by a little, or by whole periods. A key that is full by then may be
         * forgotten or not. Both look at the key at once: a window that is now ahead lasts one period from the first
         * look, and a sweep, which only core has, would be one.
         */
        private void setBack(int step) {
            if (writers.stream().flatMap(writer -> writer.algorithms().stream()).allMatch(LimitAlgorithm::wallClock)) {
                peek(0, step);
                // a penalty keeps the state of a limit that is full
                Charge alone = new Policy(name, RandomLimits.limitsOf(policy)).charge("k", 0);
                if (core.peek(List.of(alone)).limits().stream().anyMatch(status -> status.fullAfterNanos() == 0)) {
                    forget();
                }
                long most = random.nextBoolean()
                        ? 10 * Math.min(RandomLimits.longestNanos(policy), YEAR_NANOS)
                        : 100_000_000L;
                long nanos = random.nextLong(Math.min(most, elapsed - setBack + 1000)) / 1000 * 1000;
                setBack += nanos;
                TIME.setWallClock(Duration.ofNanos(-nanos));
                peek(0, step);
                // core knows only how long ago a charge was, the server knows its time
                taken.clear();
            }
        }

        private long hinted() {
            if (last.limits().isEmpty()) {
                return 0;
            }
            LimitStatus status = last.limits().get(random.nextInt(last.limits().size()));
            long wait = switch (random.nextInt(3)) {
                case 0 -> status.retryAfterNanos();
                case 1 -> status.nextAvailableNanos();
                default -> status.fullAfterNanos();
            };
            return wait == LimitAlgorithm.NEVER ? 0 : wait;
        }

        private long permits() {
            Limit limit = policy.limits().get(random.nextInt(policy.limits().size()));
            long remaining = last.limits().isEmpty()
                    ? limit.capacity()
                    : last.limits().get(random.nextInt(last.limits().size())).remaining();
            long permits = switch (random.nextInt(7)) {
                case 0 -> 1;
                case 1 -> remaining;
                case 2 -> remaining + 1;
                case 3 -> limit.capacity() + random.nextInt(2);
                case 4 -> limits.number(51) % (limit.capacity() + 1);
                case 5 -> random.nextInt(20) == 0 ? Long.MAX_VALUE : 0;
                default -> remaining / (1 + random.nextInt(4));
            };
            return permits;
        }

        /** Alone, or beside the other policy; core cannot follow the server's clock back under any limit of that one. */
        private List<Charge> charges(long permits) {
            Charge charge = policy.charge("k", permits);
            if (setBack > 0 || random.nextInt(3) > 0) {
                return List.of(charge);
            }
            long capacity = other.limits().get(0).capacity();
            Charge beside = other.charge("k", random.nextBoolean() ? random.nextInt(2) : random.nextLong(capacity + 2));
            return random.nextBoolean() ? List.of(charge, beside) : List.of(beside, charge);
        }

        private void peek(long permits, int step) {
            List<Charge> charges = charges(permits);
            Decision atRedis = random.nextBoolean() ? redis.peek(charges) : answer(redis.peekAsync(charges));
            same(core.peek(charges), atRedis, step);
        }

        private void charge(long permits, int step) {
            List<Charge> charges = charges(permits);
            Decision atCore = core.decide(charges);
            Decision atRedis = random.nextBoolean() ? redis.decide(charges) : answer(redis.decideAsync(charges));
            same(atCore, atRedis, step);
            if (atCore.admitted() && permits > 0) {
                writers.clear();
                writers.add(policy);
            }
            if (atCore.admitted() && permits > 0 && setBack == 0) {
                taken.add(new Taken(atRedis, atCore));
            }
        }

        /** All of a charge, or a part. */
        private void refund(int step) {
            if (!taken.isEmpty()) {
                Taken one = taken.remove(random.nextInt(taken.size()));
                List<Charge> part = one.atCore.charges().stream()
                        .map(charge -> random.nextBoolean()
                                ? charge
                                : charge.policy().charge(charge.key(), random.nextLong(charge.permits() + 1)))
                        .toList();
                core.refund(one.atCore, part);
                if (random.nextBoolean()) {
                    redis.refund(one.atRedis, part);
                } else {
                    answer(redis.refundAsync(one.atRedis, part));
                }
                peek(1, step);
            }
        }

        private void reset(int step) {
            forget();
            peek(1, step);
        }

        private void change(int step) {
            // also back to the one before: plans of a key take turns
            List<Limit> next = random.nextInt(3) == 0
                    ? RandomLimits.limitsOf(writers.get(random.nextInt(writers.size())))
                    : RandomLimits.limitsOf(policy).stream()
                            .map(limit -> exact(limits.successorOf(limit)))
                            .toList();
            List<Change> changes = IntStream.range(0, next.size())
                    .boxed()
                    .flatMap(i -> writers.stream()
                            .map(writer ->
                                    new Change(RandomLimits.limitsOf(writer).get(i), next.get(i))))
                    .toList();
            if (changes.stream().anyMatch(Change::log)) {
                taken.clear();
            }
            policy = policy(next);
            writers.add(policy);
            if (changes.stream().allMatch(Change::exact)) {
                charge(1, step);
            } else {
                List<Charge> charges = List.of(policy.charge("k", 1));
                alike(core.peek(charges), redis.peek(charges), step);
                forget();
            }
        }

        private void forget() {
            core.reset(policy, "k");
            redis.reset(policy, "k");
            taken.clear();
            writers.clear();
            writers.add(policy);
        }

        private void same(Decision atCore, Decision atRedis, int step) {
            List<LimitStatus> own = atRedis.limits().stream()
                    .filter(status -> status.policy().equals(policy))
                    .toList();
            last = new Decision(atRedis.admitted(), List.of(policy.charge("k")), own, null);
            assertThat(inMicros(atRedis)).as("%s, step %s", this, step).isEqualTo(inMicros(atCore));
        }

        /** Whether results differ at most by a tick, which is a microsecond of a sliding window. */
        private void alike(Decision atCore, Decision atRedis, int step) {
            last = atRedis;
            for (int i = 0; i < atCore.limits().size(); i++) {
                long more = atRedis.limits().get(i).remaining()
                        - atCore.limits().get(i).remaining();
                Limit limit = RandomLimits.limitsOf(policy).get(i);
                long tick = limit instanceof SlidingWindow
                        ? 1 + limit.capacity() / micros(limit.rate().periodNanos())
                        : 1;
                assertThat(more).as("%s, step %s", this, step).isBetween(-tick, tick);
            }
        }

        @Override
        public String toString() {
            return policy.limits() + " at " + elapsed + " ns, set back by " + setBack + " to " + TIME.epochNanos()
                    + ", seed " + seed;
        }
    }

    /** A key whose server's clock is set back, under one limit. */
    private static final class StepBack {
        final long seed;
        final Random random;
        final RandomLimits limits;
        final Policy policy;
        final Policy shut = Policy.of("shut" + policies++, SlidingLog.of(Rate.parse("1/second")));

        /** How long a key waits at most for a permit, and until it is full: as if it had just been exhausted. */
        final long wait;

        final long full;
        long elapsed;

        StepBack(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.limits = new RandomLimits(random);
            Policy any;
            LimitStatus exhausted;
            do {
                Limit limit = limits.any();
                any = limits.policy("p" + policies++, List.of(limit));
                exhausted = core.decide(List.of(
                                Policy.of("exhausted" + policies++, limit).charge("k", limit.capacity())))
                        .limits()
                        .get(0);
            } while (LimitAlgorithm.of(exhausted.limit()).wallClock()
                    || any.concurrency()
                    || exhausted.fullAfterNanos() > MAX_NANOS / 20);
            policy = any;
            long penalty = any.penalty() == null ? 0 : any.penalty().duration().toNanos();
            wait = Math.max(exhausted.nextAvailableNanos(), penalty);
            full = Math.max(exhausted.fullAfterNanos(), penalty);
        }

        void run() {
            advance(2 * full);
            List<Taken> taken = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                List<Charge> charges = charges(random.nextLong(capacity() + 2));
                taken.add(new Taken(redis.decide(charges), core.decide(charges)));
                advance(random.nextLong(full / 4 + 1));
            }
            long back = limits.number(62) % (elapsed / 1000 + 1) * 1000;
            TIME.setWallClock(Duration.ofNanos(-back));

            // the first question may note the step
            switch (random.nextInt(5)) {
                case 0 -> redis.decide(List.of(policy.charge("k", 1), shut.charge("k", 2)));
                case 1 -> redis.decide(List.of(shut.charge("k", 2), policy.charge("k", 1)));
                case 2 -> redis.decide(charges(capacity() + 1));
                case 3 -> {
                    redis.refund(taken.get(0).atRedis);
                    core.refund(taken.get(0).atCore);
                }
                default -> redis.peek(charges(1));
            }
            long left = notAheadOfCore().retryAfterNanos();
            assertThat(left).as("%s", this).isLessThanOrEqualTo(micros(wait) * 1000);
            advance(left / 2);
            assertThat(notAheadOfCore().retryAfterNanos()).as("%s", this).isEqualTo(left - left / 2000 * 1000);
            advance(left - left / 2000 * 1000);
            assertThat(notAheadOfCore().retryAfterNanos()).as("%s", this).isZero();
            advance(full + 1000);
            assertThat(notAheadOfCore().remaining()).as("%s", this).isEqualTo(capacity());

            TIME.setWallClock(Duration.ofNanos(back - elapsed));
        }

        private LimitStatus notAheadOfCore() {
            LimitStatus atRedis = redis.peek(charges(1)).limits().get(0);
            long remaining = core.peek(charges(1)).limits().get(0).remaining();
            assertThat(atRedis.remaining()).as("%s", this).isLessThanOrEqualTo(remaining);
            return atRedis;
        }

        private void advance(long nanos) {
            long whole = nanos / 1000 * 1000;
            elapsed += whole;
            ALARMS.advanceNanos(whole);
        }

        private List<Charge> charges(long permits) {
            return List.of(policy.charge("k", permits));
        }

        private long capacity() {
            return policy.limits().get(0).capacity();
        }

        @Override
        public String toString() {
            return policy.limits() + ", seed " + seed;
        }
    }

    /** A limit and its successor. */
    private record Change(Limit from, Limit to) {

        /** Whether both convert to the same state: the rest of a tick is smaller in core, whose ticks are finer. */
        boolean exact() {
            if (from instanceof SlidingWindow && to instanceof SlidingWindow) {
                return to.rate().periodNanos() % from.rate().periodNanos() == 0;
            }
            return !buckets() || (to.capacity() % from.capacity() == 0 && whollyFaster());
        }

        private boolean buckets() {
            return from instanceof TokenBucket && to instanceof TokenBucket;
        }

        private boolean whollyFaster() {
            long permits = from.rate().permits();
            return from.rate().period().equals(to.rate().period())
                    && (permits == to.rate().permits()
                            || to.rate().permits() == permits * (to.capacity() / from.capacity()));
        }

        /** A refund finds permits in a log by their time, which a change replaces. */
        boolean log() {
            return from instanceof SlidingLog || to instanceof SlidingLog;
        }
    }

    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private record Standing(boolean admitted, List<Long> numbers) {}

    private static Standing inMicros(Decision decision) {
        List<Long> numbers = new ArrayList<>();
        for (LimitStatus status : decision.limits()) {
            long wait = status.retryAfterNanos();
            numbers.add(status.remaining());
            numbers.add(wait == LimitAlgorithm.NEVER ? -1 : micros(wait));
            numbers.add(micros(status.nextAvailableNanos()));
            numbers.add(micros(status.fullAfterNanos()));
        }
        return new Standing(decision.admitted(), numbers);
    }

    private static long micros(long nanos) {
        return -Math.floorDiv(-nanos, 1000L);
    }

    @Test
    void anyHistory_ofAnyLimits_isAnsweredAsCoreAnswersIt() {
        for (int i = 0; i < HISTORIES; i++) {
            History history = new History(Seeds.next());
            history.run();
            TIME.setWallClock(Duration.ofNanos(history.setBack - history.elapsed));
        }
    }

    /** Core measures these limits by a clock that is never set back. */
    @Test
    void serverClockSetBack_anyLimit_admitsNothingBecauseOfItAndIsFullInTime() {
        for (int i = 0; i < HISTORIES; i++) {
            new StepBack(Seeds.next()).run();
        }
    }

    @Test
    void tokenBucket_ticksTooManyForDoubles_isNeverAheadOfCore() {
        for (int i = 0; i < HISTORIES / 5; i++) {
            long seed = Seeds.next();
            Random random = new Random(seed);
            RandomLimits limits = new RandomLimits(random);
            Limit limit = limits.coarse();
            Policy policy = Policy.of("coarse" + policies++, limit);
            Decision atCore;
            Decision atRedis;
            do {
                ALARMS.advanceNanos(1000 * (limits.number(62) % (limit.replenishNanos() / 20_000 + 1)));
                List<Charge> charges = List.of(policy.charge("k", 1 + limits.number(51) % limit.capacity()));
                atCore = core.decide(charges);
                atRedis = redis.decide(charges);
                assertThat(atRedis.admitted() && !atCore.admitted())
                        .as("%s, seed %s", limit, seed)
                        .isFalse();
            } while (atRedis.admitted() == atCore.admitted() && random.nextInt(20) != 0);
        }
    }
}
