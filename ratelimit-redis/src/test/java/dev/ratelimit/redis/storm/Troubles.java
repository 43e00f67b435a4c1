package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.redis.server.ScriptServer.State;
import dev.ratelimit.redis.storm.Bounds.Gain;
import dev.ratelimit.redis.storm.Step.Target;
import dev.ratelimit.redis.storm.Step.Trouble;
import dev.ratelimit.redis.storm.Step.Want;
import dev.ratelimit.redis.storm.World.Place;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Lets faults begin and end. */
final class Troubles {

    /** Of an algorithm that only a later version has. */
    private static final byte[] FOREIGN = "z;20;1;1;;".getBytes(StandardCharsets.US_ASCII);

    private static final long REPLACE_NANOS = 300_000_000;

    private static final long LEARN_NANOS = 2_500_000_000L;

    /** The variants of a fail-over. */
    private static final int TOLD = 1;

    private static final int AWAY = 2;
    private static final int UNAWARE = 4;

    private final World world;
    private final Network network;
    private final Setup setup;
    private final List<String> keys = new ArrayList<>();
    private final Map<Place, Long> stillNanos = new HashMap<>();
    private final Set<Object> touched = new HashSet<>();
    private final List<Gain> gains = new ArrayList<>();
    private boolean clocksDiffer;
    private boolean slotsMove;

    Troubles(World world, Network network, Setup setup) {
        this.world = world;
        this.network = network;
        this.setup = setup;
        for (int policy = 0; policy < setup.policies().size(); policy++) {
            for (int key = 0; key < setup.keys(); key++) {
                keys.addAll(Seam.keys(Books.PREFIX, setup.charge(new Want(policy, key, 0), false)));
            }
        }
    }

    /** When a fault and what follows from it are over: a master that was replaced returns later, as a replica. */
    static long end(Trouble trouble) {
        return trouble.atNanos() + (trouble.fault() == Step.Fault.FAIL_OVER ? 2 : 1) * trouble.forNanos();
    }

    /**
     * How long it takes at most until a server is used again whose connection was found to be dead: to connect, and in a
     * cluster perhaps to ask a few servers, one a second, which one has taken over.
     */
    long replacementNanos() {
        return setup.deadlineNanos()
                + setup.connectNanos()
                + 5 * setup.farNanos()
                + REPLACE_NANOS
                + (setup.isCluster() ? LEARN_NANOS : 0);
    }

    /** For how long an instance has stood still so far. */
    long stoodStill(Place place) {
        return stillNanos.getOrDefault(place, 0L);
    }

    /** Whether no fault has yet concerned this instance, this server, or the way from one to the other. */
    boolean untouched(Place place, Server server) {
        // an instance may still know the former server of a slot
        List<Server> concerned = slotsMove ? network.servers() : List.of(server);
        return !touched.contains(place)
                && concerned.stream()
                        .noneMatch(each -> touched.contains(each) || touched.contains(List.of(place, each)));
    }

    /** Whether no fault has concerned this key in particular. */
    boolean untouched(Charge charge) {
        return Seam.keys(Books.PREFIX, charge).stream().allMatch(this::untouched);
    }

    /** Whether no fault has concerned the key of this name in particular. */
    boolean untouched(String key) {
        return !touched.contains(key);
    }

    /** Whether no fault has concerned a key that is refunded in the same command as this one, and by its failure fails it. */
    boolean untouchedTogether(String key) {
        return keys.stream()
                .noneMatch(other -> touched.contains(other) && tag(other).equals(tag(key)));
    }

    private static String tag(String key) {
        return key.substring(key.indexOf('{'), key.indexOf('}'));
    }

    /** The faults that have given permits back, the first one first. */
    List<Gain> gains() {
        return gains;
    }

    private void start(Server server, boolean keepsData) {
        server.start(keepsData);
        if (!keepsData) {
            lost();
        }
    }

    private void lost() {
        gains.add(new Gain(world.now(), Bounds.ALL));
    }

