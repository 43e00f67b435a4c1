package dev.ratelimit.spring;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The policies of the configuration and of annotations, by name: for decisions in one's own code, the state of a key,
 * and changes while the application runs. A bean. Thread-safe.
 *
 * <p>A key is written as its plain values, one for each part of the policy's key: {@code "alice"}, or {@code "alice",
 * "GET /orders/{id}"} for the key {@code user, endpoint}; nothing if all callers share one budget. It is the budget of
 * the requests with these values. A caller who was identified by the address because a value was missing is
 * {@code "ip:10.0.0.7"}.
 */
public interface RateLimitPolicies {

    /** {@return the names of all policies, including those that are off, in alphabetical order} */
    Set<String> names();

    /**
     * {@return the limits in force, for keys without an override or a plan}
     *
     * @param name of a configured policy, or of an annotation
     * @throws IllegalArgumentException if there is no such policy
     */
    Policy policy(String name);

    /**
     * {@return whether the policy is applied}
     *
     * @param name of a configured policy, or of an annotation
     * @throws IllegalArgumentException if there is no such policy
     */
    Mode mode(String name);

    /**
     * {@return one permit of a key's budget, for a {@code RateLimiter}; more with {@link Charge#plus}} With the limits
     * of now, so create a charge for each decision. A blocked key is charged more permits than the policy ever admits,
     * and an unlimited one 0 permits, as is every key of a policy that is not enforced. Plans are unknown here, so keys
     * with a plan have the limits of those without.
     *
     * @param policy its name
     * @param key one plain value for each part of the policy's key; none if all callers share one budget
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    Charge charge(String policy, String... key);

    /**
     * {@return the status of each limit for a key, as its next request would find it; empty for keys that are unlimited
     * or blocked} Takes nothing. Plans are unknown here, so keys with a plan have the limits of those without.
     *
     * @param policy its name
     * @param key one plain value for each part of the policy's key; none if all callers share one budget
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     * @throws dev.ratelimit.StoreUnavailableException if the store does not answer, and the policy fails closed
     */
    List<LimitStatus> state(String policy, String... key);

    /**
     * Resets a key to a full budget.
     *
     * @param policy its name
     * @param key one plain value for each part of the policy's key; none if all callers share one budget
     * @return whether it is certain that the key was reset; {@code false} if the store's server does not answer
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    @CanIgnoreReturnValue
    boolean reset(String policy, String... key);

    /**
     * Changes a policy while the application runs. What the change leaves out stays as it is. Every request, and all
     * endpoints whose annotations name the policy, see either the old policy or the new one. Keys keep the permits that
     * they have used, in proportion. A restart returns to the configuration, and so does the end of the change, if it has
     * one.
     *
     * <p>A policy that is off in the configuration can be {@linkplain RateLimitChange#onPaths put in force} on some of its
     * paths, and so can three that need no configuration, which are among the {@link #names} only while they are changed.
     *
     * <p>With the store on Redis, all instances have the change two seconds later, also those that start later, and it
     * lasts until the last of them stops.
     *
     * @param policy its name
     * @param change what to change; follows earlier changes of this policy
     * @throws RateLimitConfigurationException if the configuration would not be valid; the policy then stays as it is
     * @throws IllegalArgumentException if there is no such policy, the end is in the past or more than 366 days away, or
     *     the limit has more than 200 characters
     * @throws IllegalStateException if Redis does not answer; the policy then stays as it is, unless Redis has received
     *     the change
     */
    void change(String policy, RateLimitChange change);

    /**
     * Returns to the configuration, as if the policy had never been changed.
     *
     * @param policy its name
     * @throws IllegalArgumentException if there is no such policy
     * @throws IllegalStateException if Redis does not answer; the policy then stays as it is
     */
    void restore(String policy);

