package dev.ratelimit.spring.rules.history;

/**
 * A property of a policy whose value in force is that of an operator.
 *
 * @param policy the name of the policy
 * @param name the property, as in the configuration
 * @param value in force
 * @param at when it was accepted, in microseconds since the epoch
 * @param note what else is known
 */
public record ChangedProperty(String policy, String name, String value, long at, ChangeNote note) {}