    private void moveClock(Server server, long nanos) {
        clocksDiffer = true;
        server.moveClock(nanos);
        if (nanos > 0) {
            gains.add(new Gain(world.now(), nanos));
        }
    }

    private String key(Trouble trouble) {
        Target target = trouble.target();
        Charge charge = setup.charge(new Want(target.policy(), target.key(), 0), false);
        return Seam.keys(Books.PREFIX, charge).get(target.limit());
    }

    private void touch(Trouble trouble, Place place, Server server) {
        List<?> where = switch (trouble.fault()) {
            case CUT,
                    HALF_OPEN,
                    BLACK_HOLE,
                    SLOW_NETWORK,
                    REFUSED,
                    REPLY_TWICE,
                    REPLY_LOST,
                    REPLY_CUT,
                    REPLIES_SWAPPED -> List.of(List.of(place, server));
            case PAUSED, INSTANCE_KILLED, NO_THREAD, CLOSED -> List.of(place);
            case FAIL_OVER -> network.servers();
            // commands follow the slot, at once if they need not connect
            case SLOT_MOVES -> network.connecting().atOnce() ? List.of() : network.servers();
            case FOREIGN_VALUE -> List.of(key(trouble));
            case SCRIPTS_FLUSHED, SERVER_CLOCK_FORWARD, SERVER_CLOCK_BACK, WALL_CLOCK_MOVES, OTHER_LIMITS -> List.of();
            default -> List.of(server);
        };
        touched.addAll(where);
        if (!trouble.fault().sparesConnections()) {
            where.forEach(network.connecting()::doubt);
        }
    }

    private void later(Trouble trouble, Runnable end) {
        network.faultBegins();
        world.in(trouble.forNanos(), world.outside(), () -> {
            network.faultEnds();
            end.run();
        });
    }

    void begin(Trouble trouble, Place place) {
        Server server = current(trouble.server());
        long time = trouble.forNanos();
        touch(trouble, place, server);
        network.faultBegins();
        network.faultEnds();
        switch (trouble.fault()) {
            case KILLED, EMPTIED, VANISHED -> {
                server.kill(trouble.fault() != Step.Fault.VANISHED);
                later(trouble, () -> start(server, trouble.fault() != Step.Fault.EMPTIED));
            }
            case HANGING -> {
                server.hang();
                later(trouble, server::proceed);
            }
            case SLOW_SERVER -> {
                server.slowDown(trouble.byNanos());
                later(trouble, () -> server.slowDown(0));
            }
            case UNSTABLE -> {
                unstable(server, trouble.byNanos(), world.now() + time);
                later(trouble, () -> restore(server));
            }
            case OUT_OF_MEMORY -> refuse(trouble, server, State.OUT_OF_MEMORY);
            case READ_ONLY -> refuse(trouble, server, State.READ_ONLY);
            case LOADING -> refuse(trouble, server, State.LOADING);
            case BUSY -> refuse(trouble, server, State.BUSY);
            case FORBIDDEN -> refuse(trouble, server, State.NO_PERMISSION);
            case CLUSTER_DOWN -> refuse(trouble, server, State.CLUSTER_DOWN);
            case SCRIPTS_FLUSHED -> server.data().flushScripts();
            case SERVER_CLOCK_FORWARD -> moveClock(server, time);
            case SERVER_CLOCK_BACK -> moveClock(server, -time);
            case FAIL_OVER -> failOver(trouble, server);
            case SLOT_MOVES -> moveSlot(trouble);
            case CUT -> network.cut(place, server, true);
            case HALF_OPEN -> network.cut(place, server, false);
            case BLACK_HOLE -> {
                network.swallow(place, server, true);
                later(trouble, () -> network.swallow(place, server, false));
            }
            case SLOW_NETWORK -> {
                network.slowDown(place, server, trouble.byNanos());
                later(trouble, () -> network.slowDown(place, server, 0));
            }
            case REPLY_TWICE, REPLY_LOST, REPLY_CUT, REPLIES_SWAPPED -> {
                network.confuse(place, server, trouble.fault());
                later(trouble, () -> network.confuse(place, server, null));
            }
            case REFUSED -> {
                network.refuse(place, server, true);
                network.cut(place, server, true);
                later(trouble, () -> network.refuse(place, server, false));
            }
            case PAUSED -> {
                stillNanos.merge(place, time, Long::sum);
                place.standStill(time);
                later(trouble, () -> {});
            }
            case INSTANCE_KILLED -> place.end();
            case NO_THREAD -> {
                place.refuseThreads(time);
                later(trouble, () -> {});
            }
            case WALL_CLOCK_MOVES -> place.moveWallClock(trouble.variant() == 0 ? time : -time);
            case FOREIGN_VALUE -> spoil(trouble, key(trouble));
            // its calls under way fail
            case CLOSED -> {}
            case OTHER_LIMITS -> throw new IllegalArgumentException(trouble.toString());
        }
    }

