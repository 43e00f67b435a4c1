package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.storm.Step.Ask;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.Step.Question;
import dev.ratelimit.redis.storm.Step.Trouble;
import dev.ratelimit.storm.Shrinkable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * What happens in one run. As text, it has a line for the settings, one for each policy, and one for each step; lines
 * that begin with a number sign are comments.
 *
 * @param reached parts of lines of its timeline, in their order: a history that does not get there any more tests
 *     nothing
 */
record History(Setup setup, List<Step> steps, List<String> reached) implements Shrinkable<Step, History> {

    private static final String COMMENT = "#";

    /** Draws a history. */
    static History draw(long seed) {
        return new Generator(seed).history();
    }

    /** Reads a history. */
    static History of(String text) {
        Fields settings = new Fields();
        List<Terms> policies = new ArrayList<>();
        List<Step> steps = new ArrayList<>();
        List<String> reached = new ArrayList<>();
        List<Fields> all = new ArrayList<>();
        for (String line : text.lines().map(String::strip).toList()) {
            String word = line.split("\\s", 2)[0];
            String rest = line.substring(word.length()).strip();
            if (line.isEmpty() || word.startsWith(COMMENT)) {
                continue;
            } else if (word.equals("reaches")) {
                reached.add(rest);
                continue;
            }
            Fields fields = word.contains("=") ? Fields.of(line) : rest.isEmpty() ? new Fields() : Fields.of(rest);
            all.add(fields);
            switch (word) {
                case "setup" -> settings = fields;
                case "policy" -> policies.add(Terms.of(fields));
                default -> steps.add(Step.of(fields));
            }
        }
        Setup setup = Setup.of(settings, policies);
        all.forEach(Fields::requireAllRead);
        steps.sort(Comparator.comparingLong(Step::atNanos));
        return new History(setup, List.copyOf(steps), List.copyOf(reached));
    }

    @Override
    public History with(List<Step> others) {
        return new History(setup, others, reached);
    }

    /** The same with other delays. */
    History withSeed(long seed) {
        return new History(setup.withSeed(seed), steps, reached);
    }

    /** Whether there is no fault of this kind. */
    boolean none(Predicate<Fault> kind) {
        return steps.stream().noneMatch(step -> step instanceof Trouble trouble && kind.test(trouble.fault()));
    }

    /** Whether there is no fault of this kind. */
    boolean none(Fault fault) {
        return none(other -> other == fault);
    }

    /** Whether nobody asks one of these questions. */
    boolean nobodyAsks(Question... questions) {
        return steps.stream()
                .noneMatch(step ->
                        step instanceof Ask ask && Arrays.asList(questions).contains(ask.question()));
    }

    /** Whether callers return nothing: servers' grants can be checked against the limits. */
    boolean keepsAll() {
        return nobodyAsks(Question.REFUND, Question.REFUND_HALF, Question.RESET);
    }

    @Override
    public String toString() {
        List<String> lines = new ArrayList<>(setup.lines());
        reached.forEach(part -> lines.add("reaches " + part));
        steps.forEach(step -> lines.add(step.fields().toString()));
        return String.join("\n", lines);
    }
}
