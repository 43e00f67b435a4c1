package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import io.github.bucket4j.Bucket;
import java.time.Duration;

/** Bucket4j's buckets, as its documentation makes them: lock-free, by {@link System#currentTimeMillis}. */
final class Buckets {

    private Buckets() {}

    static Bucket of(Rate rate) {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(rate.permits())
                        .refillGreedy(rate.permits(), Duration.ofNanos(rate.periodNanos())))
                .build();
    }
}
