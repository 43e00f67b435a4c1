package dev.ratelimit.simulator.attack;

import java.util.Random;

/** Kinds of traffic that limits are there for. */
public enum Attack {
    /** Each request comes from an address that was not there before. */
    FLOOD,
    /** One client sends as many requests as it can. */
    GREEDY,
    /** After a third of the time, the application fails, and all clients try again each second. */
    RETRY_STORM,
    /** All clients send their requests at the same moment of each minute. */
    SYNCHRONIZED,
    /** New clients come, more and more of them, until the rate is reached at the end. */
    GROWTH;

    /**
     * How much traffic there is.
     *
     * @param perSecond requests of the attack
     * @param clients normal ones, each of which sends a request every ten seconds on average
     * @param seconds how long it lasts
     * @param seed the same traffic for the same seed
     */
    public record Size(int perSecond, int clients, int seconds, long seed) {

        /** Validates the numbers. */
        public Size {
            if (perSecond < 1 || clients < 1 || seconds < 1) {
                throw new IllegalArgumentException("the rate, the clients and the seconds must be at least 1 but were "
                        + perSecond + ", " + clients + " and " + seconds);
            }
        }
    }

    /** Takes requests. */
    public interface Sink {

        /**
         * Takes a request.
         *
         * @param millis since the beginning, never less than before
         * @param normal whether it is not of the attack
         */
        void request(long millis, String address, boolean normal);
    }

    /** Sends the requests of normal clients and of the attack, in the order of their times. */
    public void send(Size size, Sink to) {
        Random random = new Random(size.seed());
        double normal = size.clients() / 10.0;
        long fresh = 0;
        for (int second = 0; second < size.seconds(); second++) {
            double attack = perSecond(size, second);
            double normalNow = isCollapsed(size, second) ? 0 : normal;
            int count = whole(attack + normalNow, random);
            double[] times = random.doubles(count).sorted().toArray();
            for (double time : times) {
                // synchronized clients do not wait for each other
                long millis = second * 1000L + (this == SYNCHRONIZED ? 0 : (long) (time * 1000));
                boolean isNormal = random.nextDouble() * (attack + normalNow) < normalNow;
                String address = isNormal ? client(random.nextInt(size.clients())) : attacker(size, random, fresh++);
                to.request(millis, address, isNormal);
            }
        }
    }

    private boolean isCollapsed(Size size, int second) {
        return this == RETRY_STORM && second >= size.seconds() / 3;
    }

    /** The requests of the attack in this second. */
    private double perSecond(Size size, int second) {
        return switch (this) {
            case FLOOD, GREEDY -> size.perSecond();
            case RETRY_STORM -> isCollapsed(size, second) ? size.clients() : 0;
            case SYNCHRONIZED -> second % 60 == 0 ? size.clients() : 0;
            case GROWTH -> (double) size.perSecond() * second / size.seconds();
        };
    }

    private String attacker(Size size, Random random, long fresh) {
        return switch (this) {
            case FLOOD -> "172." + (16 + (fresh >> 16) % 16) + "." + (fresh >> 8 & 255) + "." + (fresh & 255);
            case GREEDY -> "192.0.2.1";
            case RETRY_STORM, SYNCHRONIZED -> client(random.nextInt(size.clients()));
            case GROWTH -> "172.16." + ((fresh / 25_600) & 255) + "." + (fresh / 100 & 255);
        };
    }

    private static String client(int index) {
        return "10." + (index >> 16 & 255) + "." + (index >> 8 & 255) + "." + (index & 255);
    }

    private static int whole(double rate, Random random) {
        int floor = (int) rate;
        return floor + (random.nextDouble() < rate - floor ? 1 : 0);
    }
}
