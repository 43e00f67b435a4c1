package dev.ratelimit.benchmarks;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import io.github.bucket4j.Bucket;

/** Limiters of a request under three limits: a shared one, its endpoint's, and its user's, which all ask first. */
public enum ChainContender {
    /** The floor: one reading of the clock for all three, yes or no, one after another, without refunds. */
    BARE_TABLE {
        @Override
        Chain open(int users, Rate ofUser) {
            Gcra ample = new Gcra(Keys.AMPLE);
            BareTable shared = new BareTable(SPREAD, ample);
            BareTable own = new BareTable(users, new Gcra(ofUser));
            int global = shared.find("");
            return (endpoint, user) -> {
                long now = BareTable.now();
                return own.tryAcquire(own.find(user), now)
                        && shared.tryAcquire(shared.find(endpoint), now)
                        && shared.tryAcquire(global, now);
            };
        }
    },
    /** This library, in memory, all or nothing: yes or no. */
    OURS {
        @Override
        Chain open(int users, Rate ofUser) {
            Policies policies = new Policies(users, ofUser);
            return (endpoint, user) -> policies.limiter.tryAcquire(
                    policies.global.charge(), policies.endpoint.charge(endpoint), policies.user.charge(user));
        }
    },
    /** This library with a full decision: the remaining permits and the wait for each limit. */
    OURS_IN_FULL {
        @Override
        Chain open(int users, Rate ofUser) {
            Policies policies = new Policies(users, ofUser);
            return (endpoint, user) -> policies.limiter.decide(
                    policies.global.charge(), policies.endpoint.charge(endpoint), policies.user.charge(user));
        }
    },
    /**
     * Bucket4j, lock-free, users and endpoints in Caffeine caches. It takes from one after another and refunds; in
     * between, other callers see the tokens missing. Yes or no.
     */
    BUCKET4J {
        @Override
        Chain open(int users, Rate ofUser) {
            Bucket global = Bucket4j.bucket(Keys.AMPLE);
            Bucket4j endpoints = new Bucket4j(Keys.AMPLE, 100);
            Bucket4j own = new Bucket4j(ofUser, users);
            return (endpoint, user) -> {
                Bucket mine = own.bucket(user);
                if (!mine.tryConsume(1)) {
                    return false;
                }
                Bucket ofEndpoint = endpoints.bucket(endpoint);
                if (!ofEndpoint.tryConsume(1)) {
                    mine.addTokens(1);
                    return false;
                }
                if (!global.tryConsume(1)) {
                    ofEndpoint.addTokens(1);
                    mine.addTokens(1);
                    return false;
                }
                return true;
            };
        }
    };

    /** So few of the floor's shared budgets are in one table that hardly any two of them share a cache line. */
    private static final int SPREAD = 4_096;

    abstract Chain open(int users, Rate ofUser);

    /** Returns a boolean or a decision. */
    interface Chain {
        Object ask(String endpoint, String user);
    }

    private static final class Policies {

        private final RateLimiter limiter;
        private final Policy global = Policy.of("global", TokenBucket.of(Keys.AMPLE));
        private final Policy endpoint = Policy.of("endpoint", TokenBucket.of(Keys.AMPLE));
        private final Policy user;

        Policies(int users, Rate ofUser) {
            limiter = new RateLimiter(
                    InMemoryStore.builder().maxKeys(users + users / 5).build());
            user = Policy.of("user", TokenBucket.of(ofUser));
        }
    }
}
