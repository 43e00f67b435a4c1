package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.faults.Fuse;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A path through the store, with a limit or a clock that may throw: the state before, and the action. */
record StorePath(String name, int maxKeys, Consumer<Scene> before, Consumer<Scene> action) {

    static final long HOUR = Duration.ofHours(1).toNanos();

    /** A store and its clock. */
    static final class Scene {

        final Fuse fuse = new Fuse();
        final Fuse.Clock clock = fuse.new Clock();
        final InMemoryStore store;

        final Policy bucket = policy("bucket", TokenBucket.of(Rate.parse("5/hour")));
        final Policy faster = policy("bucket", TokenBucket.of(Rate.parse("7/minute")));
        final Policy window = policy("bucket", FixedWindow.of(Rate.parse("8/hour")));
        final Policy log = policy("log", SlidingLog.of(Rate.parse("9/hour")));
        final Policy daily = policy("daily", FixedWindow.onClock(Rate.parse("6/day"), ZoneOffset.UTC));
        final Policy two =
                policy("two", SlidingWindow.of(Rate.parse("5/hour")), TokenBucket.of(Rate.parse("67/hour"), 5));

        @Nullable
        Decision decision;

        private Scene(int maxKeys) {
            this.store = InMemoryStore.builder().ticker(clock).maxKeys(maxKeys).build();
        }

        private Policy policy(String name, LimitAlgorithm... limits) {
            return new Policy(name, Stream.of(limits).<Limit>map(fuse::on).toList());
        }

        /** A charge of each policy, with one key. */
        List<Charge> all(String key) {
            return List.of(bucket.charge(key), log.charge(key, 2), daily.charge(key), two.charge(key, 2));
        }

        private void fill(Policy policy, int count, int permits) {
            IntStream.range(0, count).forEach(i -> store.tryCharge(policy, "k" + i, permits));
        }

        /** The state of all budgets, and the number of keys. */
        List<String> snapshot() {
            List<String> lines = new ArrayList<>();
            for (String key : List.of("", "a", "new", "k0", "k1", "k2", "k3", "k4", "k5", "k6")) {
                for (Charge charge : all(key)) {
                    for (LimitStatus status : store.peek(List.of(charge)).limits()) {
                        lines.add(charge.policy().name() + " " + key + " " + status.remaining() + " "
                                + status.fullAfterNanos());
                    }
                }
            }
            for (String policy : List.of("bucket", "log", "daily", "two")) {
                lines.add(policy + " " + store.keys(policy) + " " + store.evictedActive(policy) + " "
                        + store.evictedFull(policy));
            }
            return lines;
        }
    }

    /** The store before the action. */
    Scene scene() {
        Scene scene = new Scene(maxKeys);
        before.accept(scene);
        return scene;
    }

    @Override
    public String toString() {
        return name;
    }

