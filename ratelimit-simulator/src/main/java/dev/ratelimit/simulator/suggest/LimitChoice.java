package dev.ratelimit.simulator.suggest;

import org.jspecify.annotations.Nullable;

/**
 * A token bucket that fits the demand of keys.
 *
 * @param permits per period
 * @param burst the capacity
 * @param touched how many keys it refuses at least once, in the traffic that it was chosen by
 * @param highestUntouched the burst that the most demanding of the other keys takes
 * @param lowestTouched the burst that the least demanding of the touched keys takes; infinite if there are none
 */
record LimitChoice(long permits, long burst, int touched, double highestUntouched, double lowestTouched) {

    /** How much more than they were seen to need the other keys get, if the touched ones are far enough away. */
    private static final double ROOM = 2;

    /** A gap like this separates other clients, not busier ones of the same kind. */
    private static final double GAP = 1.5;

    /**
     * Chooses the lowest rate at which a burst of one period is enough for the keys that must not be touched.
     *
     * @param allowed how many keys may be touched
     * @return {@code null} if there is no demand
     */
    static @Nullable LimitChoice of(PolicyDemand demand, int allowed) {
        LimitChoice last = null;
        for (int i = 0; i < demand.rates().length; i++) {
            LimitChoice choice = at(demand.rates()[i], demand.bursts(i), allowed);
            last = choice == null ? last : choice;
            if (choice != null && choice.burst <= choice.permits) {
                return choice;
            }
        }
        return last;
    }

    private static @Nullable LimitChoice at(long rate, double[] bursts, int allowed) {
        int keys = bursts.length;
        if (keys == 0) {
            return null;
        }
        int touched = touched(bursts, Math.min(allowed, keys - 1));
        double highest = Math.max(1, bursts[keys - 1 - touched]);
        double lowest = touched == 0 ? Double.POSITIVE_INFINITY : bursts[keys - touched];
        // between the two, nearer to those who must not be touched
        double room = Math.min(ROOM, Math.sqrt(lowest / highest));
        long burst = NiceNumber.atLeast(highest * room);
        if (burst >= lowest) {
            burst = (long) Math.max(Math.ceil(highest), Math.floor(highest * room));
        }
        return new LimitChoice(rate, Math.max(1, burst), touched, highest, lowest);
    }

    /**
     * How many of the most demanding keys are touched: where the gap to the next is widest; without a gap, half as many as
     * may be, because other traffic will differ.
     */
    private static int touched(double[] bursts, int allowed) {
        int keys = bursts.length;
        int best = allowed / 2;
        double widest = GAP;
        for (int count = 1; count <= allowed; count++) {
            double gap = bursts[keys - count] / bursts[keys - 1 - count];
            if (gap > widest) {
                widest = gap;
                best = count;
            }
        }
        // equal demands cannot be told apart
        while (best > 0 && bursts[keys - best] == bursts[keys - 1 - best]) {
            best--;
        }
        return best;
    }
}
