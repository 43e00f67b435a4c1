package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.storm.Step.Ask;
import dev.ratelimit.redis.storm.Step.Question;
import dev.ratelimit.redis.storm.Step.Want;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Draws the calls of a history: how much callers want and how they pause differs from history to history. */
final class Calls {

    private static final int MAX_PERMITS = 11;
    private static final double MAX_PAUSE_NANOS = 3e9;

    /** One in so many calls charges a budget twice. */
    private static final int TWICE = 16;

    private final Random random;
    /** How many calls there are at once at most, usually and now and then: a command takes fewer. */
    private static final int SMALL = 20;

    private static final int LARGE = 80;

    private final Setup setup;

    /** One in so many calls wants more than a permit. */
    private final int greed;

    /** Whether callers stay away now and then, for longer than a lease or an answer is kept. */
    private final boolean pauses;

    /** Whether some callers wait for permits of the first policy. */
    private final boolean waits;

    /** Whether callers reset keys. */
    private final boolean resets;

    /** Whether callers return what they got; if not, servers' grants can be checked against the limits. */
    private final boolean refunds;

    Calls(Random random, Setup setup) {
        this.random = random;
        this.setup = setup;
        this.greed = setup.leased() ? 1 : List.of(12, 12, 12, 2).get(random.nextInt(4));
        this.pauses = random.nextInt(4) == 0;
        this.waits = setup.policies().get(0).waitNanos() > 0;
        this.resets = random.nextBoolean();
        this.refunds = random.nextBoolean();
    }

    /** Adds them to the steps. */
    void draw(List<Step> steps) {
        int count = setup.leased() ? 100 + random.nextInt(300) : 20 + random.nextInt(150);
        long at = 0;
        int id = 0;
        while (id < count && at < Generator.CALLS_NANOS) {
            // a burst, or one call after the other
            int together = random.nextInt(4) == 0 ? 1 + random.nextInt(random.nextInt(5) == 0 ? LARGE : SMALL) : 1;
            int hot = setup.leased() || random.nextInt(2) == 0 ? 0 : random.nextInt(setup.keys());
            int instance = random.nextInt(setup.instances());
            for (int i = 0; i < together; i++) {
                int other = random.nextInt(3) == 0 ? random.nextInt(setup.instances()) : instance;
                steps.add(call(id, at, other, hot));
                id++;
            }
            at += pauses && random.nextInt(15) == 0
                    ? (long) (random.nextDouble() * MAX_PAUSE_NANOS)
                    : (long) Math.pow(10, 5.5 + (setup.leased() ? 3.2 : 4) * random.nextDouble());
        }
    }

    private Ask call(int id, long at, int instance, int hot) {
        Question question = question(random.nextInt(20));
        long micros = at / 1000 * 1000;
        if (question.refers()) {
            return new Ask(id, micros, instance, question, List.of(), Math.max(0, id - 1 - random.nextInt(8)));
        } else if (question == Question.RESET) {
            Want reset = new Want(random.nextInt(setup.policies().size()), hot, 1);
            return new Ask(id, micros, instance, question, List.of(reset), Ask.NONE);
        }
        List<Want> wants = new ArrayList<>();
        int policies = question == Question.ACQUIRE && random.nextInt(3) > 0
                ? 1
                : 1 + random.nextInt(setup.policies().size());
        for (int policy = 0; policy < policies; policy++) {
            int key = policy == 0 || random.nextBoolean() ? hot : random.nextInt(setup.keys());
            wants.add(new Want(policy, key, random.nextInt(greed) == 0 ? random.nextInt(MAX_PERMITS + 1) : 1));
        }
        Want again = wants.get(random.nextInt(wants.size()));
        if (again.permits() < MAX_PERMITS && random.nextInt(TWICE) == 0) {
            wants.add(new Want(again.policy(), again.key(), 1));
        }
        return new Ask(id, micros, instance, question, List.copyOf(wants), Ask.NONE);
    }

    private Question question(int kind) {
        if (waits && kind < 5) {
            return Question.ACQUIRE;
        } else if (kind < 13 || (kind >= 15 && kind < 18 && !refunds) || (kind == 18 && !resets)) {
            return Question.DECIDE;
        } else if (kind < 15) {
            return Question.PEEK;
        } else if (kind < 18) {
            return kind == 17 ? Question.REFUND_HALF : Question.REFUND;
        }
        return kind == 18 ? Question.RESET : Question.INTERRUPT;
    }
}