    static List<StorePath> all() {
        List<StorePath> paths = new ArrayList<>();
        for (String key : List.of("", "a")) {
            paths.add(known("one long, key '" + key + "'", s -> s.store.tryCharge(s.bucket, key, 1)));
            paths.add(known("several longs, key '" + key + "'", s -> s.store.tryCharge(s.daily, key, 1)));
            paths.add(known("longs that grow, key '" + key + "'", s -> s.store.tryCharge(s.log, key, 5)));
            paths.add(known("chain, key '" + key + "'", s -> s.store.tryCharge(s.all(key))));
            paths.add(known(
                    "refused chain, key '" + key + "'",
                    s -> s.store.tryCharge(List.of(s.bucket.charge(key, 5), s.two.charge(key), s.daily.charge(key)))));
            paths.add(known("decide, key '" + key + "'", s -> s.store.decide(s.all(key))));
            paths.add(known(
                    "refused decide, key '" + key + "'",
                    s -> s.store.decide(List.of(s.daily.charge(key), s.bucket.charge(key, 5)))));
            paths.add(known("peek, key '" + key + "'", s -> s.store.peek(s.all(key))));
            paths.add(known("reset, key '" + key + "'", s -> s.store.reset(s.two, key)));
            paths.add(known("change, key '" + key + "'", s -> s.store.tryCharge(s.window, key, 1)));
            paths.add(known(
                    "change by decide, key '" + key + "'",
                    s -> s.store.decide(List.of(s.two.charge(key), s.window.charge(key), s.log.charge(key)))));
            paths.add(known(
                    "refused change to a faster limit, key '" + key + "'", s -> s.store.tryCharge(s.faster, key, 7)));
        }
        paths.add(known("new key", s -> s.store.tryCharge(s.bucket, "new", 2)));
        paths.add(known("new key of longs that grow", s -> s.store.tryCharge(s.log, "new", 6)));
        paths.add(known("new keys by decide", s -> s.store.decide(s.all("new"))));
        paths.add(new StorePath(
                "a table grows", 100, s -> s.fill(s.bucket, 5, 2), s -> s.store.tryCharge(s.bucket, "k5", 2)));
        paths.add(new StorePath(
                "a table with many limits grows",
                500,
                StorePath::manyLimits,
                s -> s.store.tryCharge(s.bucket, "new", 2)));
        paths.add(new StorePath(
                "evict an active key", 7, s -> s.fill(s.bucket, 7, 2), s -> s.store.tryCharge(s.bucket, "new", 1)));
        paths.add(new StorePath(
                "evict by decide",
                4,
                s -> s.fill(s.two, 4, 2),
                s -> s.store.decide(List.of(s.two.charge("new"), s.two.charge("a")))));
        paths.add(new StorePath(
                "evict a full key",
                7,
                s -> {
                    s.fill(s.bucket, 7, 2);
                    s.clock.advance(HOUR);
                },
                s -> s.store.tryCharge(s.bucket, "new", 1)));
        paths.add(new StorePath(
                "sweep",
                100,
                s -> {
                    s.fill(s.bucket, 60, 1);
                    s.clock.advance(HOUR);
                    s.fill(s.bucket, 3, 2);
                },
                s -> s.clock.ring()));
        paths.add(
                new StorePath("overflow", 2, s -> s.fill(s.bucket, 2, 5), s -> s.store.tryCharge(s.bucket, "new", 4)));
        paths.add(known("refund", StorePath::refund));
        paths.add(new StorePath(
                "refund to the overflow",
                1,
                s -> {
                    s.store.decide(List.of(s.bucket.charge("k0", 5), s.log.charge("k0", 9), s.two.charge("k0", 5)));
                    s.decision = s.store.decide(s.all("a"));
                },
                StorePath::refund));
        paths.add(new StorePath(
                "refund after a change",
                100,
                s -> {
                    s.decision = s.store.decide(s.all("a"));
                    s.store.tryCharge(s.window, "a", 1);
                },
                StorePath::refund));
        return paths;
    }

    private static StorePath known(String name, Consumer<Scene> action) {
        return new StorePath(
                name,
                100,
                scene -> {
                    scene.decision = scene.store.decide(scene.all("a"));
                    scene.store.decide(scene.all(""));
                    // the next calls find these two in the remembered slots
                    scene.store.tryCharge(scene.bucket, "", 1);
                    scene.store.tryCharge(scene.daily, "", 1);
                    scene.store.tryCharge(scene.log, "a", 2);
                },
                action);
    }

    /** As many keys as fit before a table grows, which are more than it has numbers for limits; computed once. */
    private static final class Fitting {

        private static final int KEYS = count();

        private static int count() {
            Scene scene = new Scene(500);
            int keys = 80;
            IntStream.range(0, keys).forEach(i -> ownLimit(scene, i));
            for (long bytes = scene.store.bytes("bucket"); bytes == scene.store.bytes("bucket"); keys++) {
                ownLimit(scene, keys);
            }
            return keys - 1;
        }
    }

    private static void manyLimits(Scene scene) {
        IntStream.range(0, Fitting.KEYS).forEach(i -> ownLimit(scene, i));
    }

    private static void ownLimit(Scene scene, int number) {
        Policy own = Policy.of("bucket", scene.fuse.on(TokenBucket.of(Rate.parse(2 + number + "/hour"))));
        scene.store.tryCharge(own, "own" + number, 1);
    }

    private static void refund(Scene scene) {
        Decision decision = scene.decision;
        if (decision != null) {
            scene.store.refund(decision);
        }
    }
}
