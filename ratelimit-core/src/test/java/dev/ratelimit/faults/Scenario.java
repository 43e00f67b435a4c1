package dev.ratelimit.faults;

/** What a test does with collaborators of which any may fail, and what must hold afterwards whichever did. */
public interface Scenario {

    /** Uses them; may throw what a collaborator has thrown. */
    void run() throws Throwable;

    /** Asks, while nothing fails any more: is anybody stuck, anything lost, charged twice, or unanswered? */
    void check();
}
