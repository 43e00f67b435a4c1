package dev.ratelimit.queue;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What one thread does for those who wait, without a pause: transitions of the hall, and what follows from them. Knows
 * who has left the hall and is still to be answered; they are linked, so that there is always memory for one more. Not
 * thread-safe.
 */
final class Turn {

    /** Together with their variables, more than a turn takes apart from foreign code. */
    private static final int FRAMES = 80;

    /** Whether the thread may complete any future itself, whatever its dependents do. */
    private final boolean answersAll;

    /** The caller that the thread belongs to, whose future has no dependents yet. */
    private final @Nullable Waiter newcomer;

    private @Nullable Waiter firstLeaver;
    private @Nullable Waiter lastLeaver;

    /** For which lines the thread still has to ask the store. */
    private final Queue<Step> calls = new ArrayDeque<>();

    /** Begins a turn. If there is no memory or no stack for it, that shows before anything has happened. */
    private Turn(boolean answersAll, @Nullable Waiter newcomer) {
        this.answersAll = answersAll;
        this.newcomer = newcomer;
        long ignored = deep(FRAMES, 1, 2, 3, 4);
    }

    private static long deep(int frames, long a, long b, long c, long d) {
        // the variables are used after the call, so that they are on the stack meanwhile
        return frames == 0 ? a : deep(frames - 1, b, c, d, a) + (a ^ b) * (c ^ d);
    }

    /** That of a thread of which nothing is known. */
    static Turn brief() {
        return new Turn(false, null);
    }

    /** That of a newcomer's thread. */
    static Turn of(Waiter newcomer) {
        return new Turn(false, newcomer);
    }

    /** That of a thread of the executor, or of the one that closes the queue. */
    static Turn answering() {
        return new Turn(true, null);
    }

    boolean answers(Waiter waiter) {
        return answersAll || waiter == newcomer;
    }

    void leaves(Waiter waiter) {
        if (lastLeaver == null) {
            firstLeaver = waiter;
        } else {
            lastLeaver.next = waiter;
        }
        lastLeaver = waiter;
    }

    /** Whom to answer next; {@code null} if nobody is left. */
    @Nullable
    Waiter nextLeaver() {
        Waiter waiter = firstLeaver;
        if (waiter != null) {
            firstLeaver = waiter.next;
            lastLeaver = firstLeaver == null ? null : lastLeaver;
            waiter.next = null;
        }
        return waiter;
    }

    void calls(Step call) {
        calls.add(call);
    }

    /** For which line to ask next; {@code null} if there is none. */
    @Nullable
    Step nextCall() {
        return calls.poll();
    }
}
