package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.spring.rules.rule.OnExceeded;
import dev.ratelimit.spring.rules.rule.Rule;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The refused requests that wait for their permits, and those whose refusals are held back. None of them keeps a thread.
 * Thread-safe.
 */
public final class WaitingRequests implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WaitingRequests.class);

    private static final Duration REJECTED_RETRY_AFTER = Duration.ofSeconds(1);

    /** A refusal that is sent later. */
    private record HeldBack(CompletableFuture<Boolean> over) {}

    private final RequestRules rules;
    private final RefundingStore store;
    private final RateLimitStore sending;
    private final Ticker ticker;
    private final Scheduler scheduler;

    /** What happens to refused requests, by policy; without the policies that refuse at once. */
    private final Map<String, OnExceeded> policies = new HashMap<>();

    /** The refusals that are held back, by policy. */
    private final Map<String, Set<HeldBack>> heldBack = new HashMap<>();

    private volatile RateLimitQueue queue;

    /** Read under the lock of the refusals of a policy, so that none is held back after they were sent. */
    private volatile boolean closed;

    /**
     * Creates the queues of the configured policies.
     *
     * @param rules the rules that apply
     * @param store decides
     * @param ticker the clock for deadlines
     * @param scheduler wakes the requests
     */
    public WaitingRequests(RequestRules rules, RateLimitStore store, Ticker ticker, Scheduler scheduler) {
        this.rules = rules;
        this.store = new RefundingStore(store, this::wake);
        this.sending = this.store.withoutBlocking();
        this.ticker = ticker;
        this.scheduler = scheduler;
        for (Rule rule : rules.configuredRules()) {
            String name = rule.policy().name();
            if (!rule.onExceeded().rejects()) {
                policies.put(name, rule.onExceeded());
                heldBack.put(name, ConcurrentHashMap.newKeySet());
            }
        }
        this.queue = newQueue();
    }

    private RateLimitQueue newQueue() {
        RateLimitQueue.Builder builder =
                RateLimitQueue.builder(store).ticker(ticker).scheduler(scheduler);
        policies.forEach((name, then) -> {
            if (then.waits()) {
                builder.policy(name, new Waiting(then.maxWait(), then.queue(), then.order()));
            }
        });
        return builder.build();
    }

    /** Whether any request may wait. */
    public boolean arePossible() {
        return !policies.isEmpty();
    }

    /** The names of the policies for which requests may wait. */
    public Set<String> policies() {
        return new TreeSet<>(policies.keySet());
    }

    /** How many requests wait for this policy, or for its refusal. */
    public int waiting(String policy) {
        Set<HeldBack> back = heldBack.get(policy);
        return queue.waiting(policy) + (back == null ? 0 : back.size());
    }

    /** Asks again for all who wait for this policy, whose limits or budgets have been changed, and so may its wait. */
    public void wake(String policy) {
        for (String half : List.of(policy, Rule.concurrencyOf(policy))) {
            Rule rule = rules.inForce().byPolicy().get(half);
            OnExceeded then = policies.get(half);
            if (rule != null && then != null && then.waits()) {
                queue.maxWait(half, rule.onExceeded().maxWait());
            }
            queue.wake(half);
        }
    }

    private void wake(List<Charge> refunded) {
        for (Charge charge : refunded) {
            queue.wake(charge.policy(), charge.key());
        }
    }

    public Ticker ticker() {
        return ticker;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    /** Decides about requests; whatever it refunds goes to those who wait. */
    RateLimitStore store() {
        return store;
    }

    /** The same for event loops: refunds do not block, either. */
    RateLimitStore storeWithoutBlocking() {
        return sending;
    }

    /** Charges a request to all its rules, now or after waiting. Cancelling the result ends the wait. */
    CompletableFuture<Decision> acquire(StageCharges charges) {
        return queue.acquire(charges.rules().enforced(), () -> charges.attempt(rules.inForce()));
    }

    /** Whether anybody waits for a policy of this request, who must not be overtaken. */
    boolean areAheadOf(StageCharges charges) {
        return charges.rules()
                .anyCharged(one -> queue.waiting(one.charge().policy().name()) > 0);
    }

    /** Charges a request like {@link #acquire}, on a thread that may block. */
    CompletableFuture<Decision> acquireAsync(StageCharges charges) {
        CompletableFuture<Decision> result = new CompletableFuture<>();
        try {
            scheduler.blockingExecutor().execute(() -> acquire(charges, result));
        } catch (RejectedExecutionException e) {
            String policy = charges.rules().charges().get(0).policy().name();
            result.completeExceptionally(new StoreUnavailableException(
                    policy, REJECTED_RETRY_AFTER, "too many requests wait for a thread that may block"));
        }
        return result;
    }

    private void acquire(StageCharges charges, CompletableFuture<Decision> result) {
        if (result.isDone()) {
            return;
        }
        CompletableFuture<Decision> attempts = acquire(charges);
        CompletableFuture<?> unusedToo = result.whenComplete((decision, failure) -> attempts.cancel(false));
        CompletableFuture<?> unused = attempts.whenComplete((decision, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else if (!result.complete(decision) && decision.admitted()) {
                sending.refund(decision);
            }
        });
    }

    /**
     * Holds back the refusal of a request, if all policies that refused it do so, and the one with the longest delay has
     * room.
     *
     * @return completed when the refusal may be sent; {@code null} at once
     */
    @Nullable
    CompletableFuture<Boolean> holdBack(StageCharges refused) {
        String longest = null;
        for (String name : refused.answer().violatedPolicies()) {
            OnExceeded then = policies.get(name);
            if (then == null || !then.delays() || refused.answer().violated().isEmpty()) {
                return null;
            }
            OnExceeded before = longest == null ? null : policies.get(longest);
            longest = before == null || then.delay().compareTo(before.delay()) > 0 ? name : longest;
        }
        return longest == null ? null : holdBack(longest);
    }

    private @Nullable CompletableFuture<Boolean> holdBack(String policy) {
        OnExceeded then = policies.get(policy);
        Set<HeldBack> back = heldBack.get(policy);
        if (then == null || back == null) {
            return null;
        }
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        HeldBack held = new HeldBack(over);
        synchronized (back) {
            if (closed || back.size() >= then.delayed()) {
                return null;
            }
            back.add(held);
        }
        Scheduler.Alarm alarm;
        try {
            alarm = scheduler.schedule(() -> send(over), then.delay().toNanos());
        } catch (RuntimeException | Error e) {
            back.remove(held);
            throw e;
        }
        CompletableFuture<Boolean> unused = over.whenComplete((done, cancelled) -> {
            back.remove(held);
            alarm.cancel();
        });
        return over;
    }

    /** Sends a refusal on the executor, because the scheduler's thread must not block; if that fails, on this one. */
    private void send(CompletableFuture<Boolean> over) {
        try {
            scheduler.executor().execute(() -> over.complete(true));
        } catch (RuntimeException | Error e) {
            over.complete(true);
        }
    }

    /** Lets requests wait again, after {@link #close}. */
    public synchronized void open() {
        if (closed) {
            queue = newQueue();
            policies.keySet().forEach(this::wake);
            closed = false;
        }
    }

    /** Refuses all who wait, and from now on those who would have to. Idempotent. */
    @Override
    public synchronized void close() {
        int refused =
                closed ? 0 : policies.keySet().stream().mapToInt(this::waiting).sum();
        if (refused > 0) {
            log.info("The application stops: {} waiting requests are refused now", refused);
        }
        closed = true;
        queue.close();
        heldBack.values().forEach(back -> {
            List<HeldBack> all;
            synchronized (back) {
                all = List.copyOf(back);
            }
            all.forEach(held -> held.over().complete(true));
        });
    }
}
