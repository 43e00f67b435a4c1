package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Measures the time of decisions: {@code ratelimit.decision} with {@code store}. */
public final class MeteredStore extends ForwardingStore {

    private final MeterRegistry registry;
    private final Timer decisions;

    public MeteredStore(RateLimitStore store, RateLimitProperties.Store.Type type, MeterRegistry registry) {
        super(store);
        this.registry = registry;
        this.decisions = Timer.builder("ratelimit.decision")
                .description("Time of a decision over all limits of a request")
                .tag("store", kind(store, type))
                .register(registry);
    }

    /** Compares the names of classes, because stores may be missing; an application may have a store of its own. */
    private static String kind(RateLimitStore store, RateLimitProperties.Store.Type type) {
        return switch (store.getClass().getName()) {
            case "dev.ratelimit.memory.InMemoryStore" -> "memory";
            case "dev.ratelimit.redis.RedisStore" -> "redis";
            case "dev.ratelimit.jdbc.JdbcStore" -> "jdbc";
            case "dev.ratelimit.lease.LeasingStore" ->
                type == RateLimitProperties.Store.Type.MEMORY
                        ? "custom"
                        : type.name().toLowerCase(Locale.ROOT);
            default -> "custom";
        };
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return Objects.requireNonNull(decisions.record(() -> super.decide(charges)));
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // a timer does not fail
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        Timer.Sample sample = Timer.start(registry);
        CompletionStage<Decision> decided = store().decideAsync(charges);
        decided.whenComplete((decision, failure) -> sample.stop(decisions));
        return decided;
    }

    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return store().peekAsync(charges);
    }

    @Override
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        return store().refundAsync(decision, part);
    }
}
