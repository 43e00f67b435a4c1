package dev.ratelimit.spring.web;

/** Counts what becomes of requests. Called by many threads at once. */
@FunctionalInterface
public interface Outcomes {

    /** Counts a request once under this policy. */
    void count(String policy, Outcome outcome);
}