    /**
     * Blocks a key, lifts its limit or gives it another one while the application runs, in place of its override in the
     * configuration, of its plan and of an earlier override by this method. Requests from then on have it, except those
     * that already wait for permits. A key whose limit is replaced keeps the permits that it has used, in proportion, at
     * the beginning and at the end. At most 10,000 keys may have an override, over all policies.
     *
     * <p>An override ends exactly at its end, by the clock of Redis if instances share it. One without an end lasts until it
     * is removed, or until the instance restarts.
     *
     * @param policy its name; its key must have exactly one part besides endpoint, route and method
     * @param key the plain value of that part, at most 256 characters; for the part {@code ip}, an address or a network
     *     such as {@code 203.0.113.0/24}, of which the narrowest with an override applies
     * @param override the limits of the key, and until when
     * @throws RateLimitConfigurationException if the policy cannot have the limits
     * @throws IllegalArgumentException if there is no such policy, it has no keys of this kind, the end is in the past or
     *     more than 366 days away, or there are too many overrides
     */
    void override(String policy, String key, KeyOverride override);

    /**
     * Ends an override by {@link #override}. The key has the limits of the configuration again.
     *
     * @param policy its name
     * @param key as in {@link #override}, in whatever spelling
     * @return whether there was one
     * @throws IllegalArgumentException if there is no such policy, or it has no keys of this kind
     */
    @CanIgnoreReturnValue
    boolean removeOverride(String policy, String key);

    /**
     * {@return the overrides of a policy that are in force by {@link #override}, ordered by key}
     *
     * @param policy its name
     * @throws IllegalArgumentException if there is no such policy
     */
    List<OverriddenKey> overrides(String policy);

    /**
     * Tries another limit beside the one in force, in place of the last trial of the policy: whom it would refuse, and how
     * many more than now. It refuses nobody; {@link RateLimitTrial} says what it sees.
     *
     * @param policy its name
     * @param trial the limit, and for how long; without a burst, the burst stays as it is, as with {@link #change}
     * @throws RateLimitConfigurationException if the policy cannot have the limit
     * @throws IllegalArgumentException if there is no such policy, it is off or counts requests at once, or ten trials run
     */
    void startTrial(String policy, RateLimitTrial trial);

    /**
     * {@return what the last trial of a policy has shown so far; {@code null} if it was ended, or there was none}
     *
     * @param policy its name
     * @throws IllegalArgumentException if there is no such policy
     */
    RateLimitTrial.@Nullable Result trial(String policy);

    /**
     * Ends a trial by {@link #startTrial}, and forgets what it has shown.
     *
     * @param policy its name
     * @return whether there was one
     * @throws IllegalArgumentException if there is no such policy
     */
    @CanIgnoreReturnValue
    boolean endTrial(String policy);

    /**
     * {@return what was done to policies and to keys, and what has ended by itself, the latest first} At most the last
     * 1,000 entries are kept: those of this instance since its start or, with the store on Redis, of all instances since
     * the first of them started. The end of a change is an entry as long as the change is one.
     *
     * @param limit how many entries at most, from 1 to 1,000
     * @throws IllegalArgumentException if the limit is another one
     */
    List<HistoryEntry> history(int limit);

    /**
     * {@return what was done to a policy and to keys under it, and what has ended by itself, the latest first} It is a part
     * of {@link #history(int)}.
     *
     * @param policy its name
     * @param limit how many entries at most, from 1 to 1,000
     * @throws IllegalArgumentException if there is no such policy, nor an entry for one, or the limit is another one
     */
    List<HistoryEntry> history(String policy, int limit);

    /**
     * A key with an override. Immutable.
     *
     * @param key the plain value, in its usual spelling
     * @param limit the limits as they were written: such as {@code 50/minute}, {@code blocked} or {@code unlimited}
     * @param until when it ends; {@code null} if it has no end
     * @param reason why; {@code null} if nobody has said that
     * @param by who has set it
     * @param since when it was set
     */
    record OverriddenKey(
            String key,
            String limit,
            @Nullable Instant until,
            @Nullable String reason,
            String by,
            Instant since) {}
}
