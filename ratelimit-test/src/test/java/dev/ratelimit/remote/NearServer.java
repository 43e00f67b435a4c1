package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The only server of a remote store, and what it needs of one: it decides in memory, at once. */
final class NearServer implements Servers, Server.Access {

    /** Settings of such a store. */
    static final class Builder extends RemoteStoreBuilder<Builder> {

        Builder() {
            super("Near");
        }

        RemoteStore build() {
            return new RemoteStore(new NearServer(remoteSettings()), remoteSettings());
        }
    }

    private record Decided(Decision decision) implements Answer {

        @Override
        public boolean admitted() {
            return decision.admitted();
        }

        @Override
        public long nowMicros() {
            return 1;
        }

        @Override
        public List<List<LimitStatus>> statuses() {
            Iterator<LimitStatus> all = decision.limits().iterator();
            List<List<LimitStatus>> statuses = new ArrayList<>();
            for (Charge charge : decision.charges()) {
                statuses.add(charge.policy().limits().stream()
                        .map(limit -> all.next())
                        .toList());
            }
            return statuses;
        }
    }

    private final RemoteStoreSettings settings;
    private final OperatorLog operatorLog;
    private final Server health;
    private final RateLimitStore memory;
    private final Map<Long, Decision> charged = new ConcurrentHashMap<>();

    private NearServer(RemoteStoreSettings settings) {
        this.settings = settings;
        this.operatorLog = new OperatorLog(settings);
        this.health = new Server(this, settings, operatorLog);
        this.memory = InMemoryStore.builder().ticker(settings.ticker()).build();
    }

    @Override
    public void send(List<Charge> charges, Operation operation, Stamp stamp, List<Request> owner) {
        Request request = new Request(charges, operation, stamp, settings);
        owner.add(request);
        try {
            request.goTo(health);
            request.connected();
            request.written();
            request.arrived(new Decided(decide(charges, operation, stamp)), null);
        } catch (RuntimeException e) {
            request.arrived(null, e);
        }
    }

    private Decision decide(List<Charge> charges, Operation operation, Stamp stamp) {
        switch (operation) {
            case CHARGE -> {
                Decision decision = memory.decide(charges);
                charged.put(stamp.id(), decision);
                return decision;
            }
            case PEEK -> {
                return memory.peek(charges);
            }
            case REFUND -> memory.refund(Objects.requireNonNull(charged.get(stamp.id())), charges);
            case RESET -> charges.forEach(charge -> memory.reset(charge.policy(), charge.key()));
        }
        return new Decision(true, charges, List.of(), null);
    }

    @Override
    public boolean reaches(Charge charge) {
        return available();
    }

    @Override
    public boolean available() {
        return health.available();
    }

    @Override
    public void close() {
        operatorLog.close();
        health.close();
        memory.close();
    }

    @Override
    public String title() {
        return "";
    }

    @Override
    public CompletableFuture<?> probe() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void reconnect() {
        // there is no connection
    }

    @Override
    public void lookElsewhere() {
        // there is no other
    }
}
