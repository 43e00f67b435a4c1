package dev.ratelimit.memory.storm;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.storm.Step.Fault;
import dev.ratelimit.memory.storm.Step.Kind;
import dev.ratelimit.memory.storm.Step.Place;
import dev.ratelimit.memory.storm.Step.Thrown;
import dev.ratelimit.memory.storm.Step.Want;
import dev.ratelimit.storm.Shrinkable;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * What happens in one run.
 *
 * @param order what the order of the threads is drawn from
 */
record History(long order, Setup setup, List<Step> steps) implements Shrinkable<Step, History> {

    /**
     * The store and its policies.
     *
     * @param oneIn at one in so many points, another thread goes on
     * @param tickNanos how far the clocks move at each reading
     * @param policies the limits of each plan of each policy
     */
    record Setup(int threads, int oneIn, int maxKeys, long tickNanos, int keys, List<List<List<Limit>>> policies) {

        /** The number of plans of the policy with this name. */
        int plans(String policy) {
            return policies.get(Integer.parseInt(policy.substring(1))).size();
        }

        /** Whether each policy has a single limit. */
        boolean single() {
            return policies.stream().flatMap(List::stream).allMatch(limits -> limits.size() == 1);
        }

        boolean tight() {
            return maxKeys < 10;
        }

        Setup oneIn(int number) {
            return new Setup(threads, number, maxKeys, tickNanos, keys, policies);
        }

        /** The policy as users hold it. */
        Policy policy(int number, int plan) {
            return new Policy("p" + number, policies.get(number).get(plan));
        }

        /** The same with a point at each call of its limits. */
        Policy watched(int number, int plan) {
            List<Limit> limits = new ArrayList<>();
            Penalty penalty = policy(number, plan).penalty();
            for (Limit limit : policies.get(number).get(plan)) {
                limits.add(new Watched(limit == penalty ? penalty.limit() : LimitAlgorithm.of(limit)));
            }
            Policy policy = new Policy("p" + number, limits);
            return penalty == null ? policy : policy.withPenalty(penalty.duration());
        }
    }

    private static final Duration PERIOD = Duration.ofMinutes(1);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final int MAX_STEPS = 14;

    /** Without a call, the threads take other turns: so many orders are tried. */
    private static final int ORDERS = 60;

    /** The number of kinds of limits. */
    private static final int KINDS = 12;

    /** From this kind on, limits are of what is held at once. */
    private static final int HELD = 10;

    /** Longer than any history lasts. */
    static final Duration LONG_HOLD = Duration.ofHours(12);

    @Override
    public History with(List<Step> others) {
        return new History(order, setup, others);
    }

    @Override
    public Stream<History> reordered() {
        return LongStream.range(1, ORDERS).mapToObj(other -> new History(other, setup, steps));
    }

    /** With fewer changes of threads, or without one of the errors. */
    @Override
    public Stream<History> simplified() {
        Stream<History> fewerTurns = Stream.of(200, 100, 50, 25, 12)
                .filter(oneIn -> oneIn > setup.oneIn)
                .map(oneIn -> new History(order, setup.oneIn(oneIn), steps));
        Stream<History> fewerFaults = steps.stream()
                .filter(step -> step.fault() != null)
                .map(faulty -> with(steps.stream()
                        .map(step -> step.id() == faulty.id() ? step.withoutFault() : step)
                        .toList()));
        return Stream.concat(fewerFaults, fewerTurns);
    }

    /** Draws a history. */
    static History draw(long seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        // few keys find room; then fewer calls, because the judge must try which of them were evicted
        boolean tight = random.nextInt(3) == 0;
        // each history has only some kinds of limits, so that equal ones meet more often (swarm testing)
        int[] kinds = random.ints(1 + random.nextInt(6), 0, KINDS).toArray();
        List<List<List<Limit>>> policies = new ArrayList<>();
        int count = 1 + random.nextInt(tight ? 2 : 3);
        for (int i = 0; i < count; i++) {
            List<List<Limit>> plans = new ArrayList<>();
            int most = random.nextInt(4) == 0 ? 2 : 1;
            for (int plan = 0; plan < most; plan++) {
                plans.add(limits(random, kinds, tight ? 1 : 1 + random.nextInt(4) / 3));
            }
            policies.add(List.copyOf(plans));
        }
        Setup setup = new Setup(
                2 + random.nextInt(tight ? 1 : 3),
                List.of(2, 5, 15, 50).get(random.nextInt(4)),
                tight ? 1 + random.nextInt(3) : 1_000,
                List.of(0L, 1L, SECOND / 1_000, 7 * SECOND, 25 * SECOND, 61 * SECOND)
                        .get(random.nextInt(6)),
                tight ? 2 + random.nextInt(3) : List.of(1, 1, 2, 3, 9).get(random.nextInt(5)),
                List.copyOf(policies));
        return new History(seed, setup, steps(random, setup));
    }

    private static List<Limit> limits(Random random, int[] kinds, int count) {
        List<Limit> limits = new ArrayList<>();
        boolean held = kinds[random.nextInt(kinds.length)] >= HELD;
        for (int i = 0; i < count; i++) {
            int kind = kinds[random.nextInt(kinds.length)];
            // a policy has rates or concurrency limits
            limits.add(limit(random, held ? HELD + kind % 2 : kind % HELD));
        }
        if (held || random.nextInt(4) > 0) {
            return List.copyOf(limits);
        }
        Duration penalty = List.of(Duration.ofNanos(1), PERIOD.dividedBy(2), PERIOD.multipliedBy(3))
                .get(random.nextInt(3));
        return new Policy("any", limits).withPenalty(penalty).limits();
    }

