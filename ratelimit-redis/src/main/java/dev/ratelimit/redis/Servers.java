package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.redis.Link.Topology;
import dev.ratelimit.redis.Node.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Finds out which server has which key, and sends each its part of the charges. Thread-safe; does not wait. */
final class Servers implements AutoCloseable {

    private static final int MOST_POLICIES = 10_000;

    /** Stands for all servers until there has been a connection. */
    private static final String UNKNOWN = "";

    private final Link link;
    private final KeyNames names;
    private final Function<String, Node> newNode;
    private final Map<String, Node> nodes = new ConcurrentHashMap<>();
    private final Map<Policy, List<RedisLimit>> limits = new ConcurrentHashMap<>();

    /**
     * Servers at the end of this link.
     *
     * @param newNode makes what guards the server of this name
     */
    Servers(Link link, KeyNames names, Function<String, Node> newNode) {
        this.link = link;
        this.names = names;
        this.newNode = newNode;
    }

    /** Sends the charges, each slot's in one script. */
    List<Sent> send(List<Charge> charges, Operation operation, long atMicros) {
        List<Sent> sent = new ArrayList<>(1);
        Topology topology = link.topology();
        batches(charges).forEach((slot, batch) -> {
            Node node = nodes.computeIfAbsent(topology == null ? UNKNOWN : topology.server(slot), newNode);
            sent.add(node.send(batch, operation, atMicros));
        });
        return sent;
    }

    private Map<Integer, Batch> batches(List<Charge> charges) {
        Map<Integer, Batch> batches = new TreeMap<>();
        for (Charge charge : charges) {
            String name = names.name(charge.policy().name(), charge.key());
            batches.computeIfAbsent(link.slot(name), slot -> new Batch()).add(charge, limits(charge.policy()), name);
        }
        return batches;
    }

    private List<RedisLimit> limits(Policy policy) {
        List<RedisLimit> known = limits.get(policy);
        if (known == null) {
            if (limits.size() >= MOST_POLICIES) {
                limits.clear();
            }
            known = policy.limits().stream().map(RedisLimit::of).toList();
            limits.put(policy, known);
        }
        return known;
    }

    /** Begins to connect, or is connected. */
    CompletionStage<Link.Live> connect() {
        return link.live();
    }

    /** Whether none of them is known to fail; one whose slots another server has taken over does not count. */
    boolean available() {
        Topology topology = link.topology();
        Set<String> names = topology == null ? nodes.keySet() : topology.servers();
        return names.stream().map(nodes::get).filter(Objects::nonNull).allMatch(Node::available);
    }

    @Override
    public void close() {
        link.close();
    }
}
