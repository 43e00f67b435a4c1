package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A server that accepts connections and keeps what was sent to it, but does not answer by itself. */
final class SilentServer extends OneServer {

    private final List<Call> calls = new ArrayList<>();
    private final CompletableFuture<long[]> first = new CompletableFuture<>();
    private int connections;

    private final class Silent implements Connection {

        @Override
        public String server() {
            return ANY;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
            calls.add(Objects.requireNonNull(call.get()));
            return calls.size() == 1 ? first : new CompletableFuture<>();
        }

        @Override
        public CompletableFuture<String> clusterNodes() {
            return new CompletableFuture<>();
        }

        @Override
        public CompletableFuture<String> memory() {
            return new CompletableFuture<>();
        }

        @Override
        public CompletionStage<Void> close() {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Override
    public Connection connect(String server) {
        connections++;
        return new Silent();
    }

    @Override
    public String title(String server) {
        return "";
    }

    List<Call> calls() {
        return calls;
    }

    int connections() {
        return connections;
    }

    void failFirst(RuntimeException reply) {
        first.completeExceptionally(reply);
    }
}
