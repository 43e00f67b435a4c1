package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.lease.Beneath;
import dev.ratelimit.remote.Inside;
import dev.ratelimit.remote.Inside.Outcome;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.Partitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Builds stores on a network other than the client's: for simulations, which are in another package. */
public final class Seam {

    /** A connection of that network. Failures are the client's exceptions. */
    public interface Wire {

        boolean isOpen();

        /** Writes as soon as the connection gets to it. */
        void write(Runnable writing);

        /** Runs a script, given by its text, or by its digest alone if {@code text} is {@code null}. */
        CompletableFuture<long[]> script(
                @Nullable String text, String sha, boolean asking, String[] keys, byte[][] arguments);

        CompletableFuture<String> clusterNodes();

        void close();
    }

    /** That network. Its methods block. */
    public interface Net {

        /** Connects to the server of this address, or to the current master if it is empty. */
        Wire connect(String address);

        /** What the initially configured nodes answer to {@code CLUSTER NODES}. */
        String clusterNodes();
    }

    private static final Map<String, KeyNames> NAMES = new ConcurrentHashMap<>();

    /** By the digest of the script that another version sends instead. */
    private static final Map<String, Script> OTHERS = new ConcurrentHashMap<>();

    private Seam() {}

    /** Builds a store on the network's current master. */
    public static RedisStoreBuilder single(Net net, Executor threads, RandomGenerator random) {
        return new RedisStoreBuilder(settings -> new Single(net))
                .threads(threads)
                .random(random);
    }

    /** Builds a store on the network's cluster. */
    public static RedisStoreBuilder cluster(Net net, Executor threads, RandomGenerator random) {
        return new RedisStoreBuilder(settings -> new Cluster(new Nodes(net), settings.ticker(), settings.random()))
                .threads(threads)
                .random(random);
    }

    /** Lets a store send other scripts with the same effect, as another version would. */
    public static void otherVersion(RedisStoreBuilder builder) {
        builder.edition(Seam::otherVersion);
    }

    /** The scripts that decide any of these policies together, in this version and in the other one. */
    public static List<String> scripts(List<Policy> policies) {
        List<Script> scripts = new ArrayList<>();
        scripts.add(Script.ofAll());
        for (int chosen = 1; chosen < 1 << policies.size(); chosen++) {
            Batch batch = new Batch(0, 0);
            for (int i = 0; i < policies.size(); i++) {
                if ((chosen & 1 << i) != 0) {
                    List<RedisLimit> limits = policies.get(i).limits().stream()
                            .map(RedisLimits::of)
                            .toList();
                    batch.add(policies.get(i).charge(), limits, "");
                }
            }
            scripts.add(Script.of(List.of(batch)));
        }
        return scripts.stream()
                .flatMap(script -> Stream.of(script, otherVersion(script)))
                .map(Script::text)
                .toList();
    }

    private static Script otherVersion(Script script) {
        return OTHERS.computeIfAbsent(script.sha(), sha -> Script.of(script.text() + "\n-- another version"));
    }

    /** The name in Redis of the slowest limit of this charge's policy, which carries a penalty. */
    public static String slowestKey(String prefix, Charge charge) {
        return name(prefix, charge) + 0;
    }

    /** The names in Redis of the limits of this charge's policy. */
    public static List<String> keys(String prefix, Charge charge) {
        String name = name(prefix, charge);
        return IntStream.range(0, charge.policy().limits().size())
                .mapToObj(limit -> name + charge.policy().rank(limit))
                .toList();
    }

    private static String name(String prefix, Charge charge) {
        return NAMES.computeIfAbsent(prefix, KeyNames::new).name(charge.policy().name(), charge.key());
    }

    /** The failure of a command whose reply is no script's. */
    public static RuntimeException unexpectedReply() {
        return Reply.unexpected();
    }

    /** Whether a server says by this that it cannot write. */
    public static boolean isOfWriting(Throwable failure) {
        return LettuceFailure.of(failure).reason().ofWriting();
    }

    /** Who decided this charge of the decision, or the lease that has paid for it; {@code null} if that was the cache. */
    private static @Nullable Outcome part(Decision decision, Charge charge) {
        Decision beneath = Beneath.of(decision, charge);
        Charge decided = beneath.charges().stream()
                .filter(charge::sameBudget)
                .findFirst()
                .orElseThrow();
        return Inside.of(beneath, decided);
    }

    /** Whether a server decided this charge of the decision, or charged the lease that has paid for it. */
    public static boolean byServer(Decision decision, Charge charge) {
        Outcome part = part(decision, charge);
        return part != null && part.byServer();
    }

    /** When a server charged this charge, or the lease that has paid for it, by that server's clock. */
    public static long serverNanos(Decision decision, Charge charge) {
        Outcome part = part(decision, charge);
        return part == null ? 0 : part.stamp().micros() * 1000;
    }

    /** The number by which permits of this charge are known that are held. */
    public static long id(Decision decision, Charge charge) {
        Outcome part = part(decision, charge);
        return part == null ? 0 : part.stamp().id();
    }

    /** Whether a refusal came from what is known of former answers, without asking a server. */
    public static boolean fromCache(Decision decision) {
        return decision.charges().stream().anyMatch(charge -> part(decision, charge) == null);
    }

    /** Whether memory decided this charge of the decision. */
    public static boolean inMemory(Decision decision, Charge charge) {
        Outcome part = part(decision, charge);
        return part != null && part.inMemory();
    }

    private record Wired(String server, Wire wire) implements Connection {

        @Override
        public boolean isOpen() {
            return wire.isOpen();
        }

        @Override
        public void whenClosed(Runnable action) {}

        @Override
        public CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking) {
            CompletableFuture<long[]> reply = new CompletableFuture<>();
            wire.write(() -> {
                var unused = write(call, asking).whenComplete((numbers, failure) -> {
                    if (failure == null) {
                        reply.complete(numbers);
                    } else {
                        reply.completeExceptionally(failure);
                    }
                });
            });
            return reply;
        }

        private CompletableFuture<long[]> write(Supplier<@Nullable Call> call, boolean asking) {
            if (!wire.isOpen()) {
                return CompletableFuture.failedFuture(new RedisException("Connection closed"));
            }
            Call made = call.get();
            if (made == null) {
                return CompletableFuture.failedFuture(StoreFailure.stalled("nobody waits", null));
            }
            return wire.script(
                    made.whole() ? made.script().text() : null,
                    made.script().sha(),
                    asking,
                    made.keys(),
                    made.arguments());
        }

        @Override
        public CompletableFuture<String> clusterNodes() {
            return wire.clusterNodes();
        }

        @Override
        public CompletableFuture<String> memory() {
            return CompletableFuture.completedFuture("maxmemory:0\r\n");
        }

        @Override
        public CompletionStage<Void> close() {
            wire.close();
            return CompletableFuture.completedFuture(null);
        }
    }

    private record Nodes(Net net) implements ClusterConnector {

        @Override
        public Partitions nodes() {
            return ClusterPartitionParser.parse(net.clusterNodes());
        }

        @Override
        public Partitions refresh() {
            return nodes();
        }

        @Override
        public Connection connect(String server, RedisURI uri) {
            return new Wired(server, net.connect(uri.getHost() + ":" + uri.getPort()));
        }
    }

    private static final class Single extends OneServer {

        private final Net net;

        Single(Net net) {
            this.net = net;
        }

        @Override
        public String title(String server) {
            return "";
        }

        @Override
        public Connection connect(String server) {
            return new Wired(server, net.connect(""));
        }
    }
}