    private void spoil(Trouble trouble, String key) {
        lost();
        network.owner(key).data().put(key, FOREIGN);
        later(trouble, this::removeForeign);
    }

    /** Removes foreign values, wherever slots and snapshots have brought them. */
    void removeForeign() {
        ScriptServer bin = new ScriptServer(() -> 0);
        for (Server server : network.servers()) {
            for (String key : keys) {
                if (Arrays.equals(server.data().get(key), FOREIGN)) {
                    server.data().moveTo(bin, key::equals);
                }
            }
        }
    }

    private void unstable(Server server, long next, long until) {
        boolean well = server.isWell();
        server.state(well ? State.LOADING : State.HEALTHY);
        if (world.now() + next < until) {
            world.in(next, world.outside(), () -> unstable(server, next, until));
        }
    }

    /** Lets a server answer again; one that was replaced meanwhile stays a replica. */
    private void restore(Server server) {
        boolean replica = network.slots() == null && !network.masters().contains(server);
        server.state(replica ? State.READ_ONLY : State.HEALTHY);
    }

    private void refuse(Trouble trouble, Server server, State state) {
        server.state(state);
        later(trouble, () -> restore(server));
    }

    /** The server that now plays the part of this one. */
    private Server current(int number) {
        return network.masters().get(number);
    }

    private void failOver(Trouble trouble, Server server) {
        Slots slots = network.slots();
        ScriptServer.Data older = server.data().snapshot();
        // what the master does from here on is lost
        world.in(trouble.byNanos(), world.outside(), () -> {
            Server replica = slots == null ? network.spare() : slots.replica(server);
            if (replica == null
                    || !replica.isUp()
                    || !server.isUp()
                    || !network.masters().contains(server)) {
                return;
            }
            lost();
            replica.data().restore(older);
            replica.state(State.HEALTHY);
            server.kill((trouble.variant() & TOLD) != 0);
            network.replace(server, replica);
            if (slots != null) {
                slots.takeOver(server, replica, unaware(trouble, replica));
            }
            boolean staysAway = (trouble.variant() & AWAY) != 0;
            later(trouble, () -> {
                if (!staysAway) {
                    start(server, false);
                }
                if (slots != null) {
                    slots.inform();
                } else if (!staysAway) {
                    server.state(State.READ_ONLY);
                }
            });
        });
    }

    private List<Server> unaware(Trouble failOver, Server replica) {
        List<Server> unaware = new ArrayList<>();
        int bit = UNAWARE;
        for (Server server : network.servers()) {
            if (server != replica && (failOver.variant() & bit) != 0) {
                unaware.add(server);
            }
            bit <<= 1;
        }
        return unaware;
    }

    private void moveSlot(Trouble trouble) {
        slotsMove = true;
        Slots slots = Objects.requireNonNull(network.slots());
        Server target = current(trouble.server());
        slots.move(key(trouble), target);
        if (clocksDiffer) {
            lost();
        }
        later(trouble, () -> {
            slots.moved();
            if (clocksDiffer) {
                lost();
            }
        });
    }
}
