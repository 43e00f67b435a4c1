package dev.ratelimit.simulator.report;

import java.util.ArrayList;
import java.util.List;

/** How many keys asked for how much, in intervals that double. Immutable. */
record DemandHistogram(List<Long> upTo, List<Long> keys) {

    /** Counts the demands of keys, which are ascending. */
    static DemandHistogram of(long[] demands) {
        List<Long> upTo = new ArrayList<>();
        List<Long> keys = new ArrayList<>();
        long bound = 1;
        int at = 0;
        while (at < demands.length) {
            long count = 0;
            while (at < demands.length && demands[at] <= bound) {
                count++;
                at++;
            }
            upTo.add(bound);
            keys.add(count);
            bound *= 2;
        }
        return new DemandHistogram(upTo, keys);
    }
}
