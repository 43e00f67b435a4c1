package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.text.UrlEncoding;

/**
 * A property of a policy whose value in force is that of an operator.
 *
 * @param policy the name of the policy
 * @param name the property; the name of a plan is encoded
 * @param value in force
 * @param at when it was accepted, in microseconds since the epoch
 * @param note what else is known
 */
public record ChangedProperty(String policy, String name, String value, long at, ChangeNote note) {

    /** The property, for people: the name of a plan as it is in the configuration. */
    String shown() {
        return UrlEncoding.decoded(name);
    }
}
