package dev.ratelimit.simulator;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/**
 * What limits do to recorded traffic. Immutable.
 *
 * @param requests how many requests were replayed
 * @param refused how many of them were refused
 * @param malformed how many lines could not be read
 * @param policies by name, in the order in which requests are charged; without those that are off or left out
 * @param leftOut the policies that were left out, and what the log lacks to decide them
 * @param notes what to know about the result
 */
public record SimulationResult(
        long requests,
        long refused,
        long malformed,
        Map<String, PolicyResult> policies,
        Map<String, List<String>> leftOut,
        List<String> notes) {

    /** Copies the collections. */
    public SimulationResult {
        policies = Collections.unmodifiableMap(new LinkedHashMap<>(policies));
        leftOut = Collections.unmodifiableMap(new LinkedHashMap<>(leftOut));
        notes = List.copyOf(notes);
    }

    /**
     * What one policy does.
     *
     * @param admitted how many requests it admitted that no other policy refused
     * @param refused how many it refused or, in shadow mode, would have refused
     * @param keys how many keys asked for its permits
     * @param refusedKeys the keys that it refused, most often first, at most 1,000
     */
    public record PolicyResult(long admitted, long refused, long keys, List<String> refusedKeys) {

        /** Copies the list. */
        public PolicyResult {
            refusedKeys = List.copyOf(refusedKeys);
        }
    }

    /** {@return how many requests were admitted} */
    public long admitted() {
        return requests - refused;
    }

    /**
     * {@return what this policy does}
     *
     * @param name of the policy
     * @throws NoSuchElementException if it is not in {@link #policies()}; the message says why
     */
    public PolicyResult policy(String name) {
        PolicyResult policy = policies.get(name);
        if (policy == null) {
            List<String> lack = leftOut.get(name);
            throw new NoSuchElementException(
                    lack == null
                            ? "there is no policy '" + name + "' in force; there are " + policies.keySet()
                            : "policy '" + name + "' was left out, because the log lacks " + String.join(", ", lack));
        }
        return policy;
    }
}
