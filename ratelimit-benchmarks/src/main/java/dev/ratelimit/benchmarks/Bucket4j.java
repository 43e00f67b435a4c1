package dev.ratelimit.benchmarks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.ratelimit.Rate;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.function.Function;

/** Bucket4j's buckets, created as its documentation says: lock-free, with {@link System#currentTimeMillis}. */
final class Bucket4j {

    /** Kept, so that calls do not create one. */
    private final Function<String, Bucket> making;

    private final Cache<String, Bucket> buckets;

    /** A bucket for each of this number of keys, plus a fifth, in a Caffeine cache. */
    Bucket4j(Rate rate, int keys) {
        this.making = absent -> bucket(rate);
        this.buckets = Caffeine.newBuilder().maximumSize(keys + keys / 5).build();
    }

    Bucket bucket(String key) {
        return buckets.get(key, making);
    }

    static Bucket bucket(Rate rate) {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(rate.permits())
                        .refillGreedy(rate.permits(), Duration.ofNanos(rate.periodNanos())))
                .build();
    }
}