    private static Limit limit(Random random, int kind) {
        int permits = 1 + random.nextInt(4);
        Rate rate = Rate.of(permits, PERIOD);
        return switch (kind) {
            case 0, 1 -> TokenBucket.of(rate);
            case 2 -> TokenBucket.of(Rate.of(67, PERIOD), permits);
            case 3 -> TokenBucket.of(rate, permits, TokenBucket.Refill.INTERVAL);
            case 4 -> FixedWindow.of(rate);
            case 5, 6 -> FixedWindow.onClock(rate, ZoneOffset.UTC);
            case 7 -> SlidingWindow.of(rate);
            case 8 -> SlidingLog.of(rate);
            case 9 -> SlidingLog.of(Rate.of(4L * permits, PERIOD));
            case 10 -> Concurrency.of(4L * permits, PERIOD);
            default -> Concurrency.of(4L * permits, LONG_HOLD);
        };
    }

    private static List<Step> steps(Random random, Setup setup) {
        List<Step> steps = new ArrayList<>();
        // a sweep looks at all keys, and the first look after a step back counts: so there is one or the other
        boolean setBack = !setup.tight() && setup.keys < 4 && random.nextInt(3) == 0;
        // the evictions would be forgotten as well; and calls of several limits may be forgotten in part
        boolean clears = !setup.tight() && !setBack && setup.single() && random.nextInt(3) == 0;
        int first = random.nextInt(5);
        int faults = random.nextInt(2) * (2 + random.nextInt(4));
        int count = first + setup.threads + random.nextInt((setup.tight() ? 10 : MAX_STEPS) - setup.threads - first);
        for (int id = 0; id < count; id++) {
            int thread = id < first ? Step.FIRST : random.nextInt(setup.threads);
            Kind drawn = kind(random, setBack);
            Kind kind = clears ? beside(drawn) : drawn;
            List<Want> all = wants(random, setup, kind);
            List<Want> wants = clears ? all.subList(0, Math.min(1, all.size())) : all;
            long number = switch (kind) {
                case REFUND, REFUND_PART -> random.nextInt(count);
                case ADVANCE ->
                    List.of(1L, SECOND, 15 * SECOND, 60 * SECOND, 61 * SECOND, 200 * SECOND)
                            .get(random.nextInt(6));
                case SET_BACK -> List.of(SECOND, 60 * SECOND, 150 * SECOND).get(random.nextInt(3));
                default -> 0;
            };
            Fault fault = faults > 0 && id >= first && kind != Kind.CLEAR && random.nextInt(faults) == 0
                    ? fault(random, kind)
                    : null;
            steps.add(new Step(id, thread, kind, wants, number, fault));
        }
        return List.copyOf(steps);
    }

    private static Kind kind(Random random, boolean setBack) {
        int number = random.nextInt(20);
        if (number < 5) {
            return Kind.TRY_ONE;
        } else if (number < 9) {
            return Kind.TRY;
        } else if (number < 13) {
            return Kind.DECIDE;
        }
        Kind other = setBack ? Kind.SET_BACK : Kind.SWEEP;
        return List.of(Kind.PEEK, Kind.REFUND, Kind.REFUND, Kind.REFUND_PART, Kind.RESET, other, Kind.ADVANCE)
                .get(number - 13);
    }

    /** What is called instead in histories that forget all keys: often what also finds keys by hot slots. */
    private static Kind beside(Kind drawn) {
        return switch (drawn) {
            case RESET, PEEK -> Kind.CLEAR;
            case TRY -> Kind.TRY_ONE;
            default -> drawn;
        };
    }

    private static List<Want> wants(Random random, Setup setup, Kind kind) {
        int count = switch (kind) {
            case TRY_ONE, RESET -> 1;
            case TRY, DECIDE, PEEK -> 1 + random.nextInt(setup.tight() ? 2 : 3);
            default -> 0;
        };
        int plan = random.nextInt(2);
        List<Want> wants = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int policy = random.nextInt(setup.policies.size());
            int permits = random.nextInt(4) == 0 ? random.nextInt(6) : 1;
            wants.add(new Want(policy, plan % setup.policies.get(policy).size(), key(random, setup), permits));
        }
        return List.copyOf(wants);
    }

    private static String key(Random random, Setup setup) {
        int key = random.nextInt(setup.keys);
        return key == 0 ? "" : "k" + key;
    }

    private static Fault fault(Random random, Kind kind) {
        Place drawn = one(List.of(Place.values()), random);
        // a scheduler's thread has stack for a sweep
        Place place = drawn == Place.CALL && kind == Kind.SWEEP ? Place.FOREIGN : drawn;
        return switch (place) {
            case FOREIGN -> new Fault(upTo(80, random), place, one(List.of(Thrown.values()), random));
            case ALLOCATION -> new Fault(upTo(30, random), place, Thrown.OUT_OF_MEMORY);
            case CALL -> new Fault(upTo(60, random), place, Thrown.STACK_OVERFLOW);
        };
    }

    private static <T> T one(List<T> of, Random random) {
        return of.get(random.nextInt(of.size()));
    }

    /** A number from 1 on, in half of all cases rather a small one. */
    private static int upTo(int most, Random random) {
        return random.nextBoolean() ? (int) Math.pow(most, random.nextDouble()) : 1 + random.nextInt(most);
    }
}
